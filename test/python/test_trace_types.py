"""Captured arrays of types that kernels have not: they are converted for each call, float64 to float32, integers to wider ones."""

import numpy as np
import plain
import pytest

import attnc

B, S, H, D = 2, 24, 3, 16
random = np.random.default_rng(0)
q, k, v = random.standard_normal((3, B, S, H, D), dtype=np.float32)
#: A table for each of the types, with numbers that only it has.
TABLES = {
    "float64": random.standard_normal((H, S)), "int16": random.integers(-(2**15), 2**15, (H, S), np.int16),
    "uint8": random.integers(200, 256, (H, S), np.uint8), "uint16": random.integers(2**15, 2**16, (H, S), np.uint16),
    "uint32": random.integers(2**31, 2**32, (H, S), np.uint32),
}  # fmt: skip
#: What makes scores of these.
FACTORS = {"float64": 1.0, "int16": 2.0**-14, "uint8": 2.0**-5, "uint16": 2.0**-15, "uint32": 2.0**-31}


def check(attention, inputs, score):
    wanted = plain.attention(q, k, v, score=score)[0]
    np.testing.assert_allclose(np.asarray(attention(*inputs)), wanted, atol=2e-5)


@pytest.mark.parametrize("name", TABLES)
def test_numpy(name, monkeypatch):
    table, factor, kind = TABLES[name].copy(), FACTORS[name], np.dtype(name)

    def score(s, b, h, i, j):
        # It has the type that it has.
        return s + table[h, j] * factor if table.dtype == kind else s

    def wanted(s, b, h, i, j):
        return s + table[h, j].astype(np.float64) * factor

    attention = attnc.jit(score)
    check(attention, (q, k, v), wanted)
    # The same array, with other numbers in it, is read anew, and traced no more.
    table[:, ::2] = table[0, 0]
    monkeypatch.setattr("attnc._trace.spec._trace", None)
    check(attention, (q, k, v), wanted)


def arrays_of(library):
    """What makes arrays of torch or JAX, on the CPU."""
    module = pytest.importorskip(library)
    device = "cpu" if library == "torch" else pytest.importorskip("jax").devices("cpu")[0]
    return lambda array: module.asarray(array, device=device)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
@pytest.mark.parametrize("name", TABLES)
def test_arrays_of_others(library, name):
    of_library = arrays_of(library)
    if name == "float64" and library != "torch":
        pytest.skip("JAX has none unless it is told so")
    table, factor = of_library(TABLES[name]), FACTORS[name]
    inputs = [of_library(array) for array in (q, k, v)]
    given = TABLES[name].astype(np.float64)
    check(attnc.jit(lambda s, b, h, i, j: s + table[h, j] * factor), inputs, lambda s, b, h, i, j: s + given[h, j] * factor)


def test_without_dimensions():
    factor, number = np.array(0.25), np.array(3, np.uint8)
    check(attnc.jit(lambda s, b, h, i, j: s * factor + number * i), (q, k, v), lambda s, b, h, i, j: s * 0.25 + 3 * i)


def test_as_indices():
    """Integers below 0 count from the end, and what has no sign counts from the start."""
    places, signed = random.integers(200, 256, S, np.uint8), random.integers(-200, 200, S, np.int16)
    table = random.standard_normal(256, dtype=np.float32)
    check(
        attnc.jit(lambda s, b, h, i, j: s + table[places[i]] - table[signed[j]]), (q, k, v),
        lambda s, b, h, i, j: s + table[places[i]] - table[signed[j]],
    )  # fmt: skip
    assert "size" in attnc.jit(lambda s, b, h, i, j: s + table[signed[j]]).spec(q, k, v)
    assert "size" not in attnc.jit(lambda s, b, h, i, j: s + table[places[i]]).spec(q, k, v)


def test_values_do_not_wrap():
    counts = np.full(S, 255, np.uint8)
    check(attnc.jit(lambda s, b, h, i, j: s + (counts[i] + counts[j]) * 0.01), (q, k, v), lambda s, b, h, i, j: s + 5.1)
    check(attnc.jit(lambda s, b, h, i, j: s + (i - counts[j]) * 0.01), (q, k, v), lambda s, b, h, i, j: s + (i - 255) * 0.01)


def test_another_type_is_another_spec():
    """An array that replaces the one that was read."""
    table = random.standard_normal((H, S))

    def score(s, b, h, i, j):
        return s + table[h, j]

    attention = attnc.jit(score)
    for kind, element in ((np.float64, "f32"), (np.float32, "f32"), (np.float16, "f16"), (np.uint8, "i32")):
        table = (10 * table).astype(kind)
        check(attention, (q, k, v), lambda s, b, h, i, j: s + table[h, j].astype(np.float64))
        assert f"%table: tensor<3x?x{element}>" in attention.spec(q, k, v)


@pytest.mark.parametrize("kind", [np.uint64, np.complex64, np.complex128, np.longdouble])
def test_refused(kind):
    table = np.zeros(H, kind)
    wanted = "int32" if kind is np.uint64 else "float32"
    message = f"captured array 'table' is of {np.dtype(kind)}, which kernels do not read: make it one of {wanted}"
    with pytest.raises(attnc.TraceError, match=message):
        attnc.jit(lambda s, b, h, i, j: s + table[h])(q, k, v)


def test_floats_of_8_bits_are_refused():
    types = pytest.importorskip("ml_dtypes")
    table = np.zeros(H, types.float8_e4m3fn)
    with pytest.raises(attnc.TraceError, match="is of float8_e4m3fn, which kernels do not read: make it one of float32"):
        attnc.jit(lambda s, b, h, i, j: s + table[h])(q, k, v)


def test_types_of_values():
    """Those of numpy, where queries are not torch's."""

    def score(s, b, h, i, j):
        assert [value.dtype for value in (s, i, i >= j)] == [np.float32, np.int64, np.bool_]
        return np.where(i >= j, s, np.finfo(s.dtype).min)

    q = np.ones((1, 4, 2, 8), np.float32)
    np.testing.assert_allclose(attnc.jit(score)(q, q, q), q)


def test_select_of_numpy():
    """The first condition that holds counts."""
    q = np.random.default_rng(0).standard_normal((1, 6, 2, 8), dtype=np.float32)
    chosen = attnc.jit(lambda s, b, h, i, j: np.select([i > j, i > 2], [s, 2 * s], 0.5))(q, q, q)
    same = attnc.jit(lambda s, b, h, i, j: np.where(i > j, s, np.where(i > 2, 2 * s, 0.5)))(q, q, q)
    assert np.array_equal(chosen, same)
    is_near = attnc.jit(None, lambda b, h, i, j: np.isin(i - j, [0, 2]))(q, q, q)
    assert np.array_equal(is_near, attnc.jit(None, lambda b, h, i, j: (i == j) | (i - j == 2))(q, q, q))
