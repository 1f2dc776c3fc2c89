"""attnc: attention kernels, compiled from what you write, for NVIDIA GPUs and CPUs.

compile: the kernel of a spec, a function of numpy arrays, torch tensors, or whatever has DLPack's methods.
"""

from . import _core
from ._context import configure
from ._core import Error
from ._kernel import Kernel, compile

__version__ = _core.version()

__all__ = ["Error", "Kernel", "compile", "configure"]
