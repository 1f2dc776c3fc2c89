"""Calls without the dispatcher of torch, where nothing that it does is needed: no gradients, no modes, no tracing.

An operator of torch costs more than a small kernel takes. Plans are kernels by what a call is told apart from its tensors'
contents: what was checked once is not checked again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from .. import _core, _frameworks
from .._jit import kernel_of

#: A kernel, and the DLPack type and number of the device of its tensors.
_Plan = tuple[_core.Kernel, int, int]
_plans: dict[Hashable, _Plan] = {}
_MOST = 4096
_PLAIN = (Tensor, torch.nn.Parameter)
_NUMBERS = (bool, int, float, tuple, type(None))


def is_plain(*tensors: Any) -> bool:
    """Whether nobody but autograd has to see what is done with tensors, and they are what lies in memory."""
    return (
        not torch.compiler.is_compiling()
        and all(type(tensor) in _PLAIN and not tensor.is_neg() for tensor in tensors)
        and (tensors[0].is_cpu or tensors[0].is_cuda)
        and torch._C._len_torch_dispatch_stack() == 0
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
        and torch.autograd.forward_ad._current_level < 0
    )


def are_numbers(*options: Any) -> bool:
    """Whether options are known by their values: a tensor that stands for one may change."""
    return all(type(option) in _NUMBERS for option in options)


def run(key: Hashable, inputs: tuple[Any, ...], heads_first: bool = False) -> Any:
    """The results of a call that was made before with such a key; None where the operator has to be called."""
    try:
        plan = _plans.get(key)
    except TypeError:
        # Options that were never checked, a list say.
        return None
    return None if plan is None else plan[0].call(inputs, plan[1], plan[2], heads_first)


def remember(key: Hashable, text: str, query: Tensor) -> None:
    """Keeps the kernel of a call that has just been made."""
    try:
        known = key in _plans
    except TypeError:
        return
    kind, number = _frameworks.device_of(query)
    if known and _plans[key][1:] == (kind, number):
        return
    if len(_plans) >= _MOST:
        _plans.clear()
    place = "cpu" if kind == _frameworks.CPU else f"cuda:{number}"
    _plans[key] = (kernel_of(text).prepare(place), kind, number)
