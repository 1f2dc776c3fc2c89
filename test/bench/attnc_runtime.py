"""Kernel images of attnc on tensors of PyTorch: libattnc-runtime.so (attnc.h) through ctypes.

    kernel = Kernel(pathlib.Path("llama3.image").read_bytes())
    kernel(q, k, v, out, lse)  # the inputs, then the results; on PyTorch's current stream
"""

from __future__ import annotations

import ctypes
import pathlib
from typing import Any, Sequence

HERE = pathlib.Path(__file__).resolve().parent

# In an installation, then in a build tree.
LIBRARIES = (HERE / "../../../lib/libattnc-runtime.so", HERE / "../../build/release/lib/libattnc-runtime.so")

TENSOR, INTEGER, REAL = 0, 1, 2

# attnc_dtype, by the names of PyTorch.
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3, "bool": 4, "int8": 5, "int32": 6, "int64": 7}


class AttncError(RuntimeError):
    """What the library says went wrong."""


class CTensor(ctypes.Structure):
    """attnc_tensor"""

    _fields_ = (
        ("address", ctypes.c_uint64),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    )


class CAs(ctypes.Union):
    """The members of attnc_value that `kind` tells apart."""

    _fields_ = (("tensor", CTensor), ("integer", ctypes.c_int64), ("real", ctypes.c_double))


class CValue(ctypes.Structure):
    """attnc_value"""

    _fields_ = (("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("as_", CAs))


class CLoadOptions(ctypes.Structure):
    """attnc_load_options"""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("image", ctypes.c_char_p),
        ("image_bytes", ctypes.c_size_t),
        ("device", ctypes.c_int32),
    )


class CLaunchOptions(ctypes.Structure):
    """attnc_launch_options"""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("values", ctypes.POINTER(CValue)),
        ("num_values", ctypes.c_size_t),
        ("value_size", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("workspace", ctypes.c_uint64),
    )


class CKernelInfo(ctypes.Structure):
    """attnc_kernel_info"""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("num_arguments", ctypes.c_size_t),
        ("num_entries", ctypes.c_size_t),
        ("resident_bytes", ctypes.c_uint64),
        ("registers", ctypes.c_int32),
        ("spill_bytes", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int64),
        ("threads", ctypes.c_int32),
    )


class Library:
    """libattnc-runtime.so. Its functions raise `AttncError`."""

    def __init__(self, path: str | pathlib.Path | None = None) -> None:
        places = [pathlib.Path(path)] if path else [place for place in LIBRARIES if place.exists()]
        if not places:
            raise AttncError("there is no libattnc-runtime.so at " + " or ".join(str(place) for place in LIBRARIES))
        self.functions = ctypes.CDLL(str(places[0].resolve()))
        pointer = ctypes.c_void_p
        signatures: dict[str, tuple[Any, list[Any]]] = {
            "attnc_version": (ctypes.c_char_p, []),
            "attnc_kernel_load": (pointer, [ctypes.POINTER(CLoadOptions), ctypes.POINTER(pointer)]),
            "attnc_kernel_destroy": (None, [pointer]),
            "attnc_kernel_get_info": (pointer, [pointer, ctypes.POINTER(CKernelInfo)]),
            "attnc_kernel_get_workspace": (
                pointer, [pointer, ctypes.POINTER(CLaunchOptions), ctypes.POINTER(ctypes.c_uint64)]
            ),
            "attnc_kernel_launch": (pointer, [pointer, ctypes.POINTER(CLaunchOptions)]),
            "attnc_error_message": (ctypes.c_char_p, [pointer]),
            "attnc_error_destroy": (None, [pointer]),
        }
        for name, (result, arguments) in signatures.items():
            function = getattr(self.functions, name)
            function.restype, function.argtypes = result, arguments

    def version(self) -> str:
        return self.functions.attnc_version().decode()

    def check(self, error: int | None) -> None:
        """Raises what `error`, a result of the library, says."""
        if not error:
            return
        message = self.functions.attnc_error_message(error).decode()
        self.functions.attnc_error_destroy(error)
        raise AttncError(message)


def describe(value: Any) -> CValue:
    """A tensor of PyTorch, an integer or a real number as an argument. What it points to lives as long as it does."""
    described = CValue()
    if isinstance(value, (bool, int)):
        described.kind, described.as_.integer = INTEGER, int(value)
    elif isinstance(value, float):
        described.kind, described.as_.real = REAL, value
    else:
        rank = value.dim()
        sizes, strides = (ctypes.c_int64 * rank)(*value.shape), (ctypes.c_int64 * rank)(*value.stride())
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in DTYPES:
            raise AttncError(f"attnc has no element type {dtype}")
        described.kind = TENSOR
        described.as_.tensor = CTensor(
            value.data_ptr(), DTYPES[dtype], rank, ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)),
        )
        described.owner = (sizes, strides, value)
    return described


class Launch:
    """A kernel with its arguments and stream: called again and again, it costs one call of C."""

    def __init__(self, kernel: Kernel, values: Sequence[Any], stream: int, workspace: Any = None) -> None:
        self.kernel = kernel
        self.workspace = workspace
        self.described = [describe(value) for value in values]
        self.values = (CValue * len(values))(*self.described)
        size = ctypes.sizeof(CLaunchOptions)
        self.options = CLaunchOptions(size, self.values, len(values), ctypes.sizeof(CValue), stream)
        self.options.workspace = workspace.data_ptr() if workspace is not None else 0
        self.reference = ctypes.byref(self.options)
        self.function = kernel.library.functions.attnc_kernel_launch

    def __call__(self) -> None:
        error = self.function(self.kernel.handle, self.reference)
        if error:
            self.kernel.library.check(error)


    def workspace_bytes(self) -> int:
        """The device memory that the launch takes beside its arguments."""
        size = ctypes.c_uint64()
        library = self.kernel.library
        library.check(
            library.functions.attnc_kernel_get_workspace(self.kernel.handle, self.reference, ctypes.byref(size))
        )
        return size.value


class Kernel:
    """A kernel image on a GPU: that of the current context, unless `device` says another."""

    def __init__(self, image: bytes, library: Library | None = None, device: int = -1) -> None:
        self.handle = ctypes.c_void_p()
        self.library = library or Library()
        options = CLoadOptions(ctypes.sizeof(CLoadOptions), image, len(image), device)
        functions = self.library.functions
        self.library.check(functions.attnc_kernel_load(ctypes.byref(options), ctypes.byref(self.handle)))

    def __del__(self) -> None:
        if self.handle:
            self.library.functions.attnc_kernel_destroy(self.handle)

    def info(self) -> dict[str, Any]:
        """attnc_kernel_info, by the names of its members."""
        info = CKernelInfo(ctypes.sizeof(CKernelInfo))
        self.library.check(self.library.functions.attnc_kernel_get_info(self.handle, ctypes.byref(info)))
        facts = {name: getattr(info, name) for name, *_ in CKernelInfo._fields_[1:]}
        return {name: fact.decode() if isinstance(fact, bytes) else fact for name, fact in facts.items()}

    def bind(self, *values: Any, stream: int | None = None, workspace: Any = None) -> Launch:
        """The launch on `values`, the inputs and then the results; on PyTorch's stream unless `stream` is one. The
        workspace, a tensor of bytes, comes from the GPU's memory pool unless one is given."""
        if stream is None:
            import torch  # pylint: disable=import-outside-toplevel  # nothing else here needs it

            stream = torch.cuda.current_stream().cuda_stream
        return Launch(self, values, stream, workspace)

    def __call__(self, *values: Any) -> None:
        self.bind(*values)()
