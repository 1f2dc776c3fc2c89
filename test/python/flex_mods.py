"""Score and mask functions of FlexAttention's documentation and tests, for [2, 4, 40, 16] queries and 48 keys."""

import torch
from torch_reference import DEVICE as DEVICE

B, H, SQ, SK, D = 2, 4, 40, 48, 16
LONG = 64

torch.manual_seed(0)
slopes = torch.exp2(-torch.arange(1, H + 1).float())
head_offset = torch.rand(H)
head_offset_16 = torch.rand(H, dtype=torch.bfloat16)
bias_1d = torch.randn(LONG)
bias_2d = torch.randn(SQ, SK)
bias_3d = torch.randn(H, SQ, SK)
bias_4d = torch.randn(B, H, SQ, SK)
relative = torch.randn(2 * LONG, H)
documents = torch.randint(0, 3, (B, LONG), dtype=torch.int32).sort(dim=1).values
document = torch.randint(0, 4, (LONG,)).sort().values
lengths = torch.tensor([17, 48], dtype=torch.int32)
prefix = torch.tensor([5, 20])
token_mask = torch.rand(B, LONG) < 0.7
dense = torch.rand(SQ, SK) < 0.6
offset = torch.tensor(8)
gate = torch.tensor(0.7)
starts = torch.tensor([0, 9, 21, LONG])
sequence = torch.repeat_interleave(torch.arange(3), starts.diff())
temperature = torch.tensor([0.5, 2.0])

#: Blocks of 16 queries and 16 keys: how many of each row are listed, and which ones. What stands behind the number of a row
#: is undefined.
COUNTS = torch.tensor([[[1, 2, 2]], [[0, 1, 3]]], dtype=torch.int32)
INDICES = torch.tensor([[[[1, 0, 77], [0, 2, 99], [1, 0, 2]]]], dtype=torch.int32).expand(B, 1, 3, 3)
SIZES = dict(BLOCK_SIZE=16, seq_lengths=(SQ, SK))


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def sliding_window(b, h, q_idx, kv_idx):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= 7)


def prefix_lm(b, h, q_idx, kv_idx):
    return (kv_idx <= prefix[b]) | causal(b, h, q_idx, kv_idx)


def document_causal(b, h, q_idx, kv_idx):
    return causal(b, h, q_idx, kv_idx) & (document[q_idx] == document[kv_idx])


def generate_dilated(size, dilation):
    def dilated(b, h, q_idx, kv_idx):
        distance = torch.abs(q_idx - kv_idx)
        return (distance <= size) & (distance % dilation == 0) & (q_idx >= kv_idx)

    return dilated


def generate_natten(width, kernel):
    def natten(b, h, q_idx, kv_idx):
        q_x, q_y = q_idx // width, q_idx % width
        kv_x, kv_y = kv_idx // width, kv_idx % width
        center_x = q_x.clamp(kernel // 2, (width - 1) - kernel // 2)
        center_y = q_y.clamp(kernel // 2, (width - 1) - kernel // 2)
        return ((center_x - kv_x).abs() <= kernel // 2) & ((center_y - kv_y).abs() <= kernel // 2)

    return natten


def generate_tiled_natten(width, kernel, tile):
    def coordinates(index):
        tiles = width // tile
        which, within = index // (tile * tile), index % (tile * tile)
        return (which // tiles) * tile + within // tile, (which % tiles) * tile + within % tile

    def tiled_natten(b, h, q_idx, kv_idx):
        q_x, q_y = coordinates(q_idx)
        kv_x, kv_y = coordinates(kv_idx)
        center_x = torch.clamp(q_x, kernel // 2, width - 1 - kernel // 2)
        center_y = torch.clamp(q_y, kernel // 2, width - 1 - kernel // 2)
        return ((center_x - kv_x).abs() <= kernel // 2) & ((center_y - kv_y).abs() <= kernel // 2)

    return tiled_natten


def packed(b, h, q_idx, kv_idx):
    start_q, start_kv = starts[sequence[q_idx]], starts[sequence[kv_idx]]
    return (sequence[q_idx] == sequence[kv_idx]) & (q_idx - start_q >= kv_idx - start_kv)


MASKS = {
    "causal": causal,
    "inverse causal": lambda b, h, q, kv: q <= kv,
    "sliding window": sliding_window,
    "prefix LM": prefix_lm,
    "document": lambda b, h, q, kv: documents[b, q] == documents[b, kv],
    "document, causal": document_causal,
    "dilated": generate_dilated(12, 3),
    "NATTEN": generate_natten(8, 5),
    "tiled NATTEN": generate_tiled_natten(8, 5, 4),
    "padding": lambda b, h, q, kv: (kv < lengths[b]) & (q < lengths[b]),
    "token mask": lambda b, h, q, kv: token_mask[b, kv] & token_mask[b, q],
    "dense": lambda b, h, q, kv: dense[q, kv],
    "offset": lambda b, h, q, kv: q + offset >= kv,
    "packed": packed,
    "attention sink": lambda b, h, q, kv: (q >= kv) & ((kv < 4) | (q - kv < 8)),
    "per head": lambda b, h, q, kv: torch.where(h < 2, q >= kv, q - kv < 9),
    "logical": lambda b, h, q, kv: torch.logical_and(torch.logical_not(q < kv), torch.logical_or(kv % 2 == 0, q == kv)),
    "strided": lambda b, h, q, kv: (q - kv).remainder(5) == 0,
    "bits": lambda b, h, q, kv: ((q ^ kv) & 4) == 0,
    "nothing": lambda b, h, q, kv: q < 0,
}

means = torch.randn(max(SQ, SK), 3)
pairs = torch.rand(B, SK, 2)


SCORES = {
    "silu": lambda s, b, h, q, kv: torch.nn.functional.silu(s),
    "gelu": lambda s, b, h, q, kv: torch.nn.functional.gelu(s) + torch.nn.functional.gelu(s, approximate="tanh"),
    "softplus": lambda s, b, h, q, kv: torch.nn.functional.softplus(s) - torch.nn.functional.softplus(s, beta=2.0),
    "activations": lambda s, b, h, q, kv: (
        torch.nn.functional.leaky_relu(s, 0.2) + torch.nn.functional.elu(s) + torch.nn.functional.mish(s)
        - torch.nn.functional.hardtanh(s, -0.5, 0.7) - torch.nn.functional.relu6(s)
    ),
    "parts of numbers": lambda s, b, h, q, kv: torch.lerp(s, ((q + 1) / (kv + 1.5)).type_as(s), 0.25) + torch.frac((q + 0.25) / (kv + 1)),
    "lengths of two": lambda s, b, h, q, kv: torch.hypot(s, (q - kv) / 4.0) + torch.hypot(s * 0, s * 0 + 1e30) * 1e-30,
    "no numbers": lambda s, b, h, q, kv: s + torch.nan_to_num((q - q) / (kv * 0.0), nan=0.5),
    "masked fill": lambda s, b, h, q, kv: s.masked_fill(q < kv, -float("inf")),
    "type as": lambda s, b, h, q, kv: s + (q - kv).type_as(s) / 8,
    "max and min": lambda s, b, h, q, kv: torch.max(s, torch.min(s * 2, s + 1)),
    "distance of rows": lambda s, b, h, q, kv: s - (means[q] - means[kv]).pow(2).sum(-1).sqrt(),
    "products of rows": lambda s, b, h, q, kv: s + (means[q] * means[kv] / 2).sum(-1) + pairs[b, kv].mean(-1) + pairs[b, kv].amax(-1),
    "none": lambda s, b, h, q, kv: s,
    "causal": lambda s, b, h, q, kv: torch.where(q >= kv, s, float("-inf")),
    "inverse causal": lambda s, b, h, q, kv: torch.where(q <= kv, s, -float("inf")),
    "relative": lambda s, b, h, q, kv: s + (q - kv) / 16,
    "relative causal": lambda s, b, h, q, kv: torch.where(q >= kv, s + 0.01 * (q - kv), float("-inf")),
    "relative bias": lambda s, b, h, q, kv: s + relative[q - kv + LONG, h],
    "relative bias from the end": lambda s, b, h, q, kv: s + relative[q - kv, h],
    "ALiBi": lambda s, b, h, q, kv: s + slopes[h] * (kv - q),
    "ALiBi by exponent": lambda s, b, h, q, kv: s + torch.exp2(-((h + 1) * 8.0 / H)) * (kv - q),
    "soft cap": lambda s, b, h, q, kv: 20 * torch.tanh(s / 20),
    "tanh of methods": lambda s, b, h, q, kv: s.div(3.0).tanh().mul(3.0),
    "times two": lambda s, b, h, q, kv: s * 2,
    "head offset": lambda s, b, h, q, kv: s * head_offset[h],
    "head offset of bfloat16": lambda s, b, h, q, kv: s * head_offset_16[h],
    "checkerboard": lambda s, b, h, q, kv: torch.where((q - kv).abs() % 2 == 0, s * 0.5, s) * (1 + h / 8),
    "trigonometry": lambda s, b, h, q, kv: torch.where(h % 2 == 0, torch.cos(s) * torch.sin(s), s),
    "squared": lambda s, b, h, q, kv: s * s,
    "bias of one dimension": lambda s, b, h, q, kv: s + bias_1d[q] - bias_1d[kv],
    "bias of two": lambda s, b, h, q, kv: s + bias_2d[q, kv],
    "bias of three": lambda s, b, h, q, kv: s + bias_3d[h, q, kv],
    "bias of four": lambda s, b, h, q, kv: s + bias_4d[b, h, q, kv],
    "documents": lambda s, b, h, q, kv: torch.where(documents[b, q] == documents[b, kv], s, -float("inf")),
    "scalar": lambda s, b, h, q, kv: s * gate,
    "temperature": lambda s, b, h, q, kv: s / temperature[b],
    "distance": lambda s, b, h, q, kv: s - torch.log1p(torch.abs(q - kv).float()),
    "clamp": lambda s, b, h, q, kv: torch.clamp(s, -1.0, 1.0) + torch.minimum(s, s * 0.5),
    "sigmoid": lambda s, b, h, q, kv: s * torch.sigmoid(s),
    "batch and head": lambda s, b, h, q, kv: s + b * 0.1 - h * 0.2,
    "square root": lambda s, b, h, q, kv: s + torch.sqrt(torch.abs(s) + 1.0) + torch.rsqrt(s * s + 1.0),
}


#: Scores with what is learned: the shapes of tensors, and the function of them.
LEARNED = {
    "ALiBi": ([(H,)], lambda t: lambda s, b, h, q, kv: s + t[h] * (kv - q)),
    "ALiBi by exponent": ([(H,)], lambda t: lambda s, b, h, q, kv: s - torch.exp2(-t[h]) * (q - kv).abs()),
    "temperature of heads": ([(H,)], lambda t: lambda s, b, h, q, kv: s / t[h]),
    "temperature of entries": ([(B,)], lambda t: lambda s, b, h, q, kv: s / t[b]),
    "bias of heads": ([(H,)], lambda t: lambda s, b, h, q, kv: s + t[h]),
    "bias of queries": ([(SQ,)], lambda t: lambda s, b, h, q, kv: s + t[q]),
    "bias of keys": ([(SK,)], lambda t: lambda s, b, h, q, kv: s + t[kv]),
    "bias of heads and keys": ([(H, SK)], lambda t: lambda s, b, h, q, kv: s + t[h, kv]),
    "bias of two": ([(SQ, SK)], lambda t: lambda s, b, h, q, kv: s + t[q, kv]),
    "bias of three": ([(H, SQ, SK)], lambda t: lambda s, b, h, q, kv: s + t[h, q, kv]),
    "bias of four": ([(B, H, SQ, SK)], lambda t: lambda s, b, h, q, kv: s + t[b, h, q, kv]),
    "bias of entries": ([(B, 1, SQ, SK)], lambda t: lambda s, b, h, q, kv: s + t[b, 0, q, kv]),
    "bias of all": ([(1, 1, SQ, SK)], lambda t: lambda s, b, h, q, kv: s * t[0, 0, q, kv]),
    "tables for longer sequences": (
        [(LONG, H + 2), (H, LONG, LONG)], lambda t, u: lambda s, b, h, q, kv: s * t[q, h] + u[h, q, kv]
    ),
    "gate": ([()], lambda t: lambda s, b, h, q, kv: s * t),
    "gate of one": ([(1,)], lambda t: lambda s, b, h, q, kv: s * torch.sigmoid(t[0])),
    "soft cap": ([()], lambda t: lambda s, b, h, q, kv: t * torch.tanh(s / t)),
    "relative table": ([(SQ + SK, H)], lambda t: lambda s, b, h, q, kv: s + t[q - kv + SK, h]),
    "buckets of heads": ([(H, 8)], lambda t: lambda s, b, h, q, kv: s * t[h, (q - kv).abs() % 8]),
    "two tables": ([(9,), (9,)], lambda t, u: lambda s, b, h, q, kv: s * t[(q + kv) % 9] + u[q % 9]),
    "relative table of many": ([(1500, H)], lambda t: lambda s, b, h, q, kv: s + t[q - kv + 700, h]),
    "rows of a picture": (
        [(H, SQ, 6), (H, SQ, 8)], lambda t, u: lambda s, b, h, q, kv: s + t[h, q, kv // 8] + u[h, q, kv % 8]
    ),
    "windows of a picture": ([(10, 15, H)], lambda t: lambda s, b, h, q, kv: s * t[q // 8 - kv // 8 + 5, q % 8 - kv % 8 + 7, h]),
    "a row by a number": ([(B, H, 3, SK)], lambda t: lambda s, b, h, q, kv: s + t[b, h, 2, kv]),
    "rows by numbers": ([(3, H), (3, LONG)], lambda t, u: lambda s, b, h, q, kv: s * t[1][h] + t[-1, h] * u[0, q] + u[-2, kv]),
    "elements by numbers": ([(9,)], lambda t: lambda s, b, h, q, kv: torch.where(q >= kv, s * t[2], s * t[-1]) + t[2] * q / 8),
    "numbers and buckets": ([(3, 8)], lambda t: lambda s, b, h, q, kv: s * t[0, (q - kv).abs() % 8] + t[1, h]),
    "products of rows": ([(LONG, 3)], lambda t: lambda s, b, h, q, kv: s + (t[q] * t[kv]).sum(-1)),
    "two": ([(H,), (H, SK)], lambda t, u: lambda s, b, h, q, kv: s * t[h] + torch.where(q >= kv, u[h, kv], 0.0)),
}


def tensors(heads=H, dtype=torch.float32, sq=SQ, sk=SK, batch=B, value_dim=D):
    """Queries, keys and values that require grad."""
    torch.manual_seed(1)
    q, k = torch.randn(batch, H, sq, D), torch.randn(batch, heads, sk, D)
    v = torch.randn(batch, heads, sk, value_dim)
    return [tensor.to(dtype).requires_grad_() for tensor in (q, k, v)]


def gradients(results, inputs):
    """Of the results' sum, each element by a weight of its own; of rows without a key there is none."""
    torch.manual_seed(2)
    loss = sum((result.masked_fill(result.isinf(), 0) * torch.randn(result.shape)).sum() for result in results)
    return torch.autograd.grad(loss, inputs)


def logits_of(q, k, score=None, mask=None, scale=None):
    """By the formulas in float64; -inf where the mask drops a key."""
    q, k = q.double(), k.double()
    logits = q @ k.repeat_interleave(q.shape[1] // k.shape[1], 1).transpose(-1, -2)
    logits = logits * (q.shape[-1] ** -0.5 if scale is None else scale)
    b, h, i, j = (
        torch.arange(size).reshape([-1 if dim == place else 1 for dim in range(4)]) for place, size in enumerate(logits.shape)
    )
    if score is not None:
        logits = score(logits, b, h, i, j)
    keep = torch.ones((), dtype=torch.bool) if mask is None else mask(b, h, i, j)
    return logits.masked_fill(~keep, float("-inf"))


def plain(q, k, v, score=None, mask=None, scale=None):
    """`out` and `lse`, by the formulas in float64."""
    logits = logits_of(q, k, score, mask, scale)
    v = v.double().repeat_interleave(q.shape[1] // v.shape[1], 1)
    empty = (logits == float("-inf")).all(-1, keepdim=True)
    weights = logits.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, logits.masked_fill(empty, 0.0).logsumexp(-1).masked_fill(empty[..., 0], float("-inf"))
