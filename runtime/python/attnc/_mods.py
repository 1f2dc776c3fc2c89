"""Functions for score and mask functions, and masks made of masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._trace.functions import constant_or_call

MaskMod = Callable[[Any, Any, Any, Any], Any]
ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]


def _function(name: str, text: str, count: int = 1) -> Callable[..., Any]:
    def function(*inputs: Any) -> Any:
        if len(inputs) != count:
            raise TypeError(f"attnc.{name} takes {count} arguments, got {len(inputs)}")
        return constant_or_call(name, inputs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


where = _function("where", "a where the condition holds, else b.", 3)
minimum = _function("minimum", "The lesser of two.", 2)
maximum = _function("maximum", "The greater of two.", 2)
exp = _function("exp", "e to a power.")
exp2 = _function("exp2", "2 to a power.")
log = _function("log", "The natural logarithm.")
log2 = _function("log2", "The logarithm to base 2.")
sqrt = _function("sqrt", "The square root.")
rsqrt = _function("rsqrt", "1 over the square root.")
sin = _function("sin", "The sine.")
cos = _function("cos", "The cosine.")
tanh = _function("tanh", "The hyperbolic tangent.")
floor = _function("floor", "The next integer below, as a float.")
to_int = _function("to_int", "The number rounded to zero, as an integer.")
to_float = _function("to_float", "The number as a float.")


def noop_mask(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    """Keeps every key."""
    return kv_idx >= 0


def _joined(name: str, masks: tuple[MaskMod, ...], join: Callable[[Any, Any], Any], of_none: bool) -> MaskMod:
    """of_none: what there is where there are no masks."""
    for mask in masks:
        if not callable(mask):
            raise TypeError(f"attnc.{name}: expected functions of (b, h, q_idx, kv_idx), got {type(mask).__name__}")

    def mask_mod(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = masks[0](b, h, q_idx, kv_idx) if masks else (kv_idx >= 0) == of_none
        for mask in masks[1:]:
            result = join(result, mask(b, h, q_idx, kv_idx))
        return result

    return mask_mod


def and_masks(*masks: MaskMod) -> MaskMod:
    """Keeps the keys that every mask keeps; without masks all."""
    return _joined("and_masks", masks, lambda a, b: a & b, True)


def or_masks(*masks: MaskMod) -> MaskMod:
    """Keeps the keys that some mask keeps; without masks none."""
    return _joined("or_masks", masks, lambda a, b: a | b, False)


def times(score_mod: ScoreMod | None, factor: float) -> ScoreMod:
    """A score function's scores, or those that there are without one, times a number."""

    def scaled(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return (score if score_mod is None else score_mod(score, b, h, q_idx, kv_idx)) * factor

    return scaled
