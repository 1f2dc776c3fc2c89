"""Specs as functions of tensors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from . import _core, _frameworks
from ._checks import said
from ._context import context
from ._core import Error
from ._explanation import Explanation, check_texts


#: The greatest number of a GPU that the library counts to.
_MOST_DEVICES = 2**31 - 2


def compile(
    spec: str,
    target: str | None = None,
    *,
    name: str = "spec",
    entry: str | None = None,
    schedule: str | None = None,
    backward: bool = False,
) -> Kernel:
    """The kernel of a spec: a function of numpy arrays, torch tensors, or whatever has DLPack's methods.

    spec: the text, as docs/spec.md has it. Its faults are raised here, with the line and a caret.
    target: "cpu", "nvptx", "nvptx:sm_90a", …, compiled before this returns. None is for wherever the tensors of a call
        lie: each device has its kernel from the first call on, or from `prepare`.
    name: what errors call the spec. entry: the function, where there are several.
    schedule: `#attn.schedule<...>` in place of the compiler's. backward: the kernel of the gradients.
    """
    for argument, text in (("spec", spec), ("name", name)):
        if text is None:
            raise TypeError(f"{argument}: expected a text, got NoneType")
    check_texts(spec=spec, name=name, target=target, entry=entry, schedule=schedule)
    for argument, text in (("target", target), ("schedule", schedule)):
        if text == "":
            raise ValueError(f"{argument}: expected a text or None, got ''")
    if not isinstance(backward, bool):
        raise TypeError(f"backward: expected True or False, got {said(backward)}")
    kernel = Kernel(context().read_spec(spec, name, entry), target, schedule, backward)
    if target is not None:
        kernel.prepare()
    return kernel


class Kernel:
    """What `compile` returns. Threads may share it."""

    def __init__(self, spec: _core.Spec, target: str | None, schedule: str | None, backward: bool) -> None:
        self._spec = spec
        self._target = target
        self._schedule = schedule
        self._backward = backward
        self._lock = threading.Lock()
        self._loaded: dict[tuple[int, int] | None, _Loaded] = {}
        #: The kernel that ran last, and the device of its tensors: calls like that one need nothing of Python.
        self._last: tuple[_core.Kernel, int, int] | None = None

    @property
    def spec(self) -> str:
        """The text that it was made of."""
        return self._spec.text

    def explain(self, *, shape: str | None = None, target: str | None = None) -> Explanation:
        """What the compiler decided: see `attnc.explain`."""
        check_texts(shape=shape, target=target)
        wanted = target or self._target or "auto"
        return Explanation(*context().explain(self._spec, wanted, self._schedule, -1, self._backward, shape))

    def prepare(self, device: str | None = None) -> _core.Kernel:
        """Compiles for a device ahead of the first call: "cpu", "cuda" or "cuda:1"; None for the target of `compile`,
        or else for the first GPU, and for the CPU where there is none."""
        if device is None:
            return self._load(None).kernel
        if not isinstance(device, str):
            raise TypeError(f"device: expected a text or None, got {said(device)}")
        kind, _, number = device.partition(":")
        if kind not in ("cpu", "cuda") or not (number or "0").isdecimal() or int(number or "0") > _MOST_DEVICES:
            raise Error(f"expected the device 'cpu', 'cuda' or 'cuda:<number>', got '{device}'")
        place = (_frameworks.CPU, 0) if kind == "cpu" else (_frameworks.CUDA, int(number or "0"))
        return self._load(place).kernel

    def _load(self, device: tuple[int, int] | None) -> _Loaded:
        """The kernel for a device, compiled when it is first asked for."""
        key = None if self._target is not None else device
        loaded = self._loaded.get(key)
        if loaded is not None:
            return loaded
        target, number = self._target or "auto", -1
        if key is not None:
            target, number = ("cpu", -1) if key[0] == _frameworks.CPU else ("nvptx", key[1])
        elif device is not None and device[0] == _frameworks.CUDA:
            number = device[1]
        kernel = context().start(self._spec, target, self._schedule, number, self._backward).wait()
        with self._lock:
            return self._loaded.setdefault(key, _Loaded(kernel))

    def __call__(self, *inputs: Any, out: Any = None, stream: int | None = None, **named: Any) -> Any:
        """The results: one tensor, or a tuple of them, in the framework of the first tensor among the inputs; arrays of numpy where
        that is none of numpy, torch and JAX and lies on the CPU.

        inputs: in the order of the spec; the last of them may be given by their names.
        out: a tensor, or a sequence of them, to write to. stream: a CUDA stream, as a number, in place of the one that
        the framework works on.
        """
        last = self._last
        if last is not None and out is None and stream is None and not named:
            results = last[0].call(inputs, last[1], last[2])
            if results is not None:
                return results
        given = (*inputs, *named.values())
        first = next((value for value in given if _frameworks.is_tensor(value)), None)
        if first is None:
            raise Error("expected tensors among the inputs, got none")
        device = _frameworks.device_of(first)
        loaded = self._load(device)
        if self._last is None or self._last[1:] != device:
            self._last = (loaded.kernel, *device)
        results = loaded.outputs
        values = [_as_input(*pair) for pair in zip(loaded.inputs, _order(loaded, inputs, named), strict=True)]
        if out is None:
            sizes = bind(loaded.inputs, values)
            written = [_frameworks.empty(first, shape_of(argument, sizes), argument.dtype) for argument in results]
        else:
            written = list(out) if isinstance(out, (tuple, list)) else [out]
            if len(written) != len(results):
                names = ", ".join(f"'{argument.name}'" for argument in results)
                raise Error(f"out: expected {len(results)} tensors, for {names}, got {len(written)}")
            for argument, value in zip(results, written, strict=True):
                if _frameworks.is_jax(value):
                    raise Error(f"argument '{argument.name}': arrays of JAX cannot be written to")
                _frameworks.check_usable(argument.name, value)
        loaded.kernel.launch((*values, *written), _stream_number(stream))
        if out is not None:
            return out
        finished = tuple(_frameworks.finish(first, value) for value in written)
        return finished[0] if len(finished) == 1 else finished


def _stream_number(stream: Any) -> int | None:
    """A CUDA stream as the launch takes it."""
    if stream is None or (isinstance(stream, int) and not isinstance(stream, bool) and 0 <= stream < 2**64):
        return stream
    raise TypeError(f"stream: expected the number of a CUDA stream, or None, got {said(stream)}")


class _Loaded:
    """A kernel on one device, with what calls ask of it each time."""

    def __init__(self, kernel: _core.Kernel) -> None:
        self.kernel = kernel
        self.inputs = [argument for argument in kernel.arguments if not argument.is_output]
        self.outputs = [argument for argument in kernel.arguments if argument.is_output]
        self.names = [argument.name for argument in self.inputs]


def _order(loaded: _Loaded, inputs: tuple[Any, ...], named: dict[str, Any]) -> Sequence[Any]:
    """The inputs in the order of the spec."""
    names, function = loaded.names, loaded.kernel.name
    if not named and len(inputs) == len(names):
        return inputs
    for name in named:
        if name not in names:
            raise TypeError(f"{function}() got an unexpected argument '{name}'; it takes {', '.join(names)}")
        if names.index(name) < len(inputs):
            raise TypeError(f"{function}() got argument '{name}' twice")
    missing = [name for name in names[len(inputs) :] if name not in named]
    if missing or len(inputs) > len(names):
        raise TypeError(f"{function}() takes {len(names)} inputs ({', '.join(names)}), got {len(inputs) + len(named)}")
    return [*inputs, *(named[name] for name in names[len(inputs) :])]


def _as_input(argument: _core.Argument, value: Any) -> Any:
    """The input as the launch takes it: numbers as Python has them."""
    if argument.is_tensor:
        if not _frameworks.is_tensor(value):
            raise TypeError(f"argument '{argument.name}': expected an array or a tensor, got {type(value).__name__}")
        _frameworks.check_usable(argument.name, value)
    elif not isinstance(value, (int, float)) and hasattr(value, "item"):
        return value.item()
    return value


def bind(arguments: Sequence[_core.Argument], values: Sequence[Any]) -> dict[str, int]:
    """The sizes of a call, by symbol. What does not agree with them is found by the launch."""
    sizes: dict[str, int] = {}
    for argument, value in zip(arguments, values, strict=True):
        shape = _frameworks.shape_of(value) if argument.is_tensor else None
        if shape is None:
            continue
        if len(shape) != len(argument.dims):
            raise Error(f"argument '{argument.name}': expected rank {len(argument.dims)}, got {len(shape)}")
        for dim, size in zip(argument.dims, shape, strict=True):
            if dim.symbol is not None and not (dim.broadcast and size == 1):
                sizes.setdefault(dim.symbol, (int(size) - dim.extra) * dim.unit)
    return sizes


def shape_of(argument: _core.Argument, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of a result."""
    shape = []
    for dim in argument.dims:
        size = dim.size if dim.size is not None else sizes.get(dim.symbol or "")
        if size is None:
            raise Error(f"result '{argument.name}': no input says how large {dim.symbol} is; pass out=")
        shape.append(size)
    return tuple(shape)
