"""attnc.h for Python. Programs use the package attnc, which is written above it."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, final

class Error(Exception):
    """What attnc found wrong: with a spec, with the arguments of a call, or with the machine."""

    kind: Literal["spec", "compiler", "other"]
    message: str | None
    details: str | None
    line: int | None
    column: int | None

def version() -> str:
    """The version of the library."""

def xla_handlers(context: Context) -> dict[str, Any]:
    """The handlers of XLA's calls, by platform; none in a build without JAX."""

@final
class Spec:
    """The text of a spec, found to be one."""

    @property
    def text(self) -> str: ...

@final
class Dimension:
    """One dimension of an argument of a kernel."""

    @property
    def size(self) -> int | None:
        """The size that the spec gives it; None where the call says."""
    @property
    def symbol(self) -> str | None:
        """'Sq': all dimensions of that name have one size; None where it shares none."""
    @property
    def extra(self) -> int:
        """Elements beyond that size: 1 for cumulative lengths."""
    @property
    def unit(self) -> int:
        """What one element stands for of that size: the rows of a page for the entries of a page table, else 1."""
    @property
    def broadcast(self) -> bool:
        """Whether a size of 1 stands for every position."""

@final
class Argument:
    """One argument of a kernel, a result included."""

    @property
    def name(self) -> str: ...
    @property
    def is_tensor(self) -> bool: ...
    @property
    def is_output(self) -> bool: ...
    @property
    def dtype(self) -> str:
        """'bfloat16', as numpy names it."""
    @property
    def dims(self) -> tuple[Dimension, ...]: ...

@final
class Kernel:
    """A kernel that is ready to launch, on one GPU or on the CPU."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def origin(self) -> Literal["image", "compiler", "disk", "memory"]: ...
    @property
    def build(self) -> str: ...
    @property
    def arguments(self) -> tuple[Argument, ...]: ...
    def launch(self, values: tuple[Any, ...], stream: int | None = None) -> None:
        """Runs it on the inputs, then the results, in the order of the spec."""
    def workspace(self, sizes: Sequence[int | Sequence[int]]) -> int:
        """Bytes that a launch takes in addition to its arguments: arrays of such sizes without gaps, and numbers."""
    def call(
        self, inputs: tuple[Any, ...], device_type: int, device_id: int, heads_first: bool = False, learns: bool = False
    ) -> Any:
        """Runs it on tensors of a framework that can allocate results, and gives these; None, and nothing is done, where
        Python has to. heads_first: the first three and the first result are [B, H, S, D]. learns: tensors may require
        gradients, of which the caller takes care; nothing is captured, and all that have four dimensions are [B, H, S, D]
        with heads_first."""

@final
class Compilation:
    """A kernel that is being compiled."""

    def done(self) -> bool: ...
    def wait(self) -> Kernel:
        """Waits until it has ended, and gives its kernel."""

@final
class Context:
    """Compiled kernels, their cache, and the threads that compile."""

    def __init__(
        self,
        cache_directory: str | None = None,
        use_cache: int = 0,
        threads: int = 0,
        cache_bytes: int = 0,
        remark: Callable[[str], object] | None = None,
    ) -> None: ...
    @property
    def is_usable(self) -> bool: ...
    def read_spec(self, text: str, name: str = "spec", entry: str | None = None) -> Spec: ...
    def start(
        self,
        spec: Spec,
        target: str = "auto",
        schedule: str | None = None,
        device: int = -1,
        backward: bool = False,
    ) -> Compilation:
        """Starts to compile, and returns at once."""

    def explain(
        self,
        spec: Spec,
        target: str = "auto",
        schedule: str | None = None,
        device: int = -1,
        backward: bool = False,
        shape: str | None = None,
    ) -> tuple[str, str]:
        """What becomes of a spec: a text, and a picture as SVG, which is empty where no sizes are known."""
