"""What scalar operations of arith and math mean, element by element, in numpy.

Written from docs/spec.md and the operations' own definitions, independently of dialect/reference/Reference*.cpp, which it is
there to check. Integers are int64 arrays that hold the signed value (a set i1 is -1). Floats are float64 arrays where
`Precision.EXACT`, and else rounded to their type after each operation, as the plain baseline is.
"""

from __future__ import annotations

import enum
import math

import numpy as np

WIDTHS = {"index": 64}
FLOATS = ("f16", "bf16", "f32", "f64")


class Precision(enum.Enum):
    EXACT = 0
    BASELINE = 1


def width_of(type_name: str) -> int:
    """Bits of an integer type; `index` has 64 (S17)."""
    return 64 if type_name == "index" else int(type_name[1:])


def is_float(type_name: str) -> bool:
    return type_name in FLOATS


def wrap(value: np.ndarray, width: int) -> np.ndarray:
    """The signed number that the lowest `width` bits of `value` are."""
    value = np.asarray(value)
    if value.dtype == np.uint64:
        value = value.view(np.int64)
    if width >= 64:
        return value.astype(np.int64)
    unused = np.int64(64 - width)
    return np.right_shift(np.left_shift(value.astype(np.int64), unused), unused)


def unsigned(value: np.ndarray, width: int) -> np.ndarray:
    """The lowest `width` bits of `value` as a number from 0 on."""
    bits = np.ascontiguousarray(value, dtype=np.int64).view(np.uint64)
    return bits if width >= 64 else bits & np.uint64((1 << width) - 1)


def round_to_tf32(value: np.ndarray) -> np.ndarray:
    """`value` rounded to the eleven bits of TF32, in float32."""
    single = np.asarray(value, dtype=np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x0FFF + ((bits >> np.uint64(13)) & np.uint64(1))) & np.uint64(0xFFFFE000)
    return np.where(np.isfinite(single), bits.astype(np.uint32).view(np.float32), single)


def cut_to_tf32(value: np.ndarray) -> np.ndarray:
    """`value` without what TF32 does not hold, in float32."""
    single = np.asarray(value, dtype=np.float32)
    return np.where(np.isfinite(single), (single.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32), single)


def multiply_to_tf32(value: np.ndarray) -> np.ndarray:
    """`value` rounded to TF32 as GPU kernels do it, in float32: a product adds half a unit of the eleventh bit to the mean
    mantissa, and tensor cores cut off what is behind (docs/rationale/warps.md)."""
    with np.errstate(over="ignore"):
        return cut_to_tf32(np.asarray(value, dtype=np.float32) * np.float32(1 + 2.0**-11 / 1.4427))


def round_to(value: np.ndarray, type_name: str) -> np.ndarray:
    """`value` rounded to a float type, in its shape; f32 arrays stay float32, narrower types are held in float32."""
    if type_name == "f64":
        return np.asarray(value, dtype=np.float64)
    if type_name == "f32":
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=np.float32)
    if type_name == "f16":
        return np.asarray(value, dtype=np.float16).astype(np.float32)
    single = np.asarray(value, dtype=np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    rounded = bits.astype(np.uint32).view(np.float32)
    return np.where(np.isnan(single), single, rounded)


def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray, type_name: str) -> np.ndarray:
    """a * b + c rounded once to a float type of up to 32 bits, or as f64 computes it.

    What f64 drops of the sum decides where the rest lies halfway between two numbers of the type. So the sum is cut towards
    zero, and its last bit set where anything was dropped.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (a, b, c)))
    product = a * b
    total = product + c
    if type_name == "f64":
        return total
    larger, smaller = np.where(np.abs(product) >= np.abs(c), (product, c), (c, product))
    dropped = np.where(np.isfinite(total), smaller - (total - larger), 0.0)
    cut = np.where((dropped != 0) & ((dropped < 0) == (total > 0)), np.nextafter(total, 0.0), total)
    marked = (np.ascontiguousarray(cut).view(np.int64) | 1).view(np.float64).reshape(cut.shape)
    return round_to(np.where(dropped != 0, marked, total), type_name)


# --- Integers ---------------------------------------------------------------------------------------------------------


def _quotients(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quotient rounded down, remainder of it, and where the quotient is as it is (b neither 0 nor -1)."""
    plain = (b != 0) & (b != -1)
    divisor = np.where(plain, b, 1)
    quotient = a // divisor
    return quotient, a - quotient * divisor, plain


def _divide(a: np.ndarray, b: np.ndarray, width: int, rounding: str) -> np.ndarray:
    """Signed division: by zero gives 0, by -1 negates, which wraps for the most negative number."""
    down, rest, plain = _quotients(a, b)
    inexact = rest != 0
    if rounding == "zero":
        down = down + (inexact & ((a < 0) != (b < 0)))
    elif rounding == "up":
        down = down + inexact
    return wrap(np.where(plain, down, np.where(b == 0, 0, -a)), width)


def _remainder(a: np.ndarray, b: np.ndarray, width: int) -> np.ndarray:
    """The remainder of the division that rounds to zero: by zero it is the dividend, by -1 it is 0."""
    _, rest, plain = _quotients(a, b)
    rest = np.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)
    return wrap(np.where(plain, rest, np.where(b == 0, a, 0)), width)


def _divide_unsigned(a: np.ndarray, b: np.ndarray, width: int, up: bool) -> np.ndarray:
    n, d = unsigned(a, width), unsigned(b, width)
    divisor = np.where(d == 0, np.uint64(1), d)
    quotient = n // divisor
    if up:
        quotient = quotient + (n % divisor != 0).astype(np.uint64)
    return wrap(np.where(d == 0, np.uint64(0), quotient), width)


def _remainder_unsigned(a: np.ndarray, b: np.ndarray, width: int) -> np.ndarray:
    n, d = unsigned(a, width), unsigned(b, width)
    return wrap(np.where(d == 0, n, n % np.where(d == 0, np.uint64(1), d)), width)


def _shift(a: np.ndarray, b: np.ndarray, width: int, kind: str) -> np.ndarray:
    """Shifts by the width or more give 0, and the sign where it is kept."""
    amount = unsigned(b, width)
    over = amount >= np.uint64(width)
    amount = np.where(over, np.uint64(0), amount)
    if kind == "left":
        shifted = np.left_shift(unsigned(a, 64), amount).view(np.int64)
        return wrap(np.where(over, 0, shifted), width)
    if kind == "right":
        shifted = np.right_shift(unsigned(a, width), amount).view(np.int64)
        return wrap(np.where(over, 0, shifted), width)
    shifted = np.right_shift(a, amount.astype(np.int64))
    return wrap(np.where(over, np.where(a < 0, -1, 0), shifted), width)


def _power(base: np.ndarray, exponent: np.ndarray, width: int) -> np.ndarray:
    """Where the exponent is negative, what is left of the exact quotient 1 / base^-e when rounded to zero."""
    base, exponent = np.broadcast_arrays(base, exponent)
    result, square = np.ones_like(base), base.copy()
    left = np.where(exponent < 0, 0, exponent)
    while np.any(left):
        result = np.where(left & 1, result * square, result)
        square = square * square
        left = left >> 1
    odd = np.where(exponent & 1, -1, 1)
    negative = np.where(base == 1, 1, np.where(base == -1, odd, 0))
    return wrap(np.where(exponent < 0, negative, result), width)


def _count_bits(value: np.ndarray) -> np.ndarray:
    count = np.zeros(value.shape, dtype=np.int64)
    for shift in range(64):
        count += ((value >> np.uint64(shift)) & np.uint64(1)).astype(np.int64)
    return count


def _leading_zeros(value: np.ndarray, width: int) -> np.ndarray:
    smeared = value.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        smeared |= smeared >> np.uint64(shift)
    return width - _count_bits(smeared)


def _trailing_zeros(value: np.ndarray, width: int) -> np.ndarray:
    lowest = value & (~value + np.uint64(1))
    return np.where(value == 0, width, _count_bits(lowest - np.uint64(1)))


INTEGER_BINARY = {
    "arith.addi": lambda a, b, w: wrap(a + b, w),
    "arith.subi": lambda a, b, w: wrap(a - b, w),
    "arith.muli": lambda a, b, w: wrap(a * b, w),
    "arith.divsi": lambda a, b, w: _divide(a, b, w, "zero"),
    "arith.floordivsi": lambda a, b, w: _divide(a, b, w, "down"),
    "arith.ceildivsi": lambda a, b, w: _divide(a, b, w, "up"),
    "arith.remsi": _remainder,
    "arith.divui": lambda a, b, w: _divide_unsigned(a, b, w, up=False),
    "arith.ceildivui": lambda a, b, w: _divide_unsigned(a, b, w, up=True),
    "arith.remui": _remainder_unsigned,
    "arith.andi": lambda a, b, w: a & b,
    "arith.ori": lambda a, b, w: a | b,
    "arith.xori": lambda a, b, w: a ^ b,
    "arith.maxsi": lambda a, b, w: np.maximum(a, b),
    "arith.minsi": lambda a, b, w: np.minimum(a, b),
    "arith.maxui": lambda a, b, w: np.where(unsigned(a, w) < unsigned(b, w), b, a),
    "arith.minui": lambda a, b, w: np.where(unsigned(a, w) < unsigned(b, w), a, b),
    "arith.shli": lambda a, b, w: _shift(a, b, w, "left"),
    "arith.shrui": lambda a, b, w: _shift(a, b, w, "right"),
    "arith.shrsi": lambda a, b, w: _shift(a, b, w, "sign"),
    "math.ipowi": _power,
}

INTEGER_UNARY = {
    "math.absi": lambda a, w: wrap(np.where(a < 0, -a, a), w),
    "math.ctpop": lambda a, w: wrap(_count_bits(unsigned(a, w)), w),
    "math.ctlz": lambda a, w: wrap(_leading_zeros(unsigned(a, w), w), w),
    "math.cttz": lambda a, w: wrap(_trailing_zeros(unsigned(a, w), w), w),
}

INTEGER_PREDICATES = {
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "slt": lambda a, b, w: a < b,
    "sle": lambda a, b, w: a <= b,
    "sgt": lambda a, b, w: a > b,
    "sge": lambda a, b, w: a >= b,
    "ult": lambda a, b, w: unsigned(a, w) < unsigned(b, w),
    "ule": lambda a, b, w: unsigned(a, w) <= unsigned(b, w),
    "ugt": lambda a, b, w: unsigned(a, w) > unsigned(b, w),
    "uge": lambda a, b, w: unsigned(a, w) >= unsigned(b, w),
}


def truth(condition: np.ndarray) -> np.ndarray:
    """Truth values as i1 numbers."""
    return -np.asarray(condition).astype(np.int64)


# --- Floats -----------------------------------------------------------------------------------------------------------

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _round_away(a: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)), a)


FLOAT_UNARY = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda a: 1 / np.sqrt(a),
    "math.cbrt": np.cbrt,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.asin": np.arcsin,
    "math.acos": np.arccos,
    "math.atan": np.arctan,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.tanh": np.tanh,
    "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh,
    "math.atanh": np.arctanh,
    "math.erf": _erf,
    "math.erfc": _erfc,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.round": _round_away,
    "math.roundeven": np.rint,
}

FLOAT_BINARY = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.powf": np.power,
    "math.atan2": np.arctan2,
    "math.copysign": np.copysign,
}

FLOAT_TESTS = {"math.isnan": np.isnan, "math.isinf": np.isinf, "math.isfinite": np.isfinite}


def _unordered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.isnan(a) | np.isnan(b)


FLOAT_PREDICATES = {
    "false": lambda a, b: np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=bool),
    "true": lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), dtype=bool),
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~_unordered(a, b),
    "ueq": lambda a, b: (a == b) | _unordered(a, b),
    "ugt": lambda a, b: (a > b) | _unordered(a, b),
    "uge": lambda a, b: (a >= b) | _unordered(a, b),
    "ult": lambda a, b: (a < b) | _unordered(a, b),
    "ule": lambda a, b: (a <= b) | _unordered(a, b),
    "une": lambda a, b: a != b,
    "uno": _unordered,
}


def to_float(value: np.ndarray, width: int, type_name: str, signed: bool, precision: Precision) -> np.ndarray:
    number = value if signed else unsigned(value, width)
    if precision is Precision.EXACT:
        return number.astype(np.float64)
    # By way of a double, a number past 2^53 is rounded twice: near enough for a baseline.
    return number.astype(np.float32) if type_name == "f32" else round_to(number.astype(np.float64), type_name)


def to_integer(value: np.ndarray, width: int, signed: bool) -> np.ndarray:
    """Rounds to zero; what the type cannot hold becomes its nearest end, and NaN becomes 0."""
    number = np.trunc(np.nan_to_num(np.asarray(value, dtype=np.float64), nan=0.0, posinf=1e300, neginf=-1e300))
    if signed:
        limit = 2.0 ** (width - 1)
        inside = np.clip(number, -limit, np.nextafter(limit, 0))
        return wrap(np.where(number >= limit, (1 << (width - 1)) - 1, inside.astype(np.int64)), width)
    limit = 2.0**width
    inside = np.clip(number, 0, np.nextafter(limit, 0)).astype(np.uint64)
    return wrap(np.where(number >= limit, np.uint64((1 << width) - 1), inside), width)


def bits_to_float(value: np.ndarray, type_name: str, precision: Precision) -> np.ndarray:
    number = value.astype(np.int32).view(np.float32) if type_name == "f32" else np.ascontiguousarray(value).view(np.float64)
    return number.astype(np.float64) if precision is Precision.EXACT else number


def float_to_bits(value: np.ndarray, type_name: str) -> np.ndarray:
    if type_name == "f32":
        return np.ascontiguousarray(value, dtype=np.float32).view(np.int32).astype(np.int64)
    return np.ascontiguousarray(value, dtype=np.float64).view(np.int64)
