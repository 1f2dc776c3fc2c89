"""Choices between values as torch and numpy have them: where, masked_fill, select."""

from __future__ import annotations

from typing import Any

from .errors import TraceError
from .functions import OF_LIBRARIES, TABLE, _graph_of, _where, lift
from .graph import BOOL
from .values import Value


def _is_true_or_false(value: Value) -> bool:
    """Whether torch takes it for a condition: a bool, or an element of a tensor of uint8, which once were bools."""
    node = value.node
    return value.type == BOOL or (node.text.startswith("arith.index_cast {} : i32") and node.bounds == (0, 2**8 - 1))


def _where_of_torch(condition: Any, input: Any, other: Any) -> Value:
    truth = lift(_graph_of((condition, input, other)), condition)
    if not _is_true_or_false(truth):
        raise TraceError("the condition of 'where' is a number, expected a bool: compare it, as (x != 0) does")
    return _where(truth, input, other)


def _masked_fill(a: Any, mask: Any, value: Any) -> Value:
    if lift(_graph_of((a, mask, value)), mask).type != BOOL:
        raise TraceError("the mask of 'masked_fill' is a number, expected a bool: compare it, as (x != 0) does")
    return _where(mask, value, a)


def _select(conditions: Any, values: Any, default: Any = 0) -> Value:
    """numpy's: the value of the first condition that holds."""
    if not (isinstance(conditions, (list, tuple)) and isinstance(values, (list, tuple)) and len(conditions) == len(values)):
        raise TraceError("'select' takes a list of conditions and one of as many values, as numpy has it: write where(condition, a, b)")
    result = default
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        result = _where(condition, value, result)
    return lift(_graph_of((*conditions, *values)), result)


TABLE |= {"masked_fill": _masked_fill, "select": _select}
OF_LIBRARIES |= {
    ("torch", "where"): _where_of_torch,
    # Of methods the receiver is the first argument: of x.where(condition, y) it is what is taken where the condition holds.
    ("method", "where"): lambda self, condition, other: _where_of_torch(condition, self, other),
}
