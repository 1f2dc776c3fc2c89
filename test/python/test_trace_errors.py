"""What cannot be traced is refused at the user's own line, with what to write instead."""

import functools
import math
import re

import numpy as np
import pytest

import attnc

q = np.zeros((1, 8, 2, 8), np.float32)
table = np.zeros((2, 8), np.float32)
complexes = np.zeros((2,), np.complex64)
short = np.zeros((3,), np.float32)
names = ["a", "b"]
weights = {0: 1.0, 1: 2.0}


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


def of_complexes(s, b, h, i, j):
    return s + complexes[h]  # HERE


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


def from_dictionary(s, b, h, i, j):
    return s + weights[h]  # HERE


def member_of_a_set(b, h, i, j):
    return i in {1, 2}  # HERE


def cached(s, b, h, i, j):
    return s + remembered(h)  # HERE


def hashed(s, b, h, i, j):
    return s + hash(i) % 7  # HERE


def text(s, b, h, i, j):
    return s + len(str(i))  # HERE


def formatted(s, b, h, i, j):
    return s + len(f"{i}")  # HERE


def formatted_as_a_float(s, b, h, i, j):
    return s + len(f"{s:.2f}")  # HERE


def text_of_an_element(s, b, h, i, j):
    return s + len(str(table[h, i]))  # HERE


def matrix_product(s, b, h, i, j):
    return s @ s  # HERE


def product_with_a_row(s, b, h, i, j):
    return table[h] @ s  # HERE


def made_inside(s, b, h, i, j):
    return s + np.arange(16)[i]  # HERE


def caught(s, b, h, i, j):
    try:
        return s if i > j else s * 2  # HERE
    except Exception:
        return s * 100


def caught_by_another(s, b, h, i, j):
    try:
        return s + weights[h]  # HERE
    except attnc.Error as error:
        raise KeyError("no such head") from error


def caught_within(s, b, h, i, j):
    return s + caught(s, b, h, i, j)


@functools.lru_cache
def remembered(h):
    return 1.0


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
    (of_complexes, "captured array 'complexes' is of complex64, which kernels do not read: make it one of float32"),
    (too_short, "captured array 'short': dimension 0 has 3 elements, and is indexed by all 8 of its axis"),
    (no_such_function, "numpy.arctan2 cannot be traced; there are "),
    (no_such_method, "a traced value has no 'softmax'; there are "),
    (assigned, "cannot be written to: write attnc.where"),
    (float_bits, "'andi' of floats: expected integers or bools"),
    (from_dictionary, "make a dictionary an array outside of the function and index that"),
    (member_of_a_set, r"write \(x == a\) \| \(x == b\) for 'x in \{a, b\}'"),
    (cached, "looked up in a dictionary or a set, or by functools.lru_cache"),
    (hashed, "looked up in a dictionary or a set"),
    (text, r"the text of a traced value, as str\(\), print\(\) and f-strings ask for it"),
    (formatted, r"repr\(x\), or \{x!r\}, tells its type"),
    (formatted_as_a_float, "the text of a traced value"),
    (text_of_an_element, "the text of a traced value"),
    (matrix_product, r"'@' of a traced value, which is one number: write \* for a product"),
    (product_with_a_row, "'@' of a traced value"),
    (made_inside, "a traced value indexes something .* and an array that the function makes outside of it"),
    (caught, r"write attnc.where\(condition, a, b\) for 'if'"),
    (caught_by_another, "looked up in a dictionary"),
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


def test_what_was_caught_fails_all_the_same():
    for _ in range(2):
        with pytest.raises(attnc.TraceError, match=r"write attnc.where\(condition, a, b\) for 'if'"):
            attnc.jit(caught_within)(q, q, q)
    # Whether there is an attribute may be asked.
    asked = lambda s, b, h, i, j: s * (2 if hasattr(s, "softmax") or getattr(s, "no_such_thing", None) else 1)  # noqa: E731
    np.testing.assert_array_equal(attnc.jit(asked)(q, q, q), attnc.jit()(q, q, q))
    # What is wrong with one function is none of the next one's, and errors of other kinds stay what they are.
    with pytest.raises(ZeroDivisionError):
        attnc.jit(lambda s, b, h, i, j: s * (1 / 0))(q, q, q)
    with pytest.raises(TypeError, match="score_mod: expected a function"):
        attnc.jit(lambda s: s)(q, q, q)


def test_traced_values_may_be_shown(capsys):
    attnc.jit(lambda s, b, h, i, j: print(f"{s!r} {i!r} {table!r}") or s)(q, q, q)
    assert capsys.readouterr().out == "<traced f32> <traced index> <captured array 'table'>\n"


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
