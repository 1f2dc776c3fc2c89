"""What peers.py measures: variants of attention as specs of attnc, as calls of PyTorch, and as numbers of FLOPs."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

TOKENS = 16384  # batch times sequence
WIDTH = 2048  # heads times head dim
WINDOW = 1024  # keys before the query's own
DOCUMENTS = 8
CAP = 50.0
DROPOUT = 0.1
LEARNED = ("learned_bias", "learned_biases")  # variants whose captured tensor has a gradient

# A bias for each logit: arguments, clauses, score.
BIAS = (["bias: tensor<?x$Hx?x?xbf16>"], "", "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x$Hx?x?xbf16>")
SOFTCAP: tuple[list[str], str, str, str] = ([], "", f"%x = attn.softcap %s, {CAP}", "%keep = attn.causal %i, %j")
# Masks and score regions of variants: arguments, clauses, score, mask. $H is the number of query heads.
REGIONS: dict[str, tuple[list[str], str, str, str]] = {
    "full": ([], "", "", ""),
    "causal": ([], "", "", "%keep = attn.causal %i, %j"),
    "softcap": SOFTCAP,
    # As inference asks for it: only an LSE needs a tanh of more places than the GPU's instruction has.
    "softcap_no_lse": SOFTCAP,
    "alibi": (
        ["slopes: tensor<$Hxf32>"], "", "%x = attn.alibi %s, %slopes[%h], %i, %j : tensor<$Hxf32>",
        "%keep = attn.causal %i, %j",
    ),
    "window": ([], "", "", f"%keep = attn.window %i, %j left({WINDOW}) right(0)"),
    "documents": (
        ["ids: tensor<?x?xi32>"], "", "",
        "%c = attn.causal %i, %j\n"
        "      %same = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>\n"
        "      %keep = arith.andi %c, %same : i1",
    ),
    "dense": (
        ["mask: tensor<?x1x?x?xi1>"], "", "", "%keep = attn.load %mask[%b, %h, %i, %j] : tensor<?x1x?x?xi1>",
    ),
    "bias": (*BIAS, "%keep = attn.causal %i, %j"),
    "full_bias": (*BIAS, ""),
    # With a gradient of the bias: one for all batch entries, as its type says, and one for each.
    "learned_bias": (
        ["bias: tensor<1x$Hx?x?xbf16>"], "", "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<1x$Hx?x?xbf16>", "",
    ),
    "learned_biases": (*BIAS, ""),
    "dropout": (["seed: i64"], f"dropout({DROPOUT}, %seed)", "", "%keep = attn.causal %i, %j"),
    "gqa": ([], "", "", "%keep = attn.causal %i, %j"),
    "sinks": (["sinks: tensor<$Hx1xf32>"], "sinks(%sinks : tensor<$Hx1xf32>)", "", "%keep = attn.causal %i, %j"),
    "packed": (
        ["qo: tensor<?xi32>", "ko: tensor<?xi32>"],
        "varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)", "", "%keep = attn.causal %i, %j",
    ),
    "lengths": (
        ["ql: tensor<?xi32>", "kl: tensor<?xi32>"],
        "lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)", "", "%keep = attn.causal %i, %j",
    ),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One variant at one size."""

    variant: str
    dim: int
    sequence: int
    warps: bool = False  # by the schedule for GPUs without Hopper's instructions
    element: str = "bf16"
    backward: bool = False  # the gradients of it
    cuda: bool = False  # through CUDA C++ and NVRTC
    deterministic: bool = False  # the same bits in every run

    @property
    def batch(self) -> int:
        return TOKENS // self.sequence

    @property
    def heads(self) -> int:
        return WIDTH // self.dim

    @property
    def key_heads(self) -> int:
        return self.heads // 8 if self.variant == "gqa" else self.heads

    @property
    def causal(self) -> bool:
        """Whether its mask is causal, or more than that."""
        return self.variant not in ("full", "full_bias", *LEARNED)

    @property
    def has_lse(self) -> bool:
        """Whether the LSE is a result."""
        return not self.variant.endswith("_no_lse")

    @property
    def image(self) -> str:
        """The name of its kernel: sizes are no part of it."""
        name = f"{self.variant}_d{self.dim}" + "_warps" * self.warps + "_cuda" * self.cuda
        name += f"_{self.element}" * (self.element != "bf16")
        return name + "_backward" * self.backward + "_deterministic" * self.deterministic

    @property
    def forward(self) -> Case:
        """The case whose gradients this is of."""
        return dataclasses.replace(self, backward=False, deterministic=False)

    def kept(self) -> int:
        """The logits of one head and batch entry that the mask keeps."""
        length = self.sequence
        if not self.causal:
            return length * length
        if self.variant == "window":
            return sum(min(row, WINDOW) + 1 for row in range(length))
        if self.variant == "documents":
            length //= DOCUMENTS
            return DOCUMENTS * length * (length + 1) // 2
        return length * (length + 1) // 2

    def flops(self) -> int:
        """Of both products on the logits that the mask keeps, or of the five of gradients, and nothing else."""
        return (10 if self.backward else 4) * self.batch * self.heads * self.dim * self.kept()

    def spec(self) -> str:
        """The spec in MLIR."""
        arguments, clauses, score, mask = REGIONS[self.variant]
        rows = "?" if self.variant == "packed" else "?x?"
        query = f"tensor<{rows}x{self.heads}x{self.dim}xbf16>"
        key = f"tensor<{rows}x{self.key_heads}x{self.dim}xbf16>"
        lse = f"tensor<{self.heads}x?xf32>" if self.variant == "packed" else f"tensor<?x{self.heads}x?xf32>"
        inputs = [f"q: {query}", f"k: {key}", f"v: {key}", *arguments]
        learned = ", attn.requires_grad" if self.variant in LEARNED else ""
        declared = ", ".join(
            f'%{text} {{attn.name = "{text.split(":")[0]}"{learned if text in arguments else ""}}}' for text in inputs
        )
        regions = ""
        if score:
            regions += f"    score (%s, %b, %h, %i, %j) {{\n      {score}\n      attn.yield %x : f32\n    }}\n"
        if mask:
            regions += f"    mask (%b, %h, %i, %j) {{\n      {mask}\n      attn.yield %keep : i1\n    }}\n"
        names = ["out", "lse"][: 1 + self.has_lse]
        types = [query, lse][: 1 + self.has_lse]
        values = ", ".join(f"%{name}" for name in names)
        results = ", ".join(f'{kind} {{attn.name = "{name}"}}' for kind, name in zip(types, names))
        text = (
            f"func.func @{self.forward.image}({declared})\n    -> ({results}) {{\n"
            f"  {values} = attn.forward %q, %k, %v {clauses}\n{regions}"
            f"    : ({query}, {key}, {key}) -> ({', '.join(types)})\n  return {values} : {', '.join(types)}\n}}\n"
        )
        return text.replace("$H", str(self.heads)).replace("xbf16", f"x{self.element}")


def all_cases(points: list[tuple[str, Case]]) -> list[Case]:
    """Those of named points, and what they need or are compared with."""
    cases = [case for _, case in points]
    cases += [dataclasses.replace(case, variant="full_bias") for case in cases if case.variant in LEARNED]
    plain = [Case("causal", 128, 4096)]
    plain += [Case("causal", case.dim, case.sequence) for name, case in points if peer_of(name) == "own"]
    plain += [dataclasses.replace(case, cuda=False) for case in cases if case.cuda]
    plain += [dataclasses.replace(case, deterministic=False) for case in cases if case.deterministic]
    if any(case.backward for case in cases):
        plain += [case.forward for case in cases if case.backward] + [dataclasses.replace(plain[0], backward=True)]
    return cases + plain


@dataclasses.dataclass
class Data:
    """The arguments of one case, on the GPU."""

    query: Any
    key: Any
    value: Any
    extra: list[Any]
    out: Any
    lse: Any
    out_gradient: Any
    gradients: list[Any]  # results of a backward

    def arguments(self) -> list[Any]:
        """As a kernel of attnc takes them."""
        results = [self.out] if self.lse is None else [self.out, self.lse]
        return [self.query, self.key, self.value, *self.extra, *results]

    def backward_arguments(self, torch: Any) -> list[Any]:
        """As the backward of that kernel takes them; nothing comes back to the LSE."""
        return [*self.arguments(), self.out_gradient, torch.zeros_like(self.lse), *self.gradients]

    def views(self, batch: int | None = None) -> tuple[Any, Any, Any]:
        """Query, key and value as PyTorch's functions take them: [B, H, S, D], in the same memory. `batch` is how many
        sequences of one length there are, where they are packed."""
        tensors = (self.query, self.key, self.value)
        if batch is not None:
            tensors = tuple(tensor.unflatten(0, (batch, -1)) for tensor in tensors)
        return tuple(tensor.transpose(1, 2) for tensor in tensors)


def make_data(case: Case, torch: Any) -> Data:
    """Normal queries, keys and values, the same for each run."""
    generator = torch.Generator(device="cuda").manual_seed(0)
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[case.element]

    def normal(heads: int) -> Any:
        shape: tuple[int, ...] = (case.batch, case.sequence, heads, case.dim)
        if case.variant == "packed":
            shape = (TOKENS, heads, case.dim)
        return torch.randn(shape, generator=generator, device="cuda", dtype=dtype)

    query, key, value = normal(case.heads), normal(case.key_heads), normal(case.key_heads)
    extra = []
    if case.variant == "alibi":
        powers = torch.arange(1, case.heads + 1, device="cuda", dtype=torch.float32)
        extra = [2.0 ** (-8.0 * powers / case.heads)]
    elif case.variant == "documents":
        ids = torch.arange(case.sequence, device="cuda", dtype=torch.int32) // (case.sequence // DOCUMENTS)
        extra = [ids.expand(case.batch, case.sequence).contiguous()]
    elif case.variant == "dense":
        rows = torch.arange(case.sequence, device="cuda")
        extra = [(rows[:, None] >= rows[None, :]).expand(case.batch, 1, -1, -1).contiguous()]
    elif case.variant in ("bias", "full_bias", *LEARNED):
        # One for all batch entries, but for those that have their own.
        shape = (case.batch if case.variant == "learned_biases" else 1, case.heads, case.sequence, case.sequence)
        extra = [torch.randn(shape, generator=generator, device="cuda", dtype=dtype)]
    elif case.variant == "dropout":
        extra = [1]
    elif case.variant == "sinks":
        extra = [torch.zeros((case.heads, 1), device="cuda", dtype=torch.float32)]
    elif case.variant == "packed":
        offsets = torch.arange(case.batch + 1, device="cuda", dtype=torch.int32) * case.sequence
        extra = [offsets, offsets]
    elif case.variant == "lengths":
        lengths = torch.full((case.batch,), case.sequence, device="cuda", dtype=torch.int32)
        extra = [lengths, lengths]
    shape = (case.heads, TOKENS) if case.variant == "packed" else (case.batch, case.heads, case.sequence)
    lse = torch.full(shape, float("nan"), device="cuda", dtype=torch.float32) if case.has_lse else None
    out, gradients = torch.full_like(query, float("nan")), []
    if case.backward:
        gradients = [torch.full_like(tensor, float("nan")) for tensor in (query, key, value)]
        learned = ("sinks", *LEARNED)
        gradients += [torch.full_like(extra[0], float("nan"))] if case.variant in learned else []
    return Data(query, key, value, extra, out, lse, normal(case.heads) if case.backward else None, gradients)


def peer_of(name: str) -> str:
    """What a point is compared with."""
    return name.removeprefix("backward/").removeprefix("bias/").removeprefix("packed/").split("/")[0]


def choose_backend(case: Case, peer: str = "cudnn") -> Any:
    """PyTorch's attention by cuDNN, which has none for f32: by memory-efficient kernels there, with products in three
    parts as well. Or by its FlashAttention-2."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if peer == "flash2":
        return sdpa_kernel(SDPBackend.FLASH_ATTENTION)
    return sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION if case.element == "f32" else SDPBackend.CUDNN_ATTENTION)


def dropout_of(case: Case) -> float:
    """The probability that PyTorch's attention drops a weight with."""
    return DROPOUT if case.variant == "dropout" else 0.0


def bias_of(case: Case, data: Data) -> Any:
    """What PyTorch's attention adds to logits."""
    return data.extra[0].expand(case.batch, -1, -1, -1) if case.variant == "full_bias" else None


def call_sdpa(case: Case, data: Data, torch: Any) -> Callable[[], Any]:
    """PyTorch's attention; to be called under `choose_backend`."""
    query, key, value = data.views(case.batch if case.variant == "packed" else None)
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(query, key, value, bias_of(case, data), dropout_p=dropout_of(case), is_causal=case.causal)


def call_varlen(case: Case, data: Data) -> Callable[[], Any]:
    """PyTorch's attention of packed sequences, which is FlashAttention-2."""
    from torch.nn.attention.varlen import varlen_attn

    starts, length = data.extra[0], case.sequence

    def attend() -> Any:
        out = varlen_attn(data.query, data.key, data.value, starts, starts, length, length, window_size=(-1, 0))
        return out[None].transpose(1, 2)

    return attend


def call_gradients(data: Data, torch: Any, attend: Callable[..., Any]) -> Callable[[], Any]:
    """The backward of what `attend` gives for the views of `data`."""
    leaves = [view.detach().requires_grad_() for view in data.views()]
    with torch.enable_grad():
        out = attend(*leaves)
    out_gradient = data.out_gradient.transpose(1, 2)
    return lambda: torch.autograd.grad(out, leaves, out_gradient, retain_graph=True)


def call_sdpa_backward(case: Case, data: Data, torch: Any) -> Callable[[], Any]:
    """The backward of PyTorch's attention; to be called under `choose_backend`."""
    attend = torch.nn.functional.scaled_dot_product_attention
    return call_gradients(data, torch, lambda *views: attend(*views, bias_of(case, data), dropout_p=dropout_of(case), is_causal=case.causal))


def call_flex(case: Case, data: Data, torch: Any) -> Callable[[], Any]:
    """FlexAttention, compiled, with a block mask that is made beforehand; or its backward."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
        return i >= j

    def window(b: Any, h: Any, i: Any, j: Any) -> Any:
        return (i >= j) & (i - j <= WINDOW)

    def softcap(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return CAP * torch.tanh(score / CAP)

    keep: Callable[..., Any] = {"window": window}.get(case.variant, causal)
    score: Callable[..., Any] | None = {"softcap": softcap, "softcap_no_lse": softcap}.get(case.variant)
    if case.variant == "documents":
        ids = data.extra[0][0].contiguous()

        def documents(b: Any, h: Any, i: Any, j: Any) -> Any:
            return (i >= j) & (ids[i] == ids[j])

        keep = documents
    elif case.variant == "alibi":
        slopes = data.extra[0]

        def alibi(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            return score - slopes[h] * (i - j)

        score = alibi
    elif case.variant == "full_bias":
        values = data.extra[0][0]

        def biased(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            return score + values[h, i, j]

        score = biased
    torch._dynamo.reset()  # pylint: disable=protected-access  # each variant as if it were the only one
    mask = create_block_mask(keep, None, None, case.sequence, case.sequence, device="cuda") if case.causal else None
    compiled = torch.compile(flex_attention, dynamic=False)

    def attend(*views: Any) -> Any:
        return compiled(*views, score_mod=score, block_mask=mask)

    return call_gradients(data, torch, attend) if case.backward else lambda: attend(*data.views())
