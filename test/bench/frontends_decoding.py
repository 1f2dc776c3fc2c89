"""What users of torch wait for in decoding: one token of many sequences, with caches of keys in rows and in pages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from frontends_timing import fault_of, in_turns
from torch.nn import attention

from attnc.torch import flash_attn_with_kvcache

KEY_HEADS, GROUP, DIM = 8, 4, 128
LAYERS = 32


class Caches:
    """Keys and values of sequences of different lengths, and a query for each."""

    def __init__(self, batch: int, rows: int, device: str) -> None:
        self.batch, self.rows, self.device = batch, rows, device
        generator = torch.Generator().manual_seed(0)
        self.lengths = torch.randint(rows // 2, rows + 1, (batch,), generator=generator).to(device, torch.int32)
        kind = torch.bfloat16 if device != "cpu" else torch.float32
        self.q = torch.randn(batch, 1, KEY_HEADS * GROUP, DIM, device=device, dtype=kind)
        self.k, self.v = (torch.randn(batch, rows, KEY_HEADS, DIM, device=device, dtype=kind) for _ in range(2))

    def pages(self, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same keys and values in pages anywhere in a pool [pages, size, heads, dim], and their table."""
        count = self.batch * self.rows // size
        order = torch.randperm(count, generator=torch.Generator().manual_seed(1)).to(self.device)
        table = order.view(self.batch, -1).to(torch.int32)
        pools = []
        for rows in (self.k, self.v):
            pool = torch.empty(count, size, KEY_HEADS, DIM, device=self.device, dtype=rows.dtype)
            pool[order] = rows.view(count, size, KEY_HEADS, DIM)
            pools.append(pool)
        return pools[0], pools[1], table


def flex(caches: Caches, size: int) -> Callable[[], torch.Tensor]:
    """FlexAttention's PagedAttention."""
    from torch.nn.attention.experimental._paged_attention import PagedAttention
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    batch, rows, device = caches.batch, caches.rows, caches.device
    cache = PagedAttention(batch * rows // size, size, batch, device=device)
    for sequence in range(batch):
        cache.reserve(torch.tensor(sequence, device=device), torch.tensor(rows, device=device))
    pools = []
    for given in (caches.k, caches.v):
        pool = torch.empty(batch * rows // size, size, KEY_HEADS, DIM, device=device, dtype=given.dtype)
        pool[cache.page_table[:batch, : rows // size].flatten().long()] = given.view(-1, size, KEY_HEADS, DIM)
        pools.append(pool.view(1, -1, KEY_HEADS, DIM).transpose(1, 2))
    lengths = caches.lengths

    def exists(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return kv_idx < lengths[b]

    mask = create_block_mask(exists, batch, None, 1, rows, device=device, BLOCK_SIZE=(128, size))
    physical = cache.convert_logical_block_mask(mask)
    score = cache.get_score_mod(None)
    compiled = torch.compile(flex_attention)
    q = caches.q.transpose(1, 2)
    return lambda: compiled(q, *pools, block_mask=physical, score_mod=score, enable_gqa=True).transpose(1, 2)  # type: ignore[no-any-return]


def varlen(caches: Caches, size: int) -> Callable[[], torch.Tensor]:
    """torch's own varlen_attn, by pages."""
    from torch.nn.attention.varlen import varlen_attn

    if "block_table" not in inspect.signature(varlen_attn).parameters:
        raise NotImplementedError("varlen_attn of this torch knows no pages")
    pool_k, pool_v, table = caches.pages(size)
    starts = torch.arange(caches.batch + 1, device=caches.device, dtype=torch.int32)
    ends = torch.zeros_like(starts)
    ends[1:] = caches.lengths.cumsum(0)
    return lambda: varlen_attn(  # type: ignore[no-any-return]
        caches.q[:, 0], pool_k, pool_v, starts, ends, 1, caches.rows, enable_gqa=True, seqused_k=caches.lengths,
        block_table=table,
    )[:, None]  # fmt: skip


def cudnn(caches: Caches) -> Callable[[], torch.Tensor]:
    """cuDNN, for all rows: it is told no lengths."""
    q, k, v = (x.transpose(1, 2) for x in (caches.q, caches.k, caches.v))

    def run() -> torch.Tensor:
        with attention.sdpa_kernel(attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2)

    return run


def sides(caches: Caches) -> Iterator[tuple[str, Callable[[], Callable[[], torch.Tensor]]]]:
    """The name of each side, and what makes its call."""

    def ours(k: torch.Tensor, v: torch.Tensor, **options: Any) -> Callable[[], torch.Tensor]:
        return lambda: flash_attn_with_kvcache(caches.q, k, v, cache_seqlens=caches.lengths, causal=True, **options)  # type: ignore[no-any-return]

    yield "attnc, in rows", lambda: ours(caches.k, caches.v)
    for size in (256, 64, 16, 1):

        def make(size: int = size) -> Callable[[], torch.Tensor]:
            k, v, table = caches.pages(size)
            return ours(k, v, block_table=table)

        yield f"attnc, pages of {size}", make
    if caches.device != "cpu":
        yield "FlexAttention, pages of 128", lambda: flex(caches, 128)
        yield "FlashAttention (varlen_attn), pages of 256", lambda: varlen(caches, 256)
        yield "cuDNN, in rows, all of them", lambda: cudnn(caches)


def graphed(run: Callable[[], object], device: str) -> Callable[[], object]:
    """`run` as engines run it: replayed from a graph, as often as a model has layers."""
    if device == "cpu":
        return run
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()

    def replay(captured: object = run) -> None:  # whose tensors the graph reads
        for _ in range(LAYERS):
            graph.replay()
        torch.cuda.synchronize()

    return replay


def measure_decoding(device: str, tokens: int) -> list[dict[str, Any]]:
    """Milliseconds of a layer by number of sequences and by side, all sequences with `tokens` rows together."""
    rows = []
    for batch in (1, 32):
        caches = Caches(batch, tokens // batch, device)
        runs: dict[str, Callable[[], object]] = {}
        errors: dict[str, str] = {}
        want = None
        for name, make in sides(caches):
            made: list[Callable[[], torch.Tensor]] = []

            def try_once(make: Any = make, made: Any = made) -> float:
                made.append(make())
                made.append(made[0]())
                return float(made[1].float().square().mean())

            if fault := fault_of(f"{batch} sequences: {name}", try_once):
                errors[name] = fault
                continue
            got: Any = made[1]
            want = got if want is None else want
            if not name.endswith("all of them") and not torch.allclose(got, want, atol=1e-2):
                errors[name] = f"ValueError: it is off by {float((got - want).abs().max()):.3g}"
                continue
            runs[name] = graphed(made[0], device)
        repeats = LAYERS if device != "cpu" else 1
        times = {name: time / repeats for name, time in in_turns(runs, steps=1).items()}
        rows.append({"sequences": batch, "rows": caches.rows, "ms": times, "errors": errors})
    return rows
