"""What traced functions tell torch's autograd: where gradients are off, and functions with a derivative of their own. Of these the
forward is traced, and where a gradient would go through the backward, they are refused.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .errors import TraceError, place_of
from .graph import Graph, Node
from .values import Value

if TYPE_CHECKING:
    from .copies import Capture


def gradients_are_on(graph: Graph) -> bool:
    """Whether what is traced now has gradients: none where nobody wants them, and none under torch.no_grad()."""
    if not graph.is_differentiated:
        return True
    return bool(sys.modules["torch"].is_grad_enabled()) or _applied() is not None


def as_traced_now(value: Any) -> Any:
    """What a function of the table returned, without a gradient where these are off."""
    graph = value.graph
    if not graph.is_differentiated or sys.modules["torch"].is_grad_enabled():
        return value
    applied = _applied()
    if applied is None:
        return Value(graph, graph.stopped(value.node))
    if graph.has_gradient(value.node):
        raise refusal(applied)
    return value


def refusal(name: str | None = None) -> TraceError:
    called = "" if name is None else f" '{name}'"
    return TraceError(
        f"a torch.autograd.Function{called} is given what has a gradient, and its backward would be dropped: gradients are derivatives "
        "of what its forward computes. Write forward as a plain function where these are right, pass x.detach() where there is to "
        "be none, and call attention under torch.no_grad() where nobody wants any"
    )


def _node_of(value: Any) -> Node | None:
    load = getattr(type(value), "load_scalar", None)
    if load is not None:
        value = load(value) if value.ndim == 0 else None
    node = getattr(value, "node", None)
    return node if isinstance(node, Node) else None


def check(name: str, inputs: Iterable[Any]) -> None:
    """Raises where an input has a gradient that is wanted."""
    for value in inputs:
        node = _node_of(value)
        if node is not None and value.graph.is_differentiated and value.graph.has_gradient(node):
            raise refusal(name)


def is_function(value: Any) -> bool:
    """Whether a value is a class of functions with a derivative of their own."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, type) and issubclass(value, torch.autograd.Function)


def _applied() -> str | None:
    """The name of the class whose forward torch itself runs, which it does without gradients; None where it runs none."""
    waiting, names = [sys.modules["torch"].autograd.Function], {}
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        names[getattr(vars(kind).get("forward"), "__func__", None)] = kind.__name__
    codes = {function.__code__: name for function, name in names.items() if isinstance(function, types.FunctionType)}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in codes:
            return codes[frame.f_code]
        frame = frame.f_back
    return None


def refusal_of_torch(error: Exception) -> TraceError | None:
    """What is to be said where torch itself refuses traced values; None for other errors."""
    method = re.search(r"descriptor '(\w+)' for .* doesn't apply to a '(Value|Captured)'", str(error))
    # Older ones of torch do not say what they got.
    if method is None and not re.search("(but got|of type) (Value|Captured)|mark_non_differentiable only accepts", str(error)):
        return None
    place = place_of(error)
    if method is not None:
        return TraceError(f"torch.Tensor.{method[1]} takes tensors alone: write x.{method[1]}()", place)
    return TraceError(
        "the context of a torch.autograd.Function takes tensors alone: read the class as a variable of the function, and not as an "
        "attribute of a module",
        place,
    )


class _Context:
    """What forward and setup_context are given: nobody asks for what they save."""

    def __init__(self, inputs: tuple[Any, ...]) -> None:
        self.needs_input_grad = tuple(False for _ in inputs)
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = values

    def save_for_forward(self, *values: Any) -> None:
        pass

    def mark_non_differentiable(self, *values: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        pass

    def mark_dirty(self, *values: Any) -> None:
        raise TraceError("a traced value cannot be written to, as mark_dirty() says: return the new one")


class Applied:
    """A subclass of torch.autograd.Function as a traced function reads it."""

    def __init__(self, capture: Capture, function: Any) -> None:
        self._capture = capture
        self._function = function
        # What it reads is not looked at.
        capture.reads.is_open = True

    def apply(self, *inputs: Any) -> Any:
        function = self._function
        check(function.__name__, inputs)
        forward: Callable[..., Any] = self._capture.function(function.forward)
        context = _Context(inputs)
        if function.setup_context is sys.modules["torch"].autograd.Function.setup_context:
            return forward(context, *inputs)
        output = forward(*inputs)
        self._capture.function(function.setup_context)(context, inputs, output)
        return output

    def __getattr__(self, name: str) -> Any:
        return self._capture.wrap(getattr(self._function, name), name)
