"""What was traced is kept with its function, and traced anew once something that it read has changed."""

import functools
import itertools
import types

import numpy as np
import plain
import pytest

import attnc
from attnc._trace import memo

q, k, v = np.random.default_rng(0).standard_normal((3, 1, 32, 2, 16), dtype=np.float32)
W = 5
limits = {5}
frozen = frozenset({5, 2})
options = {"w": 5}


def near(i, j, w):
    return abs(i - j) < w


def of_set(b, h, i, j):
    return near(i, j, max(limits))


def of_frozenset(b, h, i, j):
    return near(i, j, max(frozen))


def of_keyword(b, h, i, j, *, w=5):
    return near(i, j, w)


def of_default(b, h, i, j, w=5):
    return near(i, j, w)


def of_globals(b, h, i, j):
    return near(i, j, globals()["W"])


def of_eval(b, h, i, j):
    return near(i, j, eval("W"))


def of_attribute(b, h, i, j):
    return near(i, j, near.__globals__["W"])


def of_dictionary(b, h, i, j):
    return near(i, j, options["w"])


def of_method(b, h, i, j):
    return near(i, j, get("w"))


get = options.get


def of_one_that_comes_later(b, h, i, j):
    try:
        return near(i, j, LATER)  # noqa: F821
    except NameError:
        return near(i, j, 5)


def of_builtin(b, h, i, j):
    return near(i, j, sum([2, 3]))


def of_cached(b, h, i, j):
    return near(i, j, cached())


@functools.lru_cache
def cached():
    return W


def of_partial(b, h, i, j):
    return part(i, j)


part = functools.partial(near, w=5)


def change_globals(**values):
    return lambda monkeypatch: [monkeypatch.setitem(globals(), name, value) for name, value in values.items()]


def change_cached(monkeypatch):
    monkeypatch.setitem(globals(), "W", 9)
    cached.cache_clear()


CHANGES = {
    "set": (of_set, lambda monkeypatch: limits.add(9)),
    "frozen set": (of_frozenset, change_globals(frozen=frozenset({9}))),
    "keyword": (of_keyword, lambda monkeypatch: of_keyword.__kwdefaults__.update(w=9)),
    "keywords": (of_keyword, lambda monkeypatch: setattr(of_keyword, "__kwdefaults__", {"w": 9})),
    "default": (of_default, lambda monkeypatch: setattr(of_default, "__defaults__", (9,))),
    "globals()": (of_globals, change_globals(W=9)),
    "eval()": (of_eval, change_globals(W=9)),
    "__globals__": (of_attribute, change_globals(W=9)),
    "dictionary": (of_dictionary, lambda monkeypatch: monkeypatch.setitem(options, "w", 9)),
    "method of a dictionary": (of_method, lambda monkeypatch: monkeypatch.setitem(options, "w", 9)),
    "new global": (of_one_that_comes_later, change_globals(LATER=9)),
    "global before a builtin": (of_builtin, change_globals(sum=lambda items: 9)),
    "cached function": (of_cached, change_cached),
    "keyword of a partial": (of_partial, lambda monkeypatch: monkeypatch.setitem(part.keywords, "w", 9)),
}  # fmt: skip


def check(mask, wide):
    """Compares with the mask of 5 keys to each side, or of 9."""
    wanted = plain.attention(q, k, v, mask=lambda b, h, i, j: abs(i - j) < (9 if wide else 5))[0]
    np.testing.assert_allclose(attnc.jit(mask_mod=mask)(q, k, v), wanted, atol=2e-5)


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_seen(name, monkeypatch):
    mask, change = CHANGES[name]
    kept = limits.copy(), of_keyword.__kwdefaults__.copy(), of_default.__defaults__
    try:
        check(mask, False)
        check(mask, False)
        change(monkeypatch)
        check(mask, True)
    finally:
        limits.clear()
        limits.update(kept[0])
        of_keyword.__kwdefaults__, of_default.__defaults__ = kept[1:]
        cached.cache_clear()


def test_a_variable_that_is_filled_later():
    def mask(b, h, i, j):
        try:
            return near(i, j, later)
        except NameError:
            return near(i, j, 5)

    check(mask, False)
    later = 9
    check(mask, True)


def test_attributes_that_come_later():
    """With an array, so that an object is looked into."""

    class Holder:
        table = np.ones(2, np.float32)

        def near(self, i, j):
            return near(i, j, 5)

    holder = Holder()
    holder.table = holder.table

    def by_attribute(b, h, i, j):
        return near(i, j, getattr(holder, "w", 5))

    def by_method(b, h, i, j):
        return holder.near(i, j)

    check(by_attribute, False)
    holder.w = 9
    check(by_attribute, True)
    for replace in (
        lambda: setattr(Holder, "near", lambda self, i, j: near(i, j, 9)),
        lambda: setattr(holder, "near", types.MethodType(lambda self, i, j: near(i, j, 5), holder)),
    ):
        wide = "near" not in vars(holder) and Holder.near(holder, 6, 0)
        check(by_method, wide)
        replace()
        check(by_method, not wide)


def test_what_is_used_up_is_not_kept():
    numbers = itertools.count(5, 4)

    def mask(b, h, i, j):
        return near(i, j, next(numbers))

    check(mask, False)
    check(mask, True)


@pytest.mark.parametrize("mask", [of_set, of_keyword, of_dictionary, of_one_that_comes_later, of_builtin, of_partial])
def test_what_has_not_changed_is_kept(mask, monkeypatch):
    """Tracing takes a millisecond, and a look at what was read some microseconds."""
    check(mask, False)
    monkeypatch.setattr("attnc._trace.spec._trace", None)
    check(mask, False)
    assert getattr(mask, memo._ATTRIBUTE)


def test_divmod():
    def score(s, b, h, i, j):
        whole, rest = divmod(i - j, 3)
        return s + whole * 0.25 + rest * 0.5 + divmod(7, i + 2)[1] * 0.125

    wanted = plain.attention(q, k, v, score=score)[0]
    np.testing.assert_allclose(attnc.jit(score)(q, k, v), wanted, atol=2e-5)


def test_products_of_rows():
    rows = np.random.default_rng(1).standard_normal((32, 4), dtype=np.float32)

    def score(s, b, h, i, j):
        return s + rows[i] @ rows[j]

    wanted = plain.attention(q, k, v, score=lambda s, b, h, i, j: s + rows @ rows.T)[0]
    np.testing.assert_allclose(attnc.jit(score)(q, k, v), wanted, atol=2e-5)
