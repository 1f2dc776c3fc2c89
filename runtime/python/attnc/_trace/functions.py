"""What can be done with traced values, under the names that numpy, torch and Python have for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .autograd import as_traced_now
from .errors import TraceError
from .graph import ANY, BOOL, FLOAT, INT, Graph, Node
from .values import NOT_CAPTURED, Value
from .vectors import call_with_vectors, vector_of

#: From the narrower to the wider type: operands of an operation are brought to the wider of them.
_RANK = {BOOL: 0, INT: 1, FLOAT: 2}


def _graph_of(inputs: tuple[Any, ...]) -> Graph:
    for value in inputs:
        if hasattr(value, "graph"):
            return value.graph  # type: ignore[no-any-return]
    raise TraceError("expected a traced value")


def lift(graph: Graph, value: Any) -> Value:
    """A traced value, or a number as one."""
    if isinstance(value, Value):
        return value
    load = getattr(value, "load_scalar", None)
    if load is not None:
        return load()  # type: ignore[no-any-return]
    if isinstance(value, bool):
        return Value(graph, graph.constant(value, BOOL))
    if isinstance(value, int):
        if not ANY[0] <= value <= ANY[1]:
            raise TraceError(f"the number {value} has more than 64 bits")
        return Value(graph, graph.constant(value, INT))
    if isinstance(value, float):
        return Value(graph, graph.constant(value, FLOAT))
    # Scalars of numpy, and tensors of one element that hold a number already.
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return lift(graph, value.item())
    vector = vector_of(value)
    if vector is not None:
        raise TraceError(f"a row of {len(vector)} elements is used as a number: index it, or take its sum")
    raise TraceError(f"expected a number or a traced value, got {type(value).__name__}")


def to_type(value: Value, type: str) -> Value:
    """The value as one of another type: floats are rounded to zero, and numbers are true unless they are 0."""
    graph, node = value.graph, value.node
    if node.type == type:
        return value
    if type == FLOAT:
        if node.type == BOOL:
            return Value(graph, graph.add("arith.uitofp {} : i1 to f32", FLOAT, [node]))
        # What fits 32 bits is converted from these: in 64 it costs a GPU several times as much.
        low, high = node.bounds
        width = "i32" if -(2**31) <= low and high < 2**31 else "i64"
        cast = graph.add(f"arith.index_cast {{}} : index to {width}", width, [node])
        return Value(graph, graph.add(f"arith.sitofp {{}} : {width} to f32", FLOAT, [cast]))
    if type == INT:
        if node.type == BOOL:
            return Value(graph, graph.add("arith.index_castui {} : i1 to index", INT, [node], (0, 1)))
        cast = graph.add("arith.fptosi {} : f32 to i64", "i64", [node])
        return Value(graph, graph.add("arith.index_cast {} : i64 to index", INT, [cast]))
    if node.type == INT:
        return Value(graph, graph.add("arith.cmpi ne, {}, {} : index", BOOL, [node, graph.constant(0, INT)]))
    return Value(graph, graph.add("arith.cmpf une, {}, {} : f32", BOOL, [node, graph.constant(0.0, FLOAT)]))


def _together(*inputs: Any, least: str = BOOL) -> list[Value]:
    """The operands of an operation, of one type."""
    graph = _graph_of(inputs)
    values = [lift(graph, value) for value in inputs]
    type = max([least, *(value.type for value in values)], key=_RANK.__getitem__)
    return [to_type(value, type) for value in values]


def _emit(text: str, type: str, values: list[Value], bounds: tuple[int, int] = ANY) -> Value:
    graph = values[0].graph
    return Value(graph, graph.add(text, type, [value.node for value in values], bounds))


def _arithmetic(name: str, bounds: Callable[[Node, Node], tuple[int, int]]) -> Callable[..., Value]:
    def function(a: Any, b: Any, *, alpha: Any = None) -> Value:
        if alpha is not None and alpha != 1:
            b = TABLE["mul"](b, alpha)
        left, right = _together(a, b, least=INT)
        if left.type == FLOAT:
            return _emit(f"arith.{name}f {{}}, {{}} : f32", FLOAT, [left, right])
        return _emit(f"arith.{name}i {{}}, {{}} : index", INT, [left, right], bounds(left.node, right.node))

    return function


def _product_bounds(a: Node, b: Node) -> tuple[int, int]:
    corners = [x * y for x in a.bounds for y in b.bounds]
    return min(corners), max(corners)


def _divide(a: Any, b: Any, *, rounding_mode: str | None = None) -> Value:
    if rounding_mode == "floor":
        return _floor_divide(a, b)
    if rounding_mode == "trunc":
        left, right = _together(a, b, least=INT)
        if left.type == INT:
            return _emit("arith.divsi {}, {} : index", INT, [left, right])
        return _emit("math.trunc {} : f32", FLOAT, [_divide(left, right)])
    if rounding_mode is not None:
        raise TraceError(f"expected the rounding mode 'floor' or 'trunc', got {rounding_mode!r}")
    left, right = _together(a, b, least=FLOAT)
    return _emit("arith.divf {}, {} : f32", FLOAT, [left, right])


def _floor_divide(a: Any, b: Any) -> Value:
    left, right = _together(a, b, least=INT)
    if left.type == FLOAT:
        return _emit("math.floor {} : f32", FLOAT, [_divide(left, right)])
    low, high = left.node.bounds
    divisor = right.node.bounds
    bounds = (low // divisor[0], high // divisor[0]) if divisor[0] == divisor[1] and divisor[0] > 0 else ANY
    return _emit("arith.floordivsi {}, {} : index", INT, [left, right], bounds)


def _reversed_sub(a: Any, b: Any, *, alpha: Any = None) -> Value:
    return _sub(b, a, alpha=alpha)


def _remainder(a: Any, b: Any) -> Value:
    """Python's and torch's: the sign is the divisor's."""
    left, right = _together(a, b, least=INT)
    if left.type == FLOAT:
        rest = _emit("arith.remf {}, {} : f32", FLOAT, [left, right])
        crossed = (rest != 0.0) & ((rest < 0.0) ^ (right < 0.0))
        return _where(crossed, rest + right, rest)
    low, high = right.node.bounds
    rest = _emit("arith.remsi {}, {} : index", INT, [left, right], (0, high - 1) if low > 0 else ANY)
    if left.node.bounds[0] >= 0 and low > 0:
        return rest
    rest = _emit("arith.remsi {}, {} : index", INT, [left, right])
    crossed = (rest != 0) & ((rest ^ right) < 0)
    total = _emit("arith.addi {}, {} : index", INT, [rest, right])
    bounds = (0, high - 1) if low > 0 else ANY
    return _emit("arith.select {}, {}, {} : index", INT, [crossed, total, rest], bounds)


def _fmod(a: Any, b: Any) -> Value:
    left, right = _together(a, b, least=INT)
    if left.type == FLOAT:
        return _emit("arith.remf {}, {} : f32", FLOAT, [left, right])
    return _emit("arith.remsi {}, {} : index", INT, [left, right])


def _power(a: Any, b: Any) -> Value:
    if isinstance(b, int) and not isinstance(b, bool) and 1 <= b <= 4:
        result = lift(_graph_of((a,)), a)
        result = to_type(result, INT) if result.type == BOOL else result
        factor = result
        for _ in range(b - 1):
            result = result * factor
        return result
    left, right = _together(a, b, least=INT)
    if left.type == INT:
        return _emit("math.ipowi {}, {} : index", INT, [left, right])
    return _emit("math.powf {}, {} : f32", FLOAT, [left, right])


def _float_power(a: Any, b: Any) -> Value:
    return _power(to_type(lift(_graph_of((a, b)), a), FLOAT), b)


def _bits(name: str) -> Callable[..., Value]:
    def function(a: Any, b: Any) -> Value:
        left, right = _together(a, b)
        if left.type == FLOAT:
            raise TraceError(f"'{name}' of floats: expected integers or bools")
        bounds = ANY
        if left.type == INT and left.node.bounds[0] >= 0 and right.node.bounds[0] >= 0:
            widest = max(left.node.bounds[1], right.node.bounds[1]).bit_length()
            bounds = (0, min(left.node.bounds[1], right.node.bounds[1]) if name == "andi" else 2**widest - 1)
        return _emit(f"arith.{name} {{}}, {{}} : {left.type}", left.type, [left, right], bounds)

    return function


def _logical(name: str) -> Callable[..., Value]:
    def function(a: Any, b: Any) -> Value:
        graph = _graph_of((a, b))
        left, right = (to_type(lift(graph, value), BOOL) for value in (a, b))
        return _emit(f"arith.{name} {{}}, {{}} : i1", BOOL, [left, right])

    return function


def _invert(a: Any) -> Any:
    (value,) = _together(a)
    if value.type == FLOAT:
        raise TraceError("'~' of a float: expected an integer or a bool")
    return value ^ (True if value.type == BOOL else -1)


def _shift(name: str) -> Callable[..., Value]:
    def function(a: Any, b: Any) -> Value:
        left, right = _together(a, b, least=INT)
        if left.type == FLOAT:
            raise TraceError("a shift of floats: expected integers")
        return _emit(f"arith.{name} {{}}, {{}} : index", INT, [left, right])

    return function


def _compare(integer: str, real: str) -> Callable[..., Value]:
    def function(a: Any, b: Any) -> Value:
        left, right = _together(a, b)
        if left.type == FLOAT:
            return _emit(f"arith.cmpf {real}, {{}}, {{}} : f32", BOOL, [left, right])
        if left.type == BOOL and integer in ("eq", "ne"):
            return _emit(f"arith.cmpi {integer}, {{}}, {{}} : i1", BOOL, [left, right])
        left, right = to_type(left, INT), to_type(right, INT)
        return _emit(f"arith.cmpi {integer}, {{}}, {{}} : index", BOOL, [left, right])

    return function


def _extreme(integer: str, real: str, pick: Callable[..., int]) -> Callable[..., Value]:
    def function(a: Any, b: Any) -> Value:
        left, right = _together(a, b, least=INT)
        if left.type == FLOAT:
            return _emit(f"arith.{real} {{}}, {{}} : f32", FLOAT, [left, right])
        (low, high), (other_low, other_high) = left.node.bounds, right.node.bounds
        bounds = (pick(low, other_low), pick(high, other_high))
        return _emit(f"arith.{integer} {{}}, {{}} : index", INT, [left, right], bounds)

    return function


def _where(condition: Any, a: Any, b: Any) -> Value:
    graph = _graph_of((condition, a, b))
    truth = to_type(lift(graph, condition), BOOL)
    left, right = _together(lift(graph, a), b)
    (low, high), (other_low, other_high) = left.node.bounds, right.node.bounds
    bounds = (min(low, other_low), max(high, other_high))
    return _emit(f"arith.select {{}}, {{}}, {{}} : {left.type}", left.type, [truth, left, right], bounds)


def _clamp(a: Any, min: Any = None, max: Any = None) -> Value:
    value = lift(_graph_of((a,)), a)
    if min is not None:
        value = TABLE["maximum"](value, min)
    if max is not None:
        value = TABLE["minimum"](value, max)
    return value


def _absolute(a: Any) -> Value:
    (value,) = _together(a, least=INT)
    if value.type == FLOAT:
        return _emit("math.absf {} : f32", FLOAT, [value])
    low, high = value.node.bounds
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return _emit("math.absi {} : index", INT, [value], ANY if low == ANY[0] else (least, max(abs(low), abs(high))))


def _negate(a: Any) -> Value:
    (value,) = _together(a, least=INT)
    return 0 - value if value.type == INT else _emit("arith.negf {} : f32", FLOAT, [value])


def _real(operation: str) -> Callable[..., Value]:
    """A function of floats, under its name in the dialect `math`."""

    def function(a: Any) -> Value:
        return _emit(f"math.{operation} {{}} : f32", FLOAT, _together(a, least=FLOAT))

    return function


def _rounded(operation: str) -> Callable[..., Value]:
    def function(a: Any) -> Value:
        (value,) = _together(a, least=INT)
        return value if value.type == INT else _real(operation)(value)

    return function


def _test(operation: str) -> Callable[..., Value]:
    def function(a: Any) -> Value:
        return _emit(f"math.{operation} {{}} : f32", BOOL, _together(a, least=FLOAT))

    return function


def _sigmoid(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return 1.0 / (1.0 + _real("exp")(-value))


def _type_as(a: Any, other: Any) -> Value:
    return to_type(_together(a)[0], _together(other)[0].type)


def _greatest(name: str) -> Callable[..., Value]:
    """torch.max and torch.min: of two values, or of one, which is its own."""
    return lambda a, b=None: _together(a)[0] if b is None else TABLE[name](a, b)


def _sign(a: Any) -> Any:
    (value,) = _together(a, least=INT)
    if value.type == FLOAT:
        return to_type(value > 0.0, FLOAT) - to_type(value < 0.0, FLOAT)
    return to_type(value > 0, INT) - to_type(value < 0, INT)


def _to(type: str) -> Callable[..., Value]:
    return lambda a: to_type(_together(a)[0], type)


def _cast(a: Any, dtype: Any = None, **options: Any) -> Value:
    """x.to(torch.int32), x.astype(numpy.float32): by the kind of the type; widths are 64 and 32 here."""
    (value,) = _together(a)
    kind = _kind(dtype)
    if kind is not None:
        return to_type(value, kind)
    if dtype is None or type(dtype).__name__ == "device":
        return value
    raise TraceError(f"expected a type of floats, integers or bools, got {dtype!r}")


def _kind(dtype: Any) -> str | None:
    """The type of values that a type of arrays is read as."""
    name = dtype.__name__ if isinstance(dtype, type) else str(dtype).rpartition(".")[2]
    for part, kind in (("float", FLOAT), ("int", INT), ("long", INT), ("bool", BOOL)):
        if part in name:
            return kind
    return None


def _filled(a: Any, value: Any, dtype: Any) -> Value:
    """A constant, of the type of `a` where none is named."""
    like = lift(_graph_of((a,)), a)
    constant = lift(like.graph, value)
    return to_type(constant, like.type if dtype is None else _kind(dtype) or constant.type)


def _new(value: Any) -> Callable[..., Value]:
    return lambda a, size=(), *, dtype=None, device=None, requires_grad=False: _filled(a, value, dtype)


def _new_full(a: Any, shape: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Value:
    return _filled(a, value, dtype)


def _full_like(a: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Value:
    return _filled(a, value, dtype)


def _detached(a: Any) -> Any:
    detach = getattr(type(a), "detach", None)
    if detach is not None:
        return detach(a)
    (value,) = _together(a)
    return Value(value.graph, value.graph.stopped(value.node))


def _same(a: Any, *inputs: Any, **options: Any) -> Value:
    return _together(a)[0]


_add = _arithmetic("add", lambda a, b: (a.bounds[0] + b.bounds[0], a.bounds[1] + b.bounds[1]))
_sub = _arithmetic("sub", lambda a, b: (a.bounds[0] - b.bounds[1], a.bounds[1] - b.bounds[0]))
_mul = _arithmetic("mul", _product_bounds)

#: Functions by name. Several names are one function: those of numpy, of torch, of methods.
TABLE: dict[str, Callable[..., Value]] = {
    "add": _add, "__add__": _add, "__radd__": _add,
    "sub": _sub, "subtract": _sub, "__sub__": _sub, "rsub": _reversed_sub, "__rsub__": lambda a, b: _sub(b, a),
    "mul": _mul, "multiply": _mul, "__mul__": _mul, "__rmul__": _mul,
    "div": _divide, "divide": _divide, "true_divide": _divide, "truediv": _divide, "__truediv__": _divide,
    "__rtruediv__": lambda a, b: _divide(b, a), "__rdiv__": lambda a, b: _divide(b, a),
    "floor_divide": _floor_divide, "floordiv": _floor_divide, "__floordiv__": _floor_divide,
    "__rfloordiv__": lambda a, b: _floor_divide(b, a),
    "remainder": _remainder, "mod": _remainder, "__mod__": _remainder, "__rmod__": lambda a, b: _remainder(b, a),
    "fmod": _fmod, "pow": _power, "power": _power, "float_power": _float_power, "__pow__": _power,
    "__rpow__": lambda a, b: _power(b, a), "square": lambda a: _mul(a, a),
    "bitwise_and": _bits("andi"), "and_": _bits("andi"), "__and__": _bits("andi"), "__rand__": _bits("andi"),
    "bitwise_or": _bits("ori"), "or_": _bits("ori"), "__or__": _bits("ori"), "__ror__": _bits("ori"),
    "bitwise_xor": _bits("xori"), "xor": _bits("xori"), "__xor__": _bits("xori"), "__rxor__": _bits("xori"),
    "bitwise_not": _invert, "invert": _invert, "__invert__": _invert,
    "logical_and": _logical("andi"), "logical_or": _logical("ori"), "logical_xor": _logical("xori"),
    "logical_not": lambda a: to_type(_together(a)[0], BOOL) ^ True,
    "left_shift": _shift("shli"), "bitwise_left_shift": _shift("shli"), "lshift": _shift("shli"),
    "__lshift__": _shift("shli"), "__rlshift__": lambda a, b: _shift("shli")(b, a),
    "right_shift": _shift("shrsi"), "bitwise_right_shift": _shift("shrsi"), "rshift": _shift("shrsi"),
    "__rshift__": _shift("shrsi"), "__rrshift__": lambda a, b: _shift("shrsi")(b, a),
    "eq": _compare("eq", "oeq"), "equal": _compare("eq", "oeq"), "__eq__": _compare("eq", "oeq"),
    "ne": _compare("ne", "une"), "not_equal": _compare("ne", "une"), "__ne__": _compare("ne", "une"),
    "lt": _compare("slt", "olt"), "less": _compare("slt", "olt"), "__lt__": _compare("slt", "olt"),
    "le": _compare("sle", "ole"), "less_equal": _compare("sle", "ole"), "__le__": _compare("sle", "ole"),
    "gt": _compare("sgt", "ogt"), "greater": _compare("sgt", "ogt"), "__gt__": _compare("sgt", "ogt"),
    "ge": _compare("sge", "oge"), "greater_equal": _compare("sge", "oge"), "__ge__": _compare("sge", "oge"),
    "minimum": _extreme("minsi", "minimumf", min), "fmin": _extreme("minsi", "minnumf", min),
    "maximum": _extreme("maxsi", "maximumf", max), "fmax": _extreme("maxsi", "maxnumf", max),
    "where": _where, "clamp": _clamp, "clip": _clamp, "clamp_min": lambda a, min: _clamp(a, min),
    "clamp_max": lambda a, max: _clamp(a, None, max),
    "abs": _absolute, "absolute": _absolute, "__abs__": _absolute, "fabs": _real("absf"),
    "neg": _negate, "negative": _negate, "__neg__": _negate, "positive": _same, "sign": _sign, "sgn": _sign,
    "exp": _real("exp"), "exp2": _real("exp2"), "expm1": _real("expm1"), "log": _real("log"), "log2": _real("log2"),
    "log10": _real("log10"), "log1p": _real("log1p"), "sqrt": _real("sqrt"), "rsqrt": _real("rsqrt"),
    "cbrt": _real("cbrt"), "sin": _real("sin"), "cos": _real("cos"), "tan": _real("tan"), "asin": _real("asin"),
    "acos": _real("acos"), "atan": _real("atan"), "arcsin": _real("asin"), "arccos": _real("acos"),
    "arctan": _real("atan"), "sinh": _real("sinh"), "cosh": _real("cosh"), "tanh": _real("tanh"),
    "asinh": _real("asinh"), "acosh": _real("acosh"), "atanh": _real("atanh"), "erf": _real("erf"),
    "erfc": _real("erfc"), "sigmoid": _sigmoid, "relu": lambda a: TABLE["maximum"](a, 0),
    "reciprocal": lambda a: _divide(1.0, a),
    "type_as": _type_as, "max": _greatest("maximum"), "min": _greatest("minimum"),
    "floor": _rounded("floor"), "ceil": _rounded("ceil"), "trunc": _rounded("trunc"), "fix": _rounded("trunc"),
    "round": _rounded("roundeven"), "rint": _rounded("roundeven"),
    "isfinite": _test("isfinite"), "isinf": _test("isinf"), "isnan": _test("isnan"),
    "to": _cast, "astype": _cast, "type": _cast,
    "to_float": _to(FLOAT), "to_int": _to(INT), "to_bool": _to(BOOL),
    "float": _to(FLOAT), "int": _to(INT), "long": _to(INT), "bool": _to(BOOL), "half": _to(FLOAT), "bfloat16": _to(FLOAT),
    "new_ones": _new(1), "new_zeros": _new(0), "new_full": _new_full, "ones_like": _new(1), "zeros_like": _new(0),
    "full_like": _full_like, "clone": _same, "contiguous": _same, "detach": _detached,
}  # fmt: skip

#: What torch's functions and methods do in a way of their own, by library, or "method", and name.
OF_LIBRARIES: dict[tuple[str, str], Callable[..., Value]] = {}

#: What torch calls for array[i] and its like, where the array is none that a function reads.
_INDEXING = {"__getitem__", "index_select", "gather", "take", "take_along_dim", "embedding"}

_IN_PLACE = "a traced value cannot be changed in place, since other names of it would not see that"


def is_in_place(name: str) -> bool:
    """Whether a method of torch changes its tensor by a function that is there."""
    return name.endswith("_") and not name.startswith("_") and name not in TABLE and name[:-1] in TABLE


def names() -> list[str]:
    """The functions, for people."""
    return sorted(name for name in TABLE if not name.startswith("_"))


def call(name: str, inputs: tuple[Any, ...], options: dict[str, Any], library: str) -> Any:
    """Calls the function `name`, as `library` knows it, on traced values."""
    vectors = [vector_of(value) for value in inputs]
    if any(vector is not None for vector in vectors) and name != "isin":
        return call_with_vectors(name, inputs, vectors, options, library)
    function = OF_LIBRARIES.get((library, name)) or TABLE.get(name)
    # As people write it.
    library = "x" if library == "method" else library
    if function is None and is_in_place(name):
        raise TraceError(f"{library}.{name}: {_IN_PLACE}: write x = x.{name[:-1]}(…)")
    if function is None and name in _INDEXING:
        raise TraceError(NOT_CAPTURED)
    if function is None:
        raise TraceError(f"{library}.{name} cannot be traced; there are {', '.join(names())}")
    if options.pop("out", None) is not None:
        raise TraceError(f"{library}.{name}: a traced value cannot be written to")
    if options.pop("inplace", False):
        raise TraceError(f"{library}.{name}: {_IN_PLACE}: leave inplace=True out, and go on with what the function returns")
    options = {key: value for key, value in options.items() if value is not None}
    try:
        result = function(*inputs, **options)
    except TypeError as error:
        raise TraceError(f"{library}.{name}: {error}") from None
    return as_traced_now(result)


def constant_or_call(name: str, inputs: tuple[Any, ...]) -> Any:
    """`attnc.where` and its like: on numbers that are known, the number."""
    if any(hasattr(value, "graph") for value in inputs):
        return call(name, inputs, {}, "attnc")
    if name == "where":
        return inputs[1] if inputs[0] else inputs[2]
    graph = Graph()
    if not all(isinstance(value, (bool, int, float)) for value in inputs):
        raise TypeError(f"attnc.{name} is for traced values and numbers, got {type(inputs[0]).__name__}")
    ordinary: dict[str, Callable[..., Any]] = {
        "minimum": min, "maximum": max, "abs": abs, "to_int": int, "to_float": float, "rsqrt": lambda x: x**-0.5,
    }  # fmt: skip
    function = ordinary.get(name) or getattr(math, name, None)
    if function is None:
        return call(name, tuple(lift(graph, value) for value in inputs), {}, "attnc")
    return function(*inputs)
