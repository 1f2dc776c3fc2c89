"""Calls without the dispatcher of torch, where nothing that it does is needed: no gradients, no modes, no tracing.

An operator of torch costs more than a small kernel takes. Plans are kernels by what a call is told apart from its tensors'
contents: what was checked once is not checked again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from .. import _frameworks
from .._jit import kernel_of

class Plans:
    """What is known of calls by keys; few enough of them. Keys with what has no hash, options that were never checked say,
    are not known."""

    MOST = 4096

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def find(self, key: Hashable) -> Any:
        """What is known; None where nothing is."""
        try:
            return self._known.get(key)
        except TypeError:
            return None

    def keep(self, key: Hashable, plan: Any) -> None:
        if len(self._known) >= self.MOST:
            self._known.clear()
        try:
            self._known[key] = plan
        except TypeError:
            pass


#: A kernel, and the DLPack type and number of the device of its tensors.
_plans = Plans()
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


def is_read(tensor: Tensor) -> bool:
    """Whether what a tensor holds may be looked at: nobody waits for a GPU."""
    return tensor.is_cpu and is_plain(tensor)


def are_numbers(*options: Any) -> bool:
    """Whether options are known by their values: a tensor that stands for one may change."""
    return all(type(option) in _NUMBERS for option in options)


def are_flags(*options: Any) -> bool:
    """Whether options are what they should be: keys do not tell 1 from True."""
    return all(option is True or option is False for option in options)


def run(key: Hashable, inputs: tuple[Any, ...], heads_first: bool = False) -> Any:
    """The results of a call that was made before with such a key; None where the operator has to be called."""
    plan = _plans.find(key)
    return None if plan is None else plan[0].call(inputs, *plan[1], heads_first)


def remember(key: Hashable, text: str, query: Tensor) -> None:
    """Keeps the kernel of a call that has just been made."""
    plan, device = _plans.find(key), _frameworks.device_of(query)
    if plan is None or plan[1] != device:
        _plans.keep(key, (kernel_of(text).prepare(_frameworks.place_of(device)), device))
