"""What differs between numpy, torch and JAX: where tensors lie, and how one is made. Imports none of them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from ._core import Error

#: Of DLPack's device types.
CPU, CUDA = 1, 2

#: Types of captured arrays that kernels have not, and those that they read them as.
READ_AS = {"float64": "float32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}


def _module(name: str) -> Any:
    """A module that the program has imported. Whoever has a tensor of it has."""
    return sys.modules.get(name)


def is_torch(value: Any) -> bool:
    torch = _module("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_jax(value: Any) -> bool:
    jax = _module("jax")
    return jax is not None and isinstance(value, jax.Array)


def is_numpy(value: Any) -> bool:
    numpy = _module("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_tensor(value: Any) -> bool:
    return is_torch(value) or is_numpy(value) or is_jax(value) or hasattr(value, "__dlpack__")


def dtype_name(value: Any) -> str:
    return str(value.dtype).rpartition(".")[2]


def as_read(array: Any) -> Any:
    """A captured array as kernels take it: a copy, where they have not its type."""
    wanted = READ_AS.get(dtype_name(array))
    if wanted is None:
        return array
    if is_torch(array):
        return array.to(getattr(_module("torch"), wanted))
    # JAX has no types of 64 bits unless it is told so.
    return (_module("numpy").asarray(array) if is_jax(array) else array).astype(wanted)


def device_of(value: Any) -> tuple[int, int]:
    """The DLPack type and the number of the device that a tensor lies on."""
    if is_numpy(value):
        return CPU, 0
    if is_torch(value):
        kind = value.device.type
        if kind == "cpu":
            return CPU, 0
        if kind == "cuda":
            return CUDA, value.device.index
        raise Error(f"expected tensors on the CPU or an NVIDIA GPU, got one on {value.device}")
    if is_jax(value) and isinstance(value, _module("jax").core.Tracer):
        raise Error("an input is traced by JAX, and a kernel by itself takes arrays with values alone")
    kind, number = (int(part) for part in value.__dlpack_device__())
    if is_jax(value) and kind != CPU:
        raise Error("arrays of JAX on a GPU are taken by attnc.jax, whose calls are XLA's; a kernel by itself takes none")
    return kind, number


class _DlpackTensor(ctypes.Structure):
    """DLTensor, as far as its shape."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


#: Where a DLTensor begins in what a capsule holds, by the capsule's name: behind version, context, deleter and flags.
_PLACES_IN_CAPSULES = {b"dltensor": 0, b"dltensor_versioned": 8 + 2 * ctypes.sizeof(ctypes.c_void_p) + 8}


def shape_of(value: Any) -> Sequence[int] | None:
    """The sizes of a tensor, also where DLPack alone has them; None of what is none."""
    if hasattr(value, "shape"):
        return value.shape  # type: ignore[no-any-return]
    if not hasattr(value, "__dlpack__"):
        return None
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = value.__dlpack__()
    pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    for name, place in _PLACES_IN_CAPSULES.items():
        if is_valid(capsule, name):
            tensor = _DlpackTensor.from_address(pointer_in(capsule, name) + place)
            return tuple(tensor.shape[: tensor.ndim])
    # The launch says what it expects.
    return None


def place_of(device: tuple[int, int]) -> str:
    """A device as `Kernel.prepare` takes it: "cpu", "cuda:1"."""
    return "cpu" if device[0] == CPU else f"cuda:{device[1]}"


def check_usable(name: str, value: Any) -> None:
    """Raises where a kernel alone cannot take a tensor: it gives no gradients, and reads elements that lie in memory."""
    if is_torch(value):
        torch = _module("torch")
        if value.layout is not torch.strided:
            raise Error(f"argument '{name}': expected a dense tensor, got one of {value.layout}: to_dense() makes it one")
        if value.device.type not in ("cpu", "cuda"):
            raise Error(f"argument '{name}': expected a tensor on the CPU or an NVIDIA GPU, got one on {value.device}")
        if value.requires_grad and torch.is_grad_enabled():
            raise Error(
                f"argument '{name}' requires grad, and a kernel by itself gives no gradients: "
                "use attnc.torch.flex_attention, call it under torch.no_grad(), or detach the tensor"
            )


def _numpy_dtype(numpy: Any, dtype: str) -> Any:
    if dtype != "bfloat16":
        return numpy.dtype(dtype)
    try:
        import ml_dtypes
    except ImportError:
        raise Error(
            "numpy has bfloat16 by the package ml_dtypes, which is not installed: pip install ml_dtypes, or pass out="
        ) from None
    return numpy.dtype(ml_dtypes.bfloat16)


def empty(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """A tensor for results, of the framework and on the device of `like`. JAX's arrays are made by `finish`."""
    if is_torch(like):
        torch = _module("torch")
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if is_numpy(like) or device_of(like)[0] == CPU:
        try:
            import numpy
        except ImportError:
            raise Error(f"results of type {type(like).__name__} would be arrays of numpy, which is not installed: pass out=") from None
        return numpy.empty(shape, _numpy_dtype(numpy, dtype))
    raise Error(f"results of type {type(like).__name__} cannot be made here: pass out=")


def finish(like: Any, result: Any) -> Any:
    """The result as it is handed to the caller."""
    if is_jax(like) and is_numpy(result):
        return _module("jax").numpy.asarray(result)
    return result
