"""What cannot be traced is refused at the user's own line, with what to write instead."""

import math
import re

import numpy as np
import pytest

import attnc

q = np.zeros((1, 8, 2, 8), np.float32)
table = np.zeros((2, 8), np.float32)
doubles = np.zeros((2,), np.float64)
short = np.zeros((3,), np.float32)
names = ["a", "b"]


def branch(b, h, i, j):
    if i > j:  # HERE
        return True
    return False


def both(b, h, i, j):
    return i > j and j > 2  # HERE


def chain(b, h, i, j):
    return 0 < j < i  # HERE


def builtin_max(b, h, i, j):
    return max(i, j) > 2  # HERE


def loop(b, h, i, j):
    for _ in range(i):  # HERE
        pass
    return i > j


def from_math(s, b, h, i, j):
    return math.tanh(s)  # HERE


def from_float(s, b, h, i, j):
    return float(i) * s  # HERE


def from_list(s, b, h, i, j):
    return names[h]  # HERE


def whole_array(s, b, h, i, j):
    return s + table  # HERE


def row(s, b, h, i, j):
    return s + table[h]


def sliced(s, b, h, i, j):
    return s + table[h, :]  # HERE


def float_index(s, b, h, i, j):
    return s + table[h, s]  # HERE


def too_many(s, b, h, i, j):
    return s + table[h, i, j]  # HERE


def of_doubles(s, b, h, i, j):
    return s + doubles[h]  # HERE


def too_short(s, b, h, i, j):
    return s + short[i]  # HERE


def no_such_function(s, b, h, i, j):
    return np.arctan2(s, s)  # HERE


def no_such_method(s, b, h, i, j):
    return s.softmax(-1)  # HERE


def assigned(s, b, h, i, j):
    s[0] = 1  # HERE
    return s


def float_bits(s, b, h, i, j):
    return s & 1  # HERE


CASES = [
    (branch, r"write attnc.where\(condition, a, b\) for 'if'"),
    (both, "&, | and ~ for 'and'"),
    (chain, r"\(a < b\) & \(b < c\) for chains"),
    (builtin_max, "attnc.maximum for min"),
    (loop, "a traced value indexes something that is no captured array"),
    (from_math, "write attnc.exp, attnc.tanh"),
    (from_float, r"attnc.to_float\(x\) for float\(x\)"),
    (from_list, "make a list or a dictionary one of these first"),
    (whole_array, "captured array 'table' has 2 dimensions left, and is used as a number: index it"),
    (sliced, "captured array 'table': a slice or None is no index of one element"),
    (float_index, "captured array 'table': expected integers as indices, got a float"),
    (too_many, "captured array 'table' has 2 dimensions, got 3 indices"),
    (of_doubles, "captured array 'doubles' is of float64, which kernels do not read: make it one of float32"),
    (too_short, "captured array 'short': dimension 0 has 3 elements, and is indexed by all 8 of its axis"),
    (no_such_function, "numpy.arctan2 cannot be traced; there are "),
    (no_such_method, "a traced value has no 'softmax'; there are "),
    (assigned, "cannot be written to: write attnc.where"),
    (float_bits, "'andi' of floats: expected integers or bools"),
]


@pytest.mark.parametrize(("function", "message"), CASES, ids=[case[0].__name__ for case in CASES])
def test_refused_at_its_line(function, message):
    attention = attnc.jit(*((None, function) if function.__code__.co_argcount == 4 else (function, None)))
    with pytest.raises(attnc.TraceError, match=message) as caught:
        attention(q, q, q)
    with open(__file__) as source:
        lines = source.read().splitlines()
    first = function.__code__.co_firstlineno
    line = next(number for number in range(first, first + 9) if "HERE" in lines[number - 1])
    assert (caught.value.filename, caught.value.lineno) == (__file__, line)
    assert str(caught.value).startswith(f"{__file__}:{line}: ")
    assert str(caught.value).endswith("\n    " + lines[line - 1].strip())


def test_results():
    with pytest.raises(attnc.TraceError, match="mask_mod '<lambda>' returned a number, expected a bool: compare it"):
        attnc.jit(None, lambda b, h, i, j: i - j)(q, q, q)
    with pytest.raises(attnc.TraceError, match="score_mod '<lambda>' returned a bool, expected a score"):
        attnc.jit(lambda s, b, h, i, j: i > j)(q, q, q)
    with pytest.raises(attnc.TraceError, match="returned None, expected one traced value"):
        attnc.jit(lambda s, b, h, i, j: None)(q, q, q)


def test_signatures():
    message = re.escape("mask_mod: expected a function of (b, h, q_idx, kv_idx), got one of (i, j)")
    with pytest.raises(TypeError, match=message):
        attnc.jit(None, lambda i, j: i > j)(q, q, q)
    with pytest.raises(TypeError, match="score_mod: expected a function, got int"):
        attnc.jit(3)(q, q, q)
    with pytest.raises(TypeError, match="attnc.and_masks: expected functions"):
        attnc.and_masks(3)


@pytest.mark.parametrize(
    ("q", "k", "v", "message"),
    [
        (q[0], q, q, "argument 'q': expected rank 4, got 3"),
        (q.astype(np.float64), q, q, "argument 'q': expected float32, float16 or bfloat16, got float64"),
        (q, q.astype(np.float16), q, "argument 'k': expected float32, as 'q' has, got float16"),
        (q, q[:, :, :1].repeat(3, 2), q, "argument 'k': expected a number of heads that divides the 2 of 'q', got 3"),
        (q, q, q[:, :4], "argument 'v': expected 8 keys, got 4"),
        (q, q[..., :4], q, "argument 'k': expected 8 for the head dim, got 4"),
    ],
)
def test_shapes(q, k, v, message):
    with pytest.raises(attnc.Error, match=re.escape(message)):
        attnc.jit()(q, k, v)


def test_options():
    with pytest.raises(attnc.Error, match="align: expected 'top_left' or 'bottom_right', got 'middle'"):
        attnc.jit(align="middle")
    with pytest.raises(attnc.Error, match="scale: expected a number, got str"):
        attnc.jit(scale="1")(q, q, q)


def test_rows_are_no_scores():
    q = np.zeros((1, 2, 2, 8), np.float32)
    with pytest.raises(attnc.TraceError, match="score_mod 'row' returned a row of 8 elements, expected one traced value"):
        attnc.jit(row)(q, q, q)
