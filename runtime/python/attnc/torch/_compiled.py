"""flex_attention under torch.compile, without a break of the graph.

Dynamo traces functions that are handed to a higher-order operator into a graph of their own, with the tensors that they
capture as its inputs. The operator here is never part of a compiled program: when autograd first sees it, the graph is
traced once more, into a spec, and what stays is `attnc::forward`.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.variables.higher_order_ops import BaseHOPVariable, _hop_name_to_variable_class
from torch._higher_order_ops.base_hop import BaseHOP
from torch._ops import HigherOrderOperator

from .._trace.autograd import refusal
from .._trace.capture import Captured, Trace
from .._trace.errors import at_line_of
from .._trace.graph import COORDINATE, FLOAT, INT
from .._trace.spec import COORDINATES, as_result, begin, finish
from .._trace.values import Value
from ._ops import attend, call_of, caller_of, facts_of_tensors, laid_like, trace_call, wants_gradient

_library = torch.library.Library("attnc", "FRAGMENT")
# In the graph of a function these say which input is what: Dynamo orders them as it meets them.
_library.define("role(Tensor value, str name) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.define("results(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)", tags=(torch.Tag.pt2_compliant_tag,))


def _results(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return laid_like(q, v.shape[3]), q.new_empty(q.shape[:3], dtype=torch.float32)


def _no_gradient(ctx: Any, *gradients: Tensor) -> tuple[None, None, None]:
    raise AssertionError("attnc::results stands for attnc::forward, and does not run")


_library.impl("role", lambda value, name: value.clone(), "CompositeExplicitAutograd")
_library.impl("results", _results, "CompositeExplicitAutograd")
torch.library.register_fake("attnc::role", lambda value, name: torch.empty_like(value), lib=_library)
torch.library.register_fake("attnc::results", _results, lib=_library)
torch.library.register_autograd("attnc::results", _no_gradient, lib=_library)


class _FlexAttention(BaseHOP):
    """The operator that Dynamo hands functions to."""

    def __init__(self) -> None:
        super().__init__("attnc_flex_attention")

    def __call__(self, subgraph: Any, *operands: Any, **options: Any) -> Any:
        if isinstance(subgraph, types.FunctionType):
            # Dynamo could not trace it, and calls it between two graphs.
            return torch.compiler.disable(_attend_untraced)(subgraph, *operands[:3], options["scale"])
        return HigherOrderOperator.__call__(self, subgraph, *operands, **options)

    def _call_Autograd(self, subgraph: Any, *operands: Any, **options: Any) -> Any:
        return _lower(subgraph, operands, **options)

    # Where nothing requires grad, others see it first.
    def _call_Functionalize(self, ctx: Any, subgraph: Any, *operands: Any, **options: Any) -> Any:
        unwrapped = ctx.unwrap_tensors(operands)
        with ctx.redispatch_to_next():
            return ctx.wrap_tensors(_lower(subgraph, unwrapped, **options))

    def _call_ProxyTorchDispatchMode(self, proxy_mode: Any, subgraph: Any, *operands: Any, **options: Any) -> Any:
        with proxy_mode:
            return _lower(subgraph, operands, **options)

    def _call_CompositeExplicitAutograd(self, subgraph: Any, *operands: Any, **options: Any) -> Any:
        return _lower(subgraph, operands, **options)


_flex_attention = _FlexAttention()


class _Variable(BaseHOPVariable):  # type: ignore[misc]
    """The operator as Dynamo knows it. Nothing is written to operands, so that they may share memory, as queries, keys and values
    of one projection do, and views of one tensor that a function reads."""

    supports_aliasing = True


_hop_name_to_variable_class["attnc_flex_attention"] = _Variable


def compiled_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: Any, mask_mod: Any, scale: float | None
) -> tuple[Tensor, Tensor]:
    """What Dynamo traces: the output and the LSE."""
    # Of one element: torch reads the numbers of tensors without dimensions where they are indices.
    score = query.new_empty((1,), dtype=torch.float32)
    if torch.is_grad_enabled() and (query.requires_grad or key.requires_grad):
        # Then it has a gradient in the graph of the functions too, and Dynamo says there what is made for that. Nobody computes this.
        source = query if query.requires_grad else key
        score = score + source[:1, :1, :1, :1].sum().float()
    b, h, i, j = (query.new_empty((1,), dtype=torch.int32) for _ in range(4))

    def functions(q: Tensor, k: Tensor, v: Tensor, s: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Any:
        out, lse = torch.ops.attnc.results(q, k, v)
        s = torch.ops.attnc.role(s, "%s")
        b, h = torch.ops.attnc.role(b, "%b"), torch.ops.attnc.role(h, "%h")
        i, j = torch.ops.attnc.role(i, "%i"), torch.ops.attnc.role(j, "%j")
        # Copies, since results are none of the inputs.
        changed = s.clone() if score_mod is None else score_mod(s, b, h, i, j).clone()
        kept = i.clone() if mask_mod is None else mask_mod(b, h, i, j).clone()
        return out, lse, changed, kept

    has_score, has_mask = score_mod is not None, mask_mod is not None
    out, lse, _, _ = _flex_attention(
        functions, query, key, value, score, b, h, i, j, scale=scale, has_score=has_score, has_mask=has_mask
    )
    return out, lse


def _attend_untraced(
    functions: types.FunctionType, query: Tensor, key: Tensor, value: Tensor, scale: float | None
) -> tuple[Tensor, Tensor, None, None]:
    """What calls without torch.compile compute. functions: those of `compiled_attention`."""
    told = inspect.getclosurevars(functions).nonlocals
    traced = trace_call(query, key, value, told["score_mod"], told["mask_mod"], scale)
    return *attend(query, key, value, call_of(traced)), None, None


def _lower(
    subgraph: torch.fx.GraphModule, operands: tuple[Any, ...], scale: float | None, has_score: bool, has_mask: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Replaces the operator by a kernel."""
    nodes = list(subgraph.graph.nodes)
    inputs = dict(zip((node for node in nodes if node.op == "placeholder"), operands, strict=True))
    results = next(node for node in nodes if node.target is torch.ops.attnc.results)
    query, key, value = (inputs[node] for node in results.args)
    facts = facts_of_tensors(query, key, value, scale)
    known = begin(facts, (query.shape[0], query.shape[2], key.shape[2]), wants_gradient(), caller_of(query, key))
    _, _, changed, kept = _interpret(subgraph, known, inputs, query.device)
    score = as_result(known, changed, "score_mod", "score_mod") if has_score else None
    mask = as_result(known, kept, "mask_mod", "mask_mod") if has_mask else None
    out, lse = attend(query, key, value, call_of(finish(facts, known, score, mask)))
    return out, lse, lse.new_empty((1,)), lse.new_empty((1,), dtype=torch.bool if has_mask else torch.int32)


def _interpret(subgraph: torch.fx.GraphModule, known: Trace, inputs: dict[torch.fx.Node, Any], device: torch.device) -> Any:
    """Runs the graph of a function on traced values. device: where queries lie."""
    values: dict[torch.fx.Node, Any] = {}

    def read(item: Any) -> Any:
        return values[item] if isinstance(item, torch.fx.Node) else item

    def call(node: torch.fx.Node, arguments: Any, options: Any) -> Any:
        if node.op == "call_method":
            return getattr(arguments[0], node.target)(*arguments[1:], **options)
        if node.target is torch.select and arguments[1] == 0 and not isinstance(arguments[0], Value):
            # What Dynamo makes of table[number], where the number is a symbol.
            return arguments[0][arguments[2]]
        if node.target is torch.ops.attnc.results:
            return None, None
        if node.target is torch.ops.attnc.role:
            name = arguments[1]
            return known.argument(name, INT, COORDINATE) if name in COORDINATES else known.argument(name, FLOAT)
        if type(node.target).__name__ == "AutogradFunctionApply":
            raise refusal()
        return node.target(*arguments, **options)

    for node in subgraph.graph.nodes:
        arguments = torch.fx.map_arg(node.args, read)
        options = torch.fx.map_arg(node.kwargs, read)
        if node.op == "placeholder":
            values[node] = _as_input(known, node.name, inputs[node], device)
        elif node.op == "get_attr":
            values[node] = _as_input(known, node.name, getattr(subgraph, node.target), device)
        elif node.op == "output":
            return arguments[0]
        else:
            with at_line_of(node.stack_trace):
                values[node] = call(node, arguments, options)
    raise AssertionError("a graph ends with its output")


def _as_input(known: Trace, name: str, value: Any, device: torch.device) -> Any:
    """What a function captures: tensors, and numbers that differ from call to call."""
    if isinstance(value, Tensor):
        if value.dim() == 0 and value.device.type == "cpu":
            # A float that differs from call to call, as Dynamo of torch 2.11 has it. Nobody waits for the copy.
            value = value.to(device, non_blocking=True)
        return Captured(known, name.removeprefix("l_").strip("_") or name, value)
    if isinstance(value, torch.SymInt):
        return known.number(name, value)
    return _decided(value)


def _decided(value: Any) -> Any:
    """A number that texts name. Where torch.compile has a symbol for a float that differs from call to call, this decides that
    there is a program for each number."""
    return float(value) if isinstance(value, torch.SymFloat) else value
