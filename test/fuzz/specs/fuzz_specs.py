#!/usr/bin/env python3
"""Random specs: every operation that a region may hold, on every target, judged by the reference and by numpy.

Draws well-typed score and mask regions, clauses, shapes, dtypes and inputs; runs each spec on each target; judges the
results against the fp64 reference by the rule of docs/spec.md ("When is an answer right"), and the reference against a
reading of the rules in numpy. A spec that is refused with its line and a reason is counted by that reason. A fault is
made small and printed, with the command that repeats it; it is saved with its inputs.

  fuzz_specs.py --count 300                                    on the CPU
  fuzz_specs.py --count 5000 --target nvptx:sm_90a nvptx:sm_80 on a GPU
  fuzz_specs.py --compile-only --target nvptx:sm_90a           for a GPU that is not here
  fuzz_specs.py --backward --target cpu sim:sm_80              their gradients
  fuzz_specs.py --target nvptx:sm_80 --sanitize memcheck       what kernels read and write outside of tensors
  fuzz_specs.py --seed 7 --only 1234 --target cpu              one of them again
  fuzz_specs.py --spec spec.mlir --inputs inputs.safetensors   one that was saved, or edited
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import collections
import dataclasses
import multiprocessing
import pathlib
import queue
import resource
import shlex
import sys
import time
import traceback

import spec as specs
import tensors
from generate import LARGE, LAYOUTS, PAGES, SMALL, Case, generate, with_schedules
from reduction import reduce
from reference import run_spec
from runner import Runner, Verdict, write_case

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "../../.."
SCHEDULES = 0.5
BINARY = "attnc-conformance-tests"
# Beside this file in a build tree and in an installation.
PLACES = (
    HERE / "../../../../libexec/attnc" / BINARY,
    HERE / "../../../build/release/test/unit/conformance" / BINARY,
)


@dataclasses.dataclass
class Outcome:
    """What a worker has to say of one spec on one target."""

    number: int
    target: str
    verdict: Verdict
    seconds: float

    def line(self) -> str:
        return f"FAIL {self.number} on {self.target}: {self.verdict.kind}: {self.verdict.reason}"[:300]

    def fault_class(self) -> tuple[str, str, str]:
        return self.target, self.verdict.kind, self.verdict.words() if self.verdict.kind in ("message", "crash") else ""


def draw(options: argparse.Namespace, number: int, target: str) -> Case:
    small = options.small or target.startswith("sim")
    return schedule(options, generate(options.seed, number, SMALL if small else LARGE, options.backward, options.pages), target)


def schedule(options: argparse.Namespace, case: Case, target: str) -> Case:
    """The case as `target` gets it: a schedule suits one kind of machine."""
    return with_schedules(case, options.seed, target, options.schedules)


def make_runner(options: argparse.Namespace, target: str, worker: int) -> Runner:
    cores = sorted(os.sched_getaffinity(0))
    pair = {cores[worker % len(cores)], cores[(worker + 1) % len(cores)]}
    repeats = 0 if options.compile_only else 1 if target.startswith("sim") else options.repeat
    return Runner(options.binary, target, repeats, options.timeout, pair, options.backward, options.sanitize)


def place_of(error: Exception) -> str:
    """What went wrong in this program, and where."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if pathlib.Path(frame.filename).parent == HERE]
    return f"{error!r} in {frames[-1].name}, line {frames[-1].lineno} of {pathlib.Path(frames[-1].filename).name}"


def judge_next(options: argparse.Namespace, number: int, target: str, runner: Runner, cases: dict[bool, Case | Exception]) -> Verdict:
    """Draws spec `number`, if that was not done for another target, and judges it. A fault of this program is one of this
    number alone."""
    small = options.small or target.startswith("sim")
    start = time.monotonic()
    if small not in cases:
        try:
            cases[small] = generate(options.seed, number, SMALL if small else LARGE, options.backward, options.pages)
        except Exception as error:  # pylint: disable=broad-except
            cases[small] = error
    case, drawn = cases[small], time.monotonic() - start
    if isinstance(case, Exception):
        return Verdict("generator", place_of(case))
    try:
        verdict = runner.run(schedule(options, case, target))
        verdict.seconds["draw"] = drawn
        return verdict
    except Exception as error:  # pylint: disable=broad-except
        runner.stop()
        return Verdict("tester", place_of(error))


def judge_many(options: argparse.Namespace, worker: int, next_number, results, stop) -> None:
    """A worker: takes numbers until there are no more."""
    runners = {target: make_runner(options, target, worker) for target in options.target}
    try:
        while not stop.is_set():
            with next_number.get_lock():
                number = next_number.value
                next_number.value += 1
            if number >= options.first + options.count:
                return
            cases: dict[bool, Case | Exception] = {}
            for target in options.target:
                start = time.monotonic()
                verdict = judge_next(options, number, target, runners[target], cases)
                results.put(Outcome(number, target, verdict, time.monotonic() - start))
    finally:
        for runner in runners.values():
            runner.close()
        results.put(None)


def describe(case: Case) -> list[str]:
    """Shapes of tensors, and values where they are few."""
    lines = [f"//   {case.layout}"]
    for name, value in case.inputs.items():
        text = f"{value.reshape(-1).tolist()}" if value.size <= 6 else ""
        lines.append(f"//   {name}: {list(value.shape)} {text}".rstrip())
    return lines


def shrink(options: argparse.Namespace, outcome: Outcome, results) -> None:
    """Makes one fault small and saves it."""
    target = outcome.target
    case = draw(options, outcome.number, target)
    runner = make_runner(options, target, outcome.number)
    try:
        small = reduce(case, lambda other: runner.run(other).same_fault(outcome.verdict), options.reduction_time)
        verdict = runner.run(small)
        if not verdict.fault:
            # It does not show each time.
            small, verdict = case, outcome.verdict
    finally:
        runner.close()
    folder = options.save / f"{options.seed}-{outcome.number}-{target.replace(':', '-')}"
    spec, inputs = write_case(folder, small)
    tool = "tools/dev fuzz-specs" if (ROOT / "CMakeLists.txt").is_file() else "run.sh fuzz-specs"
    tool += " --backward" if options.backward else ""
    again = f"{tool} --seed {options.seed} --only {outcome.number} --target {target}"
    tool += "" if options.pages == PAGES else f" --pages {options.pages:g}"
    share = "" if options.schedules == SCHEDULES else f" --schedules {options.schedules:g}"
    text = [
        f"\n--- {outcome.number} on {target}: {verdict.kind}: {verdict.reason}"[:400],
        small.spec.text().rstrip(), *describe(small),
        f"// whole:   {again}{share}{' --small' if options.small else ''}",
        f"// reduced: {tool} --target {target} --spec {shlex.quote(str(spec))} --inputs {shlex.quote(str(inputs))} --layout {small.layout}",
    ]
    (folder / "fault.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    results.put("\n".join(text))


def cpu_seconds() -> float:
    """Of this program and of all that it ran and waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Report:
    """Counts outcomes, and says what went wrong."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.kinds: dict[str, collections.Counter[str]] = {target: collections.Counter() for target in options.target}
        self.refusals: collections.Counter[str] = collections.Counter()
        self.examples: dict[str, int] = {}
        self.failures: list[Outcome] = []
        self.slowest: list[tuple[float, int, str]] = []
        self.seconds: collections.Counter[str] = collections.Counter()
        self.others = 0  # right by other baselines than the reference's
        self.start = time.monotonic()
        self.said = self.start

    def add(self, outcome: Outcome) -> None:
        self.kinds.setdefault(outcome.target, collections.Counter())[outcome.verdict.kind] += 1
        self.seconds.update(outcome.verdict.seconds)
        self.slowest = sorted([*self.slowest, (outcome.seconds, outcome.number, outcome.target)])[-4:]
        self.others += outcome.verdict.kind == "right" and bool(outcome.verdict.reason)
        if outcome.verdict.kind == "refused":
            self.refusals[outcome.verdict.words()] += 1
            self.examples.setdefault(outcome.verdict.words(), outcome.number)
        elif outcome.verdict.fault:
            self.failures.append(outcome)
            print(outcome.line(), flush=True)

    def progress(self) -> None:
        if time.monotonic() - self.said > 20:
            self.said = time.monotonic()
            done = sum(sum(kinds.values()) for kinds in self.kinds.values())
            total = self.options.count * len(self.options.target)
            print(f"{done}/{total} done, {len(self.failures)} failed, {self.said - self.start:.0f} s", flush=True)

    def chosen(self) -> list[Outcome]:
        """Failures to reduce: first one of each class, then others."""
        seen: collections.Counter[tuple[str, str, str]] = collections.Counter()
        ranked = []
        for failure in self.failures:
            if failure.verdict.kind not in ("generator", "tester", "worker"):
                ranked.append((seen[failure.fault_class()], failure))
                seen[failure.fault_class()] += 1
        ranked.sort(key=lambda one: one[0])
        return [failure for rank, failure in ranked if rank < 3][: self.options.reductions]

    def summarize(self) -> int:
        if self.refusals:
            print("\nRefused, by reason:")
        for reason, count in self.refusals.most_common():
            print(f"  {count:5}  {reason[:200]}  (as {self.examples[reason]})")
        print("\nThe slowest: " + ", ".join(f"{number} on {target} {took:.1f} s" for took, number, target in self.slowest[::-1]))
        failed = 0
        for target, kinds in self.kinds.items():
            wrong = {kind: count for kind, count in kinds.items() if kind not in ("right", "refused")}
            failed += sum(wrong.values())
            detail = f" ({', '.join(f'{count} {kind}' for kind, count in sorted(wrong.items()))})" if wrong else ""
            print(f"{target}: {kinds['right']} right, {kinds['refused']} refused, {sum(wrong.values())} failed{detail}")
        passed = sum(kinds["right"] + kinds["refused"] for kinds in self.kinds.values())
        if self.others:
            print(f"{self.others} of those right are so by other baselines than the one of the reference")
        done = max(1, sum(sum(kinds.values()) for kinds in self.kinds.values()))
        took = ", ".join(f"{stage} {seconds / done:.3f}" for stage, seconds in self.seconds.most_common())
        print(f"{done / (time.monotonic() - self.start):.1f} specs a second, {cpu_seconds() / done:.2f} s of a core each; waited for, in s a spec: {took}")
        print(f"seed {self.options.seed}, {time.monotonic() - self.start:.0f} s, {self.options.jobs} processes")
        print(f"{passed} passed, {failed} failed")
        return 1 if failed or not passed else 0


def fuzz(options: argparse.Namespace) -> int:
    context = multiprocessing.get_context("fork")
    next_number, results, stop = context.Value("q", options.first), context.Queue(), context.Event()
    workers = [context.Process(target=judge_many, args=(options, worker, next_number, results, stop)) for worker in range(options.jobs)]
    for worker in workers:
        worker.start()
    report, running = Report(options), len(workers)
    while running:
        try:
            outcome = results.get(timeout=5)
        except queue.Empty:
            outcome = False
            if not any(worker.is_alive() for worker in workers):
                break
        if outcome is None:
            running -= 1
        elif outcome:
            report.add(outcome)
        if options.time_budget and time.monotonic() - report.start > options.time_budget and not stop.is_set():
            print(f"the {options.time_budget:g} s are over")
            stop.set()
        if options.max_failures and len(report.failures) >= options.max_failures:
            stop.set()
        report.progress()
    for number, worker in enumerate(workers):
        worker.join()
        if worker.exitcode:
            report.add(Outcome(-1, f"worker {number}", Verdict("worker", f"exit status {worker.exitcode}"), 0))
    chosen = [] if options.no_reduce else report.chosen()
    reducers = []
    while chosen or reducers:
        reducers = [process for process in reducers if process.is_alive()]
        while chosen and len(reducers) < options.jobs:
            reducers.append(context.Process(target=shrink, args=(options, chosen.pop(0), results)))
            reducers[-1].start()
        try:
            print(results.get(timeout=1), flush=True)
        except queue.Empty:
            pass
    while True:
        try:
            print(results.get(timeout=0.2), flush=True)
        except queue.Empty:
            break
    return report.summarize()


def judge_one(options: argparse.Namespace) -> int:
    """A spec from a file, on all targets."""
    text = pathlib.Path(options.spec).read_text(encoding="utf-8")
    case = Case(0, specs.parse(text), tensors.read(pathlib.Path(options.inputs)), {}, options.layout, options.backward)
    if options.backward:
        case.compute_gradients()
    else:
        case.expected = run_spec(case.spec, case.inputs)
    wrong = False
    for target in options.target:
        runner = make_runner(options, target, 0)
        verdict = runner.run(case)
        runner.close()
        print(f"{target}: {verdict.kind}{': ' + verdict.reason if verdict.reason else ''}\n{verdict.output}".rstrip())
        wrong |= verdict.fault
    return 1 if wrong else 0


def show_one(options: argparse.Namespace) -> None:
    case = draw(options, options.only, options.target[0])
    folder = options.save / f"{options.seed}-{options.only}"
    spec, _ = write_case(folder, case)
    print(case.spec.text() + "\n".join(describe(case)) + f"\n// saved in {spec.parent}\n")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz-specs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    cores = len(os.sched_getaffinity(0))
    add("--count", type=int, default=300, metavar="N", help="specs to draw for each target (300)")
    add("--seed", type=int, default=1, metavar="S", help="decides all that is drawn (1)")
    add("--first", type=int, default=0, metavar="K", help="number of the first (0)")
    add("--only", type=int, metavar="K", help="spec K alone, shown and saved")
    add("--target", nargs="+", default=["cpu"], metavar="T", help="cpu (default), reference, nvptx:sm_90a, nvptx:sm_80, sim:sm_90a, sim:sm_80")
    add("--backward", action="store_true", help="gradients instead of results, judged the same way")
    add("--schedules", type=float, default=SCHEDULES, metavar="SHARE", help=f"share of kernels with a schedule of their own ({SCHEDULES})")
    add("--pages", type=float, default=PAGES, metavar="SHARE", help=f"share of specs with keys in pages ({PAGES})")
    add("--small", action="store_true", help="small shapes, as the simulator gets")
    add("--jobs", type=int, default=cores, metavar="N", help="processes at once (default: cores)")
    add("--repeat", type=int, default=2, metavar="N", help="runs whose bits must agree (2); one in the simulator")
    add("--compile-only", action="store_true", help="compile and run nothing: for GPUs that are not here")
    add("--sanitize", default="", choices=("memcheck", "initcheck", "synccheck", "racecheck"), help="on a GPU, under compute-sanitizer")
    add("--timeout", type=float, default=120, metavar="SECONDS", help="a spec that takes longer hangs (120)")
    add("--time-budget", type=float, default=0, metavar="SECONDS", help="stop after so long")
    add("--max-failures", type=int, default=0, metavar="N", help="stop after N failures")
    add("--no-reduce", action="store_true", help="do not make failures small")
    add("--reductions", type=int, default=12, metavar="N", help="failures to make small (12)")
    add("--reduction-time", type=float, default=40, metavar="SECONDS", help="time for each (40)")
    add("--spec", metavar="FILE", help="judge this spec, as --only saves them, instead of random ones")
    add("--inputs", metavar="FILE", help="with --spec: its arguments, a .safetensors file")
    add("--layout", default=LAYOUTS[0], choices=LAYOUTS, help="with --spec: how tensors lie in memory (row-major)")
    add("--save", type=pathlib.Path, metavar="FOLDER", help="where failures go (build/release/fuzz-specs)")
    add("--binary", type=pathlib.Path, metavar="FILE", help=f"{BINARY}, where it is not in its place")
    options = parser.parse_args()
    if bool(options.spec) != bool(options.inputs):
        parser.error("--spec and --inputs go together")
    places = (options.binary,) if options.binary else PLACES
    found = [place.resolve() for place in places if place.is_file()]
    if not found:
        parser.error(f"there is no {BINARY} at " + " or ".join(str(place) for place in places))
    options.binary = found[0]
    kept = ROOT / "build/release/fuzz-specs" if (ROOT / "CMakeLists.txt").is_file() else pathlib.Path("fuzz-specs")
    options.save = (options.save or kept).resolve()
    if options.only is not None:
        options.first, options.count, options.jobs = options.only, 1, 1
    options.jobs = max(1, min(options.jobs, options.count))
    return options


def main() -> int:
    options = parse_options()
    if options.spec:
        return judge_one(options)
    if options.only is not None:
        show_one(options)
    return fuzz(options)


if __name__ == "__main__":
    sys.exit(main())
