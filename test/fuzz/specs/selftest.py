#!/usr/bin/env python3
"""Tests of what draws specs and judges them."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import unittest
from unittest import mock

import numpy as np

import fuzz_specs
from arrays import ArrayGenerator
from builder import Builder
from generate import LAYOUTS, SMALL, Case, generate, with_schedules
from gradients import names_of
from reduction import reduce
from reference import multiply_by_tensor_cores, run_kernel, run_spec
from regions import make_grid
from runner import BASELINES, GPU_BASELINES, Runner, is_as_plain
from scalars import Precision, cut_to_tf32, multiply_add, multiply_to_tf32, round_to, round_to_tf32
from spec import parse


GRADIENTS = 40  # cases whose gradients are held against differences


class DrawingTest(unittest.TestCase):
    def test_scalars_stay_scalars(self) -> None:
        for type_name in ("f16", "bf16", "f32", "f64"):
            self.assertEqual(np.shape(round_to(np.float64(1e-3), type_name)), ())
            self.assertAlmostEqual(float(round_to(np.float64(1e-3), type_name)), 1e-3, 5)

    def test_constants_of_all_types(self) -> None:
        case = generate(1, 0, SMALL)
        grid = make_grid(case.spec, case.spec.kernels[0], case.inputs)
        builder = Builder(mock.Mock(random=lambda: 0.9, getrandbits=lambda _: 1), case.spec, case.spec.kernels[0], grid, case.inputs, None, [])
        for type_name in ("f16", "bf16", "f32", "f64", "i1", "i8", "i64", "index"):
            self.assertEqual(builder.types[builder.constant(-1, type_name)], type_name)
        # The lowest bits count, as in the text.
        self.assertFalse(builder.value(builder.constant(2, "i1")).any())

    def test_doubles_are_drawn(self) -> None:
        texts = [generate(5, number, SMALL).spec.text() for number in range(300)]
        for operation in ("extf", "truncf"):
            self.assertTrue(any(f"arith.{operation}" in line and "f64" in line for text in texts for line in text.splitlines()), operation)

    def test_tf32_is_drawn_where_products_round(self) -> None:
        for backward in (False, True):
            specs = [generate(5, number, SMALL, backward).spec for number in range(60)]
            asked = [spec for spec in specs if spec.tf32]
            self.assertTrue(asked and len(asked) < len(specs) / 2)
            for spec in asked:
                self.assertTrue(any(spec.rounds_to_tf32(kernel) for kernel in spec.kernels))
                self.assertEqual(parse(spec.text()), spec)
                self.assertIn("attn.tf32", spec.text())

    def test_layouts_are_drawn_and_taken_away(self) -> None:
        cases = [generate(5, number, SMALL) for number in range(30)]
        self.assertEqual({case.layout for case in cases}, set(LAYOUTS))
        odd = next(case for case in cases if case.layout == "odd")
        self.assertEqual(reduce(odd, lambda _: True, 5).layout, "row-major")
        self.assertEqual(reduce(odd, lambda other: other.layout == "odd", 5).layout, "odd")

    def test_arrays_are_the_same_everywhere(self) -> None:
        arrays = ArrayGenerator(7)
        self.assertEqual(arrays.integers(-3, 5, [4]).tolist(), [3, 5, -1, 3])
        self.assertEqual(arrays.integers(-(1 << 63), (1 << 63) - 1, [2]).tolist(), [-3686281399541214907, 6890844805077280564])
        self.assertEqual([value.hex() for value in arrays.normal([3])], ["-0x1.b70dcdd3f901cp-1", "0x1.86a6b1cf1e615p-1", "-0x1.905c26bcf2c41p-1"])
        self.assertEqual(arrays.uniform([]).shape, ())


class ScalarTest(unittest.TestCase):
    def test_products_and_sums_are_rounded_once(self) -> None:
        halfway = np.float32(-1e30), np.float32(1.5)
        above, below = multiply_add(*halfway, np.array([1.0, -1.0]), "f32").astype(np.float64)
        self.assertEqual(above - below, 2.0**77)
        self.assertEqual(multiply_add(3.0, 4.0, 5.0, "f32"), 17)
        with np.errstate(all="ignore"):
            self.assertTrue(np.isinf(multiply_add(1e38, 10.0, 1.0, "f32")))
            self.assertTrue(np.isnan(multiply_add(np.inf, 0.0, 1.0, "f32")))

    def test_tf32_has_eleven_bits(self) -> None:
        given = np.array([1 + 2.0**-10, 1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11 - 2.0**-20, 3e38, np.inf, np.nan], dtype=np.float32)
        rounded = round_to_tf32(given)
        self.assertEqual(rounded[:4].tolist(), [1 + 2.0**-10, 1, 1 + 2.0**-9, -1 - 2.0**-10])
        self.assertLess(abs(rounded[4] / given[4] - 1), 2.0**-11)
        self.assertTrue(np.isposinf(rounded[5]) and np.isnan(rounded[6]))
        cut = cut_to_tf32(given)
        self.assertEqual(cut[:4].tolist(), [1 + 2.0**-10, 1, 1 + 2.0**-10, -1])
        self.assertTrue(np.isposinf(cut[5]) and np.isnan(cut[6]))
        # Eleven bits stay what they are, and others are off by less than 0.7 units.
        multiplied = multiply_to_tf32(given)
        self.assertEqual(multiplied[0], given[0])
        self.assertTrue(np.isposinf(multiplied[5]) and np.isnan(multiplied[6]))
        numbers = np.linspace(1, 2, 4097, dtype=np.float32)[:-1]
        self.assertLess(np.abs(multiply_to_tf32(numbers) - numbers).max(), 0.7 * 2.0**-10)

    def test_baselines_of_tf32_round_what_they_multiply(self) -> None:
        case = next(case for case in (generate(5, number, SMALL) for number in range(200)) if case.spec.tf32)
        plain = case.spec.copy()
        plain.tf32 = False
        for variant in (*BASELINES, *GPU_BASELINES):
            rounded, exact = (run_spec(spec, case.inputs, Precision.BASELINE, variant) for spec in (case.spec, plain))
            errors = [max(np.abs(results[name][there] - want[there]).max(initial=0)
                          for name, want in case.expected.items() for there in [np.isfinite(want)]) for results in (rounded, exact)]
            self.assertGreater(errors[0], 10 * errors[1])

    def test_gpus_are_judged_by_their_rounding_as_well(self) -> None:
        case = next(case for case in (generate(5, number, SMALL) for number in range(200)) if case.spec.tf32)
        own = run_spec(case.spec, case.inputs, Precision.BASELINE, GPU_BASELINES[1])
        with np.errstate(invalid="ignore"):
            further = {name: np.where(np.isfinite(want), want + 8 * (own[name] - want) + 1e-2, want) for name, want in case.expected.items()}
        for results, is_right in ((own, True), (further, False)):
            self.assertEqual(is_as_plain(case, {"got/" + name: value for name, value in results.items()}, "nvptx:sm_90a"), is_right)


class TensorCoreTest(unittest.TestCase):
    def test_sums_are_cut_off(self) -> None:
        left = np.ones((1, 16), dtype=np.float32)
        right = np.full((16, 1), 1.75 * 2.0**-13, dtype=np.float32)
        right[0] = 2.0**12
        # Fifteen of a unit each, of which the last bit of 2^12 takes four; a bit less, and nothing is left of them.
        self.assertEqual(multiply_by_tensor_cores(left, right, 1)[0, 0], 2.0**12 + 3 * 2.0**-11)
        self.assertEqual(multiply_by_tensor_cores(left, right, 0)[0, 0], 2.0**12)
        self.assertEqual(multiply_by_tensor_cores(-left, right, 1)[0, 0], -(2.0**12) - 3 * 2.0**-11)
        right[3] = np.inf
        self.assertTrue(np.isposinf(multiply_by_tensor_cores(left, right, 1)[0, 0]))

    def test_exact_sums_stay_exact(self) -> None:
        numbers = np.arange(1, 41, dtype=np.float32).reshape(1, 40)
        for generation in (0, 1):
            self.assertEqual(multiply_by_tensor_cores(numbers, numbers.T, generation)[0, 0], float((numbers * numbers).sum()))


class ScheduleTest(unittest.TestCase):
    def test_schedules_are_read_as_they_were_written(self) -> None:
        count = 0
        for target in ("cpu", "sim:sm_90a", "nvptx:sm_80"):
            for number in range(20):
                case = with_schedules(generate(3, number, SMALL), 3, target, 1)
                self.assertEqual(parse(case.spec.text()).text(), case.spec.text())
                count += sum(len(kernel.schedules) for kernel in case.spec.kernels)
        self.assertGreater(count, 60)

    def test_a_schedule_leaves_the_rest_of_the_spec_alone(self) -> None:
        case = generate(3, 1, SMALL)
        text = case.spec.text()
        self.assertIn("schedule(#attn.schedule<", with_schedules(case, 3, "cpu", 1).spec.text())
        self.assertEqual(case.spec.text(), text)
        self.assertEqual(with_schedules(case, 3, "cpu", 0).spec.text(), text)
        self.assertEqual(with_schedules(case, 3, "reference", 1).spec.text(), text)
        self.assertEqual(with_schedules(case, 3, "sim:sm_80", 1).spec.text(), with_schedules(case, 3, "nvptx:sm_80", 1).spec.text())

    def test_the_reducer_takes_schedules_away(self) -> None:
        case = with_schedules(generate(3, 1, SMALL), 3, "sim:sm_90a", 1)
        self.assertFalse(any(kernel.schedules for kernel in reduce(case, lambda _: True, 20).spec.kernels))
        plain = reduce(case, lambda other: any(kernel.schedules for kernel in other.spec.kernels), 20)
        schedules = [schedule for kernel in plain.spec.kernels for schedule in kernel.schedules]
        self.assertEqual(len(schedules), 1)
        self.assertEqual(list(schedules[0].plainer()), [])


def directional(case: Case, arrays: ArrayGenerator) -> tuple[list[float], float]:
    """How the results of a case, weighted by gradients that are given, change in a random direction of what has
    gradients: by central differences of several step sizes, and by the gradients that numpy computes."""
    saved = {name: np.nan_to_num(value) for name, (_, value) in case.saved.items()}
    tensors = list(dict.fromkeys(name for names in names_of(case.spec) for name in names.tensors))
    directions = {name: arrays.normal(list(case.inputs[name].shape)) for name in tensors}

    def loss(step: float) -> float:
        moved = case.inputs | {name: case.inputs[name] + step * directions[name] for name in tensors}
        total = 0.0
        for kernel, names in zip(case.spec.kernels, names_of(case.spec)):
            results = run_kernel(case.spec, dataclasses.replace(kernel, results=["out", "lse"]), moved, Precision.EXACT)
            total += float((results["out"] * saved[names.d_out]).sum())
            if names.d_lse:
                weighted = np.isfinite(results["lse"])
                total += float((results["lse"][weighted] * saved[names.d_lse][weighted]).sum())
        return total

    slopes = [(loss(step) - loss(-step)) / (2 * step) for step in (1e-4, 1e-5, 1e-6)]
    gradients = [name for names in names_of(case.spec) for name in names.results]
    of = [name for names in names_of(case.spec) for name in names.tensors]
    total = sum(float(np.nansum(case.expected[gradient] * directions[name])) for gradient, name in zip(gradients, of))
    return slopes, total


class GradientTest(unittest.TestCase):
    def test_gradients_are_those_of_differences(self) -> None:
        arrays, compared = ArrayGenerator(3), 0
        for number in range(GRADIENTS):
            case = generate(9, number, SMALL, backward=True)
            if not case.saved:
                continue
            slopes, total = directional(case, arrays)
            # Large scores swallow small steps; slopes that jump nearby show in some of the step sizes.
            unit = 1e-5 * max(1.0, abs(total))
            if max(slopes) - min(slopes) > unit:
                continue
            compared += 1
            self.assertLess(min(abs(slope - total) for slope in slopes), unit, f"number {number}: {slopes} {total}\n{case.spec.text()}")
        self.assertGreater(compared, GRADIENTS // 2)


class FaultTest(unittest.TestCase):
    def test_a_fault_of_the_generator_is_one_of_its_number(self) -> None:
        options = argparse.Namespace(seed=1, small=True, schedules=0.5, pages=0.12, backward=False)
        runner = mock.Mock()
        with mock.patch.object(fuzz_specs, "generate", side_effect=TypeError("no such thing")):
            verdict = fuzz_specs.judge_next(options, 5, "cpu", runner, {})
        self.assertTrue(verdict.fault)
        self.assertEqual(verdict.kind, "generator")
        self.assertIn("no such thing", verdict.reason)
        self.assertIn("of fuzz_specs.py", verdict.reason)
        runner.run.assert_not_called()

    def test_what_the_simulator_finds_is_no_refusal(self) -> None:
        said = "spec:9:14: error: 'tile.program' deadlock: producer of block 0 waits for an empty buffer of ring 2"
        answer = '{"stage": "run", "error": "%s", "seconds": {}}' % said
        runner = Runner(pathlib.Path("none"), "sim:sm_90a", 1, 1)
        with mock.patch.object(Runner, "ask", return_value=(answer, "")):
            self.assertEqual(runner.run(generate(1, 0, SMALL)).kind, "deadlock")
        runner.close()

    def test_what_a_sanitizer_finds_is_said(self) -> None:
        error = "cannot launch entry 'f_tile_entry': CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)"
        runner = Runner(pathlib.Path("none"), "nvptx:sm_80", 1, 1, sanitizer="memcheck")
        self.assertEqual(runner.command[:3], ["compute-sanitizer", "--tool", "memcheck"])
        said = ("COMPUTE-SANITIZER", "Invalid __global__ read of size 16 bytes", "    at f_tile_entry+0xbeb0", "    by thread (64,0,0)")
        runner.found.write_text("".join(f"========= {line}\n" for line in said), encoding="utf-8")
        answer = json.dumps({"stage": "run", "error": error, "seconds": {}})
        with mock.patch.object(Runner, "ask", return_value=(answer, "")):
            verdict = runner.run(generate(1, 0, SMALL))
        self.assertTrue(verdict.fault)
        self.assertIn("; Invalid __global__ read of size 16 bytes; at f_tile_entry+0xbeb0", verdict.reason)
        runner.close()

    def test_a_fault_of_the_judge_is_one_of_its_number(self) -> None:
        options = argparse.Namespace(seed=1, small=True, schedules=0.5, pages=0.12, backward=False)
        runner = mock.Mock()
        runner.run.side_effect = ValueError("odd shapes")
        verdict = fuzz_specs.judge_next(options, 5, "cpu", runner, {})
        self.assertEqual(verdict.kind, "tester")
        runner.stop.assert_called()


if __name__ == "__main__":
    unittest.main()
