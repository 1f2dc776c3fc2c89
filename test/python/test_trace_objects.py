"""Arrays inside of what functions read: named tuples, data classes, objects and classes, and containers of every kind."""

import collections
import dataclasses
import types
import typing

import numpy as np
import plain
import pytest

import attnc

B, S, H, D = 2, 24, 3, 16
random = np.random.default_rng(0)
q, k, v = random.standard_normal((3, B, S, H, D), dtype=np.float32)
FIRST, SECOND = random.standard_normal((2, H), dtype=np.float32)

Pair = collections.namedtuple("Pair", ["slopes", "factor"])


class Typed(typing.NamedTuple):
    slopes: typing.Any
    factor: float = 2.0

    def of(self, h):
        return self.slopes[h] * self.factor


@dataclasses.dataclass
class Data:
    slopes: typing.Any
    factor: float = 2.0

    def of(self, h):
        return self.slopes[h] * self.factor


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("slopes",)
    slopes: typing.Any


class Holder:
    def __init__(self, held):
        self.held = held


class Rows:
    """An object that is indexed."""

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, h):
        return self.rows[h]

    def __len__(self):
        return len(self.rows)

    def __contains__(self, h):
        return h < len(self.rows)

    def __iter__(self):
        return iter([self.rows])

    def __add__(self, other):
        return self.rows[0] + other


class Named(dict):
    """A dictionary whose items are attributes."""

    __getattr__ = dict.__getitem__

    def of(self, h):
        return self["slopes"][h]


class Upper(dict):
    """A dictionary that finds its items in a way of its own."""

    def __getitem__(self, key):
        return super().__getitem__(key.lower())


class Filled(dict):
    def __missing__(self, key):
        return 3.0


class Items(list):
    factor = 2.0

    def last(self):
        return self[-1]


def of_class(slopes):
    class Config:
        table = slopes

        @staticmethod
        def of(h):
            return 1.0

    return Config


#: What holds an array, what is read of it for a head, and what that is of the array's element.
HOLDERS = {
    "named tuple": (lambda a: Pair(a, 2.0), lambda x, h: x.slopes[h] * x.factor + x[0][h], lambda e: 3 * e),
    "typed one": (Typed, lambda x, h: x.of(h) + x._replace(factor=1.0).of(h), lambda e: 3 * e),
    "unpacked": (lambda a: Pair(a, 2.0), lambda x, h: (lambda slopes, factor: slopes[h] * factor)(*x), lambda e: 2 * e),
    "data class": (Data, lambda x, h: x.of(h) + x.slopes[h], lambda e: 3 * e),
    "with slots": (Slotted, lambda x, h: x.slopes[h], lambda e: e),
    "in a list of an object": (lambda a: Holder([1.0, Data(a)]), lambda x, h: x.held[1].of(h) * x.held[0], lambda e: 2 * e),
    "in a dictionary of one": (lambda a: Holder({"x": [Pair(a, 1.0)]}), lambda x, h: x.held["x"][0].slopes[h], lambda e: e),
    "deep inside": (lambda a: Holder(Holder(Holder(Holder((Holder(a),))))), lambda x, h: x.held.held.held.held[0].held[h], lambda e: e),
    "objects in a list": (lambda a: [Holder(a), Holder(2.0)], lambda x, h: x[0].held[h] * x[1].held, lambda e: 2 * e),
    "namespace": (lambda a: types.SimpleNamespace(of=[a]), lambda x, h: x.of[0][h], lambda e: e),
    "ordered": (lambda a: collections.OrderedDict(a=a, b=2.0), lambda x, h: x["a"][h] * list(x.values())[1], lambda e: 2 * e),
    "with a default": (lambda a: collections.defaultdict(lambda: 4.0, a=a), lambda x, h: x["a"][h] * x["none"], lambda e: 4 * e),
    "without one": (lambda a: collections.defaultdict(None, a=a), lambda x, h: x["a"][h] * x.get("none", 3.0), lambda e: 3 * e),
    "attributes of a dictionary": (lambda a: Named(slopes=a), lambda x, h: x.slopes[h] + x.of(h) * len(x), lambda e: 2 * e),
    "own index of a dictionary": (lambda a: Upper(a=a), lambda x, h: x["A"][h], lambda e: e),
    "missing": (lambda a: Filled(a=a), lambda x, h: x["a"][h] * x["b"], lambda e: 3 * e),
    "counter": (lambda a: Pair(a, collections.Counter("aab")), lambda x, h: x.slopes[h] * x.factor["a"] + x.factor["c"], lambda e: 2 * e),
    "list of a class": (lambda a: Items([1.0, a]), lambda x, h: x.last()[h] * x.factor * x[0], lambda e: 2 * e),
    "deque": (lambda a: collections.deque([a], 3), lambda x, h: x[0][h] * x.maxlen, lambda e: 3 * e),
    "index of an object": (Rows, lambda x, h: x[h] * len(x) if 1 in x else 0.0, lambda e: e * H),
    "loop over an object": (Rows, lambda x, h: sum(rows[h] for rows in x), lambda e: e),
    "class": (of_class, lambda x, h: x.table[h] * x.of(h), lambda e: e),
    "object of such a class": (lambda a: of_class(a)(), lambda x, h: x.table[h], lambda e: e),
}  # fmt: skip


def check(attention, inputs, wanted):
    expected = plain.attention(q, k, v, score=lambda s, b, h, i, j: s * wanted[h])[0]
    np.testing.assert_allclose(np.asarray(attention(*inputs)), expected, atol=2e-5)


@pytest.mark.parametrize("name", HOLDERS)
def test_holders(name):
    make, read, wanted = HOLDERS[name]
    holder = make(FIRST.copy())
    attention = attnc.jit(lambda s, b, h, i, j: s * read(holder, h))
    check(attention, (q, k, v), wanted(FIRST))
    # Another one in its place is seen.
    holder = make(SECOND)
    check(attention, (q, k, v), wanted(SECOND))


def arrays_of(library):
    """What makes arrays of torch or JAX, on the CPU."""
    module = pytest.importorskip(library)
    device = "cpu" if library == "torch" else pytest.importorskip("jax").devices("cpu")[0]
    return lambda array: module.asarray(array, device=device)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_arrays_of_others(library):
    of_library = arrays_of(library)
    inputs = [of_library(array) for array in (q, k, v)]
    for make, read, wanted in HOLDERS.values():
        holder = make(of_library(FIRST))
        check(attnc.jit(lambda s, b, h, i, j: s * read(holder, h)), inputs, wanted(FIRST))


#: What changes inside of a holder, by its name.
CHANGES = {
    "data class": lambda x: setattr(x, "slopes", SECOND), "in a list of an object": lambda x: setattr(x.held[1], "slopes", SECOND),
    "in a dictionary of one": lambda x: x.held.update(x=[Pair(SECOND, 1.0)]),
    "deep inside": lambda x: setattr(x.held.held.held.held[0], "held", SECOND),
    "objects in a list": lambda x: x.__setitem__(0, Holder(SECOND)), "ordered": lambda x: x.update(a=SECOND),
    "with a default": lambda x: x.update(a=SECOND), "attributes of a dictionary": lambda x: x.update(slopes=SECOND),
    "own index of a dictionary": lambda x: x.update(a=SECOND), "missing": lambda x: x.update(a=SECOND),
    "list of a class": lambda x: x.__setitem__(1, SECOND), "deque": lambda x: x.__setitem__(0, SECOND),
    "index of an object": lambda x: setattr(x, "rows", SECOND), "loop over an object": lambda x: setattr(x, "rows", SECOND),
    "class": lambda x: setattr(x, "table", SECOND), "object of such a class": lambda x: setattr(type(x), "table", SECOND),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_seen(name):
    make, read, wanted = HOLDERS[name]
    holder = make(FIRST.copy())
    attention = attnc.jit(lambda s, b, h, i, j: s * read(holder, h))
    check(attention, (q, k, v), wanted(FIRST))
    CHANGES[name](holder)
    check(attention, (q, k, v), wanted(SECOND))


def test_defaults_and_numbers_that_change():
    values, typed, config = collections.defaultdict(lambda: 4.0, a=FIRST), Typed(FIRST), of_class(FIRST)
    attention = attnc.jit(lambda s, b, h, i, j: s * values["a"][h] * values["none"])
    check(attention, (q, k, v), 4 * FIRST)
    # A trace has left nothing in it.
    assert "none" not in values
    values.default_factory = lambda: 2.0
    check(attention, (q, k, v), 2 * FIRST)
    values["none"] = 3.0
    check(attention, (q, k, v), 3 * FIRST)
    attention = attnc.jit(lambda s, b, h, i, j: s * typed.of(h) * config.of(h))
    check(attention, (q, k, v), 2 * FIRST)
    config.of = staticmethod(lambda h: 0.5)
    check(attention, (q, k, v), FIRST)
    kept = Typed.of
    try:
        Typed.of = lambda self, h: self.slopes[h]
        check(attention, (q, k, v), 0.5 * FIRST)
    finally:
        Typed.of = kept


@pytest.mark.parametrize("name", ["named tuple", "data class", "with slots", "in a list of an object", "deep inside", "ordered", "deque"])
def test_what_has_not_changed_is_kept(name, monkeypatch):
    make, read, wanted = HOLDERS[name]
    holder = make(FIRST.copy())
    attention = attnc.jit(lambda s, b, h, i, j: s * read(holder, h))
    check(attention, (q, k, v), wanted(FIRST))
    monkeypatch.setattr("attnc._trace.spec._trace", None)
    check(attention, (q, k, v), wanted(FIRST))


def test_objects_stay_what_they_are():
    """Operators, truth and length of objects with arrays are their own; what is not there is said as it is elsewhere."""
    rows, empty = Rows(FIRST), Rows(FIRST[:0])
    score = lambda s, b, h, i, j: (rows + s) * (2.0 if empty or not rows else 1.0)  # noqa: E731
    expected = plain.attention(q, k, v, score=lambda s, b, h, i, j: s + FIRST[0])[0]
    np.testing.assert_allclose(attnc.jit(score)(q, k, v), expected, atol=2e-5)
    holder = Holder(FIRST)
    for function in (lambda: len(holder), lambda: holder[0], lambda: list(holder), lambda: 1 in holder, lambda: holder + 1):
        with pytest.raises(TypeError):
            attnc.jit(lambda s, b, h, i, j, function=function: s * function())(q, k, v)
    with pytest.raises(KeyError):
        attnc.jit(lambda s, b, h, i, j: s * Named(a=FIRST)["b"])(q, k, v)
    found = collections.defaultdict(None, a=FIRST)
    with pytest.raises(KeyError):
        attnc.jit(lambda s, b, h, i, j: s * found["b"])(q, k, v)


def test_tables_of_dictionaries_are_refused_as_before():
    tables = collections.OrderedDict(a=FIRST)
    with pytest.raises(attnc.TraceError, match="is looked up in a dictionary"):
        attnc.jit(lambda s, b, h, i, j: s * tables[h])(q, k, v)


def test_objects_that_hold_themselves_and_much_else():
    holder = Holder(None)
    holder.held = [holder, {"self": holder}, FIRST]
    check(attnc.jit(lambda s, b, h, i, j: s * holder.held[0].held[2][h]), (q, k, v), FIRST)
    large = Holder(list(range(10**6)))
    check(attnc.jit(lambda s, b, h, i, j: s * FIRST[h] * large.held[1]), (q, k, v), FIRST)


def test_learned_in_objects():
    torch = pytest.importorskip("torch")
    from attnc.torch import flex_attention

    inputs = [torch.from_numpy(array).transpose(1, 2).requires_grad_() for array in (q, k, v)]
    for make, read, wanted in HOLDERS.values():
        slopes = torch.from_numpy(FIRST).requires_grad_()
        holder = make(slopes)
        out = flex_attention(*inputs, lambda s, b, h, i, j: s * read(holder, h))
        (found,) = torch.autograd.grad(out.square().sum(), slopes)
        scores = inputs[0] @ inputs[1].transpose(-1, -2) * D**-0.5 * wanted(slopes)[:, None, None]
        (expected,) = torch.autograd.grad((scores.softmax(-1) @ inputs[2]).square().sum(), slopes)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
