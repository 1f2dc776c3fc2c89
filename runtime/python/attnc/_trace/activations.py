"""Functions of torch and numpy that others are made of: activations, and what is short for several operations."""

from __future__ import annotations

import math
from typing import Any

from .functions import TABLE, _clamp, _real, _together, _where
from .graph import FLOAT

#: The greatest number of float32.
_GREATEST = (2 - 2.0**-23) * 2.0**127


def _silu(a: Any, inplace: bool = False) -> Any:
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


def _mish(a: Any, inplace: bool = False) -> Any:
    (value,) = _together(a, least=FLOAT)
    return value * _real("tanh")(_softplus(value))


def _leaky_relu(a: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _where(value > 0, value, value * negative_slope)


def _elu(a: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    (value,) = _together(a, least=FLOAT)
    return _where(value > 0, value, _real("expm1")(TABLE["minimum"](value, 0.0)) * alpha)


def _hardtanh(a: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
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


TABLE |= {
    "silu": _silu, "gelu": _gelu, "softplus": _softplus, "mish": _mish, "leaky_relu": _leaky_relu, "elu": _elu,
    "hardtanh": _hardtanh, "relu6": lambda a, inplace=False: _hardtanh(a, 0.0, 6.0), "frac": _frac, "lerp": _lerp, "hypot": _hypot,
    "nan_to_num": _nan_to_num,
}  # fmt: skip
