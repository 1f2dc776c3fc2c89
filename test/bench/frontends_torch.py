"""What users of torch wait for: FlexAttention's first calls and changed lengths, and training steps of a layer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from frontends_timing import fault_of, in_turns, once
from torch.nn import functional
from torch.nn.attention import SDPBackend, flex_attention as torchs, sdpa_kernel

from attnc.torch import create_block_mask, flash_attn_func, flex_attention

Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def causal(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    return q_idx >= kv_idx


def soft_cap(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    return 30.0 * torch.tanh(score / 30.0)


def documents_of(length: int, device: str, seed: int = 0) -> Any:
    """A causal mask of eight documents that end anywhere."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(1, length, (7,), generator=generator).sort().values
    document = torch.bucketize(torch.arange(length), ends, right=True).to(device, torch.int32)

    def documents(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return (q_idx >= kv_idx) & (document[q_idx] == document[kv_idx])

    return documents


def measure_masks(device: str, length: int) -> list[dict[str, Any]]:
    """FlexAttention of attnc and of torch, with masks of documents: rows of milliseconds for each."""
    heads, dim = 16, 128
    compiled = torch.compile(torchs.flex_attention)
    sides = {"attnc": (flex_attention, create_block_mask), "FlexAttention": (compiled, torchs.create_block_mask)}
    if device == "cpu":
        del sides["FlexAttention"]

    def inputs(length: int) -> list[torch.Tensor]:
        kind = torch.bfloat16 if device != "cpu" else torch.float32
        return [torch.randn(1, heads, length, dim, device=device, dtype=kind, requires_grad=True) for _ in range(3)]

    rows: dict[str, dict[str, Any]] = {}
    for side, (attend, make_mask) in sides.items():
        options = {"_compile": True} if side == "FlexAttention" else {}

        def make(length: int, seed: int, make_mask: Any = make_mask, options: Any = options) -> Any:
            return make_mask(documents_of(length, device, seed), None, None, length, length, device=device, **options)

        def forward(tensors: list[torch.Tensor], mask: Any, attend: Any = attend) -> Any:
            out = attend(*tensors, block_mask=mask)
            wait(device)
            return out

        tensors = inputs(length)
        out: list[Any] = []

        def note(what: str, milliseconds: float, side: str = side) -> None:
            rows.setdefault(what, {"what": what})[side] = milliseconds

        wait(device)
        note("the first call, its mask made and all compiled", once(lambda: out.append(forward(tensors, make(length, 0)))))
        gradient = torch.ones_like(out[0])
        note("its gradients, the first time", once(lambda: (out[0].backward(gradient), wait(device))))
        for count, other in ((1, length - 1000), (2, length - 1777)):
            changed = inputs(other)
            note(f"a new length, number {count}", once(lambda: forward(changed, make(other, 0))))
        mask = make(length, 0)
        note("a call with a mask at hand", in_turns({"": lambda: forward(tensors, mask)})[""])
        seeds = iter(range(1, 10**6))
        note("a call with a new mask each time", in_turns({"": lambda: forward(tensors, make(length, next(seeds)))})[""])
    return list(rows.values())


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


class Layer(torch.nn.Module):
    """A layer of a transformer: attention, and a network four times as wide."""

    def __init__(self, attend: Attend, heads: int, dim: int) -> None:
        super().__init__()
        width = heads * dim
        self.attend, self.heads = attend, heads
        self.before, self.between = torch.nn.RMSNorm(width), torch.nn.RMSNorm(width)
        self.qkv, self.out = (torch.nn.Linear(width, n * width, bias=False) for n in (3, 1))
        self.up, self.down = torch.nn.Linear(width, 4 * width, bias=False), torch.nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        x = x + self.out(self.attend(q, k, v).flatten(2))
        return x + self.down(functional.gelu(self.up(self.between(x))))


def by(backend: SDPBackend) -> Attend:
    """Causal attention by one of torch's own kernels."""
    plain = heads_first(functional.scaled_dot_product_attention, is_causal=True)

    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        # Inside of what is compiled: around it, it chooses nothing.
        with sdpa_kernel(backend):
            return plain(q, k, v)

    return call


def heads_first(attend: Any, **options: Any) -> Attend:
    """Of a function of [B, H, S, D] tensors, one of [B, S, H, D]."""

    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), **options).transpose(1, 2)  # type: ignore[no-any-return]

    return call


def attentions(kind: str, length: int, device: str) -> Iterator[tuple[str, Attend]]:
    """The name and the function of each side."""
    mask_mod = documents_of(length, device) if kind == "documents" else causal
    score = {"score_mod": soft_cap} if kind == "soft cap" else {}
    if kind == "causal":
        yield "attnc, flash_attn_func", functools.partial(flash_attn_func, causal=True)
    ours = create_block_mask(mask_mod, None, None, length, length, device=device)
    yield "attnc, flex_attention", heads_first(flex_attention, block_mask=ours, **score)
    if device == "cpu":
        if kind == "causal":
            yield "SDPA", by(SDPBackend.FLASH_ATTENTION)
        return
    if kind == "causal":
        yield "cuDNN", by(SDPBackend.CUDNN_ATTENTION)
        yield "FlashAttention-2", by(SDPBackend.FLASH_ATTENTION)
    theirs = torchs.create_block_mask(mask_mod, None, None, length, length, device=device)
    yield "FlexAttention", heads_first(torchs.flex_attention, block_mask=theirs, **score)


def measure_training(device: str, tokens: int, heads: int, dim: int) -> list[dict[str, Any]]:
    """Milliseconds of a step, forward and gradients, of a compiled layer, by mask and by side."""
    rows = []
    for kind, length in (("causal", tokens // 4), ("causal", tokens), ("soft cap", tokens), ("documents", tokens)):
        runs: dict[str, Callable[[], object]] = {}
        errors: dict[str, str] = {}
        for name, attend in attentions(kind, length, device):
            torch._dynamo.reset()
            torch.manual_seed(0)
            layer = Layer(attend, heads, dim).to(device, torch.bfloat16 if device != "cpu" else torch.float32)
            weight = layer.out.weight
            x = torch.randn(tokens // length, length, heads * dim, device=device, dtype=weight.dtype, requires_grad=True)
            compiled = torch.compile(layer, dynamic=False)

            def step(layer: Any = layer, compiled: Any = compiled, x: Any = x) -> float:
                layer.zero_grad(set_to_none=True)
                loss = compiled(x).float().square().mean()
                loss.backward()
                return float(loss.detach())

            if fault := fault_of(f"{kind}, {length}: {name}", step):
                errors[name] = fault
            else:
                step()
                runs[name] = step
        rows.append({"kind": kind, "length": length, "ms": in_turns(runs), "errors": errors})
    return rows
