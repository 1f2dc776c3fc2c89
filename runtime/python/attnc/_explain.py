"""What the compiler decided, and why, for people to read."""

from __future__ import annotations

from typing import Any

from ._context import context
from ._core import Error
from ._explanation import Explanation
from ._jit import Attention
from ._kernel import Kernel


def explain(
    what: str | Kernel | Attention,
    *inputs: Any,
    shape: str | None = None,
    target: str | None = None,
    entry: str | None = None,
    schedule: str | None = None,
    backward: bool = False,
) -> Explanation:
    """Score and mask as formulas, the keys that tiles visit, the schedule and where it comes from, the memory that it takes,
    and the kernel's file in the cache. Nothing is compiled.

    what: the text of a spec, a kernel, or what `jit` returns. The last takes queries, keys and values as `inputs`, to be
        traced on.
    shape: "B=1,Sq=4096,Sk=4096", for the picture of the tiles that the mask keeps and the work that it leaves; of what `jit`
        returns, None is the shape of the inputs. Captured tensors are random there.
    target: "cpu", "nvptx:sm_90a", …; a GPU need not be here. None is the target of `what`, or where its inputs lie, or else
        the first GPU, and the CPU where there is none.
    entry, schedule: as `compile` has them, for a text. backward: the kernel of the gradients.
    """
    if not isinstance(what, (str, Kernel, Attention)):
        raise TypeError(f"what: expected the text of a spec, a kernel or what jit returns, got {type(what).__name__}")
    if not isinstance(what, str) and (entry is not None or schedule is not None):
        raise Error("entry and schedule: expected neither, since only the text of a spec leaves them open")
    if isinstance(what, Attention):
        if len(inputs) != 3:
            raise Error(f"inputs: expected queries, keys and values, got {len(inputs)}")
        return what.explain(*inputs, shape=shape, target=target, backward=backward)
    if inputs:
        raise Error(f"inputs: expected none with a spec or a kernel, got {len(inputs)}; shape= gives sizes")
    if isinstance(what, Kernel):
        if backward:
            raise Error("backward: expected False, since a kernel is of one kind; compile(..., backward=True) makes the other")
        return what.explain(shape=shape, target=target)
    return Kernel(context().read_spec(what, "spec", entry), target, schedule, backward).explain(shape=shape)
