"""Functions of torch and numpy that others are made of: activations, and what is short for several operations."""

from __future__ import annotations

import math
from typing import Any

from .errors import TraceError
from .functions import TABLE, _clamp, _real, _together, _where
from .graph import FLOAT, INT
from .vectors import MOST

#: The greatest number of float32.
_GREATEST = (2 - 2.0**-23) * 2.0**127


def _silu(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value * TABLE["sigmoid"](value)


def _gelu(a: Any, approximate: str = "none") -> Any:
    (value,) = _together(a, least=FLOAT)
    if approximate == "tanh":
        return 0.5 * value * (1.0 + _real("tanh")((2 / math.pi) ** 0.5 * (value + 0.044715 * value * value * value)))
    return 0.5 * value * (1.0 + _real("erf")(value * 0.5**0.5))


def _softplus(a: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    (value,) = _together(a, least=FLOAT)
    scaled = value * beta
    return _where(scaled > threshold, value, _real("log1p")(_real("exp")(TABLE["minimum"](scaled, threshold))) / beta)


def _mish(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value * _real("tanh")(_softplus(value))


def _leaky_relu(a: Any, negative_slope: float = 0.01) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _where(value > 0, value, value * negative_slope)


def _elu(a: Any, alpha: float = 1.0) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _where(value > 0, value, _real("expm1")(TABLE["minimum"](value, 0.0)) * alpha)


def _hardtanh(a: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _clamp(value, min_val, max_val)


def _frac(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value - TABLE["trunc"](value)


def _lerp(a: Any, end: Any, weight: Any) -> Any:
    start, end, weight = _together(a, end, weight, least=FLOAT)
    return start + weight * (end - start)


def _hypot(a: Any, b: Any) -> Any:
    """Of the greater and the part of it that the less is: squares of numbers from 2^64 on are beyond float32."""
    x, y = (TABLE["abs"](value) for value in _together(a, b, least=FLOAT))
    most, least = TABLE["maximum"](x, y), TABLE["minimum"](x, y)
    part = least / _where(most > 0, most, 1.0)
    return most * _real("sqrt")(1.0 + part * part)


def _nan_to_num(a: Any, nan: float = 0.0, posinf: float = _GREATEST, neginf: float = -_GREATEST) -> Any:
    (value,) = _together(a, least=FLOAT)
    number = _where(TABLE["isnan"](value), nan, value)
    return _where(value == math.inf, posinf, _where(value == -math.inf, neginf, number))


def _logaddexp(a: Any, b: Any) -> Any:
    x, y = _together(a, b, least=FLOAT)
    # Of equal infinities the difference is NaN.
    apart = TABLE["abs"](_where(x == y, 0.0, x - y))
    return TABLE["maximum"](x, y) + _real("log1p")(_real("exp")(-apart))


def _logsigmoid(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return -_softplus(-value)


def _celu(a: Any, alpha: float = 1.0) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _where(value > 0, value, _real("expm1")(TABLE["minimum"](value, 0.0) / alpha) * alpha)


def _selu(a: Any) -> Any:
    return _elu(a, 1.6732632423543772) * 1.0507009873554805


def _softsign(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value / (1.0 + TABLE["abs"](value))


def _tanhshrink(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value - _real("tanh")(value)


def _hardsigmoid(a: Any) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _clamp(value + 3.0, 0.0, 6.0) / 6.0


def _heaviside(a: Any, values: Any) -> Any:
    x, at_zero = _together(a, values, least=INT)
    return _where(x == 0, at_zero, x > 0)


def _addcmul(a: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return TABLE["add"](a, TABLE["mul"](tensor1, tensor2), alpha=value)


def _addcdiv(a: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return TABLE["add"](a, TABLE["div"](tensor1, tensor2), alpha=value)


def _isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Of a few numbers, or of a short array."""
    if isinstance(test_elements, (list, tuple, set, frozenset, range)):
        among = list(test_elements)
    elif getattr(test_elements, "shape", None) == ():
        among = [test_elements]
    elif len(getattr(test_elements, "shape", ())) == 1 and test_elements.shape[0] <= MOST:
        among = [test_elements[place] for place in range(test_elements.shape[0])]
    else:
        raise TraceError(f"'isin': expected up to {MOST} numbers, or an array of one dimension with as many")
    found: Any = TABLE["zeros_like"](elements, dtype=bool)
    for element in among:
        found = found | TABLE["eq"](elements, element)
    return ~found if invert else found


TABLE |= {
    "silu": _silu, "gelu": _gelu, "softplus": _softplus, "mish": _mish, "leaky_relu": _leaky_relu, "elu": _elu,
    "hardtanh": _hardtanh, "relu6": lambda a: _hardtanh(a, 0.0, 6.0), "frac": _frac, "lerp": _lerp, "hypot": _hypot,
    "nan_to_num": _nan_to_num, "logaddexp": _logaddexp, "logsigmoid": _logsigmoid, "log_sigmoid": _logsigmoid,
    "celu": _celu, "selu": _selu, "softsign": _softsign, "tanhshrink": _tanhshrink, "hardsigmoid": _hardsigmoid,
    "hardswish": lambda a: TABLE["mul"](a, _hardsigmoid(a)), "expit": TABLE["sigmoid"], "special_expit": TABLE["sigmoid"],
    "heaviside": _heaviside, "addcmul": _addcmul, "addcdiv": _addcdiv, "isin": _isin,
}  # fmt: skip
