"""What a spec means, in numpy: the formulas of docs/spec.md on whole tensors at once.

Independent of dialect/reference/Reference*.cpp, which is held against it. With `Precision.BASELINE` the same is done in the
types of the inputs and f32, which tells how well conditioned a spec is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from regions import Arrays, Evaluator, Grid, make_grid, scalar
from scalars import Precision, cut_to_tf32, multiply_to_tf32, round_to, round_to_tf32
from spec import Kernel, Region, Spec, shape_of

# The first variant of the baseline that sums one product after the other.
SEQUENTIAL = 100
# The first that sums as tensor cores do: eight or sixteen products at a time, cut off and not rounded. (Of TF32 they take
# half as many, which no result shows beside the rounding of what is multiplied.)
TENSOR_CORES = 200

# --- Attention --------------------------------------------------------------------------------------------------------


def gather_keys(kernel: Kernel, number: int, inputs: Arrays, grid: Grid, real: type) -> np.ndarray:
    """Keys or values, tensor `number` of the kernel, as [B, H, S, D]; those of a page that is none are of some other."""
    tensor = inputs[kernel.tensors[number]]
    if not kernel.page_table:
        return gather(tensor, kernel, grid.key_starts, grid.keys, real)
    pages = tensor[np.clip(inputs[kernel.page_table], 0, len(tensor) - 1)]
    rows = pages.reshape(grid.batch, grid.keys, *tensor.shape[2:])
    # No query sees what lies behind a length.
    seen = grid.inside.any(axis=(1, 2)).reshape(grid.batch, -1, 1, 1) if grid.queries else np.zeros((grid.batch, 1, 1, 1), dtype=bool)
    return np.ascontiguousarray(np.where(seen, rows, 0).astype(real).transpose(0, 2, 1, 3))


def gather(tensor: np.ndarray, kernel: Kernel, starts: np.ndarray, rows: int, real: type) -> np.ndarray:
    """Rows of every sequence as [B, H, S, D]; what lies behind a packed sequence is some other row."""
    if kernel.packed:
        places = starts[:, None] + np.arange(rows)[None, :]
        tensor = tensor[np.clip(places, 0, max(len(tensor) - 1, 0))] if len(tensor) else np.zeros(
            (len(starts), rows, *tensor.shape[1:]))
    return np.ascontiguousarray(tensor.astype(real).transpose(0, 2, 1, 3))


def multiply_in_turn(left: np.ndarray, right: np.ndarray, variant: int) -> np.ndarray:
    """left @ right, summed one product after the other, in an order that `variant` says."""
    if variant >= TENSOR_CORES:
        return multiply_by_tensor_cores(left, right, variant - TENSOR_CORES)
    terms = left.shape[-1]
    order = np.random.default_rng(variant).permutation(terms) if variant > SEQUENTIAL else range(terms)
    result = np.zeros((*left.shape[:-1], right.shape[-1]), dtype=left.dtype)
    for term in order:
        result += left[..., term, None] * right[..., None, term, :]
    return result


def multiply_by_tensor_cores(left: np.ndarray, right: np.ndarray, generation: int) -> np.ndarray:
    """left @ right as tensor cores sum: the sum before and so many products are cut off where the last bit of the greatest
    of them is, and the new sum is cut to 24 bits.

    After M. Fasi et al., Numerical behavior of NVIDIA tensor cores (PeerJ CS, 2021): eight at a time and one bit more
    (Ampere), or sixteen and two (Hopper).
    """
    together, more = 8 << generation, 1 + generation
    result = np.zeros((*left.shape[:-1], right.shape[-1]))

    def cut(numbers: np.ndarray, exponent: np.ndarray, bits: int) -> np.ndarray:
        unit = np.ldexp(1.0, np.clip(exponent - bits, -1000, 900))
        return np.trunc(numbers / unit) * unit

    for first in range(0, left.shape[-1], together):
        # Products of 16-bit numbers, and of TF32, are exact in f64.
        products = left[..., :, None, first : first + together].astype(np.float64) * np.swapaxes(right, -1, -2)[..., None, :, first : first + together]
        terms = np.concatenate([products, result[..., None]], axis=-1)
        exponent = np.frexp(np.abs(terms).max(axis=-1))[1]
        total = cut(terms, exponent[..., None], 24 + more).sum(axis=-1)
        total = np.where(np.isfinite(terms).all(axis=-1), total, terms.sum(axis=-1))
        result = np.where(np.isfinite(total), cut(total, np.frexp(total)[1], 24), total)
    return result.astype(left.dtype)


def rounding_of(spec: Spec, kernel: Kernel, precision: Precision, variant: int) -> Callable[[np.ndarray], np.ndarray]:
    """What products do to their operands first. Odd variants cut TF32 off, as tensor cores do with what nobody has rounded;
    those of tensor cores round as our kernels do."""
    if precision is not Precision.BASELINE or not spec.rounds_to_tf32(kernel):
        return lambda x: x
    if variant >= TENSOR_CORES:
        return multiply_to_tf32
    return cut_to_tf32 if variant % 2 else round_to_tf32


def compute_logits(spec: Spec, kernel: Kernel, inputs: Arrays, grid: Grid, precision: Precision,
                   variant: int = 0) -> np.ndarray:
    """S1. Variants sum the products in other orders: up to `SEQUENTIAL` in as many parts as their number says, from
    there on one after the other, in an order of their own."""
    real = np.float64 if precision is Precision.EXACT else np.float32
    query = gather(inputs[kernel.tensors[0]], kernel, grid.query_starts, grid.queries, real)
    key = gather_keys(kernel, 1, inputs, grid, real)
    key = np.repeat(key, grid.heads // key.shape[1], axis=1)
    query, key = map(rounding_of(spec, kernel, precision, variant), (query, key))
    scale = kernel.clauses.get("scale", 1 / np.sqrt(query.shape[-1]))
    if isinstance(scale, str):
        scale = float(scalar(spec, inputs, scale)[0, 0, 0, 0])
    elif "scale" in kernel.clauses:
        scale = float(np.float32(scale))
    with np.errstate(all="ignore"):
        if variant >= TENSOR_CORES:
            return multiply_in_turn(query, key.transpose(0, 1, 3, 2), variant) * real(scale)
        if variant:
            # Some terms after the others, and the scale first.
            dims = query.shape[-1]
            query = query * real(scale)
            logits = np.zeros((*query.shape[:-1], key.shape[-2]), dtype=real)
            if variant >= SEQUENTIAL:
                return multiply_in_turn(query, key.transpose(0, 1, 3, 2), variant)
            for part in range(variant):
                chosen = range(part, dims, variant)
                logits = logits + query[..., chosen] @ key[..., chosen].transpose(0, 1, 3, 2)
            return logits
        return (query @ key.transpose(0, 1, 3, 2)) * real(scale)


def seed_words(spec: Spec, inputs: Arrays, name: str) -> np.ndarray:
    """The words of a seed of dropout, which is a number or a tensor."""
    return inputs[name] if name in inputs else scalar(spec, inputs, name)


def dropout_factors(grid: Grid, probability: np.float32, words: np.ndarray) -> np.ndarray:
    """S9: Philox4x32-7 of the seed and the place, rows counted from the sequence's first; eight elements share a call.
    words: the seed; or its two halves, the low one first; or these and the numbers of the first batch entry and head."""
    parts = [int(part) for part in words.reshape(-1)]
    seed = parts[0] if len(parts) == 1 else (parts[0] & 0xFFFFFFFF) | (parts[1] & 0xFFFFFFFF) << 32
    first_batch, first_head = parts[2:] or (0, 0)
    shape = (grid.batch, grid.heads, grid.queries, grid.keys)
    low = np.uint64(0xFFFFFFFF)
    i, j = np.arange(grid.queries).reshape(1, 1, -1, 1), np.arange(grid.keys).reshape(1, 1, 1, -1)
    places = ((grid.b + first_batch) & 0xFFFFFFFF, (grid.h + first_head) & 0xFFFFFFFF, i // 16 * 8 + i % 8, j // 16 * 4 + j % 8 // 2)
    counter = [np.broadcast_to(place, shape).astype(np.uint64) for place in places]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64((seed >> 32) & 0xFFFFFFFF)]
    for _ in range(7):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> np.uint64(32)) ^ counter[1] ^ key[0], second & low,
                   (first >> np.uint64(32)) ^ counter[3] ^ key[1], first & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    word = np.choose(np.broadcast_to(i // 8 % 2 * 2 + j // 8 % 2, shape), counter)
    number = np.where(j % 2 == 0, word & np.uint64(0xFFFF), word >> np.uint64(16)).astype(np.int64)
    dropped = int(np.rint(65536 * float(probability)))
    return np.where(number >= dropped, 0.0 if dropped == 65536 else 65536 / (65536 - dropped), 0.0)


def evaluate_region(spec: Spec, grid: Grid, inputs: Arrays, region: Region, precision: Precision,
                    logits: np.ndarray | None = None, variant: int = 0) -> np.ndarray:
    evaluator = Evaluator(spec, grid, inputs, region, precision, logits)
    evaluator.library = variant > 0
    evaluator.ulps = (0, 1, 0, -1)[variant % 4]
    for op in region.ops:
        evaluator.run(op)
    return evaluator.value(region.result)


def compute_keep(spec: Spec, kernel: Kernel, inputs: Arrays, grid: Grid) -> np.ndarray:
    """S3, S11: the keys that each query sees."""
    keep = np.broadcast_to(grid.inside, (grid.batch, grid.heads, grid.queries, grid.keys))
    if kernel.mask:
        keep = keep & (evaluate_region(spec, grid, inputs, kernel.mask, Precision.EXACT) != 0)
    return keep


def power_of_machine(x: np.ndarray, variant: int) -> np.ndarray:
    """e^x as kernels take it in f32: a power of 2 of a product that is rounded, by an instruction whose error, up to 2
    ulp, is the same where its operand is, and another in each variant."""
    octaves = x * np.float32(np.log2(np.e))
    wide = octaves.astype(np.float64)
    return (np.exp2(wide) * (1 + 2.0**-22 * np.where(np.isfinite(wide), np.sin(1e5 * wide + variant), 0))).astype(np.float32)


def add_up(weights: np.ndarray, variant: int) -> np.ndarray:
    """The sums of rows. Variants from `SEQUENTIAL` on add one weight after the other, in some lanes: where weights are all
    alike, each addition rounds the same way."""
    if variant < SEQUENTIAL or weights.shape[-1] == 0:
        return weights.sum(axis=-1, keepdims=True)
    lanes = 1 << variant % 4
    return sum(np.add.accumulate(weights[..., lane::lanes], axis=-1)[..., -1:] for lane in range(min(lanes, weights.shape[-1])))


def reference_below_maximum(variant: int) -> float:
    """How far below the maximum of its row the reference of its weights lies.

    Kernels take a maximum of earlier keys, or round it in octaves: where all logits of a row are alike, its weights are not
    1 but any number, all cut to the same 8 or 11 bits. Just above 1 that takes most: half a unit of bf16 or of f16.
    """
    if variant % 2 == 0 or variant == 1:
        return 0.0
    return {3: np.log1p(0.98 * 2.0**-8), SEQUENTIAL + 1: np.log1p(0.98 * 2.0**-11)}.get(variant, variant * 0.618 % 1)


def run_kernel(spec: Spec, kernel: Kernel, inputs: Arrays, precision: Precision, variant: int = 0) -> Arrays:
    """The results of a kernel by their names. Variants of the baseline are as plain, and round elsewhere."""
    real = np.float64 if precision is Precision.EXACT else np.float32
    grid = make_grid(spec, kernel, inputs)
    with np.errstate(all="ignore"):
        scores = compute_logits(spec, kernel, inputs, grid, precision, variant)
        if kernel.score:
            scores = evaluate_region(spec, grid, inputs, kernel.score, precision, scores, variant)
        scores = np.where(compute_keep(spec, kernel, inputs, grid), scores, -np.inf).astype(real)
        maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        sinks = np.full((1, grid.heads, 1, 0), 0.0, dtype=real)
        if "sinks" in kernel.clauses:
            sinks = inputs[kernel.clauses["sinks"]].astype(real)
            sinks = np.broadcast_to(sinks, (grid.heads, sinks.shape[-1])).reshape(1, grid.heads, 1, -1)
            maximum = np.maximum(maximum, sinks.max(axis=-1, keepdims=True, initial=-np.inf))
        # Queries at or behind their length are empty, sinks or not.
        rows = np.arange(grid.queries).reshape(1, 1, -1, 1) < grid.query_lengths.reshape(-1, 1, 1, 1)
        empty = (maximum == -np.inf) | ~rows
        power = functools.partial(power_of_machine, variant=variant) if variant % 4 >= 2 else np.exp
        below = real(reference_below_maximum(variant)) if precision is Precision.BASELINE else real(0)
        total = sum(add_up(power(part - maximum + below), variant) for part in (scores, sinks))
        weights = np.where(empty, 0, power(scores - maximum + below) / total)
        lse = np.where(empty, -np.inf, maximum + (np.log(total) - below))[..., 0]
        element = shape_of(spec.arguments[kernel.tensors[0]])[1]
        if dropout := kernel.clauses.get("dropout"):
            probability, seed = dropout
            if isinstance(probability, str):
                probability = scalar(spec, inputs, probability)[0, 0, 0, 0]
            weights = weights * dropout_factors(grid, np.float32(probability), seed_words(spec, inputs, seed))
        if precision is Precision.BASELINE and variant % 2:
            # Before they are divided: where a row's weights are all alike, they are all rounded alike, well or badly.
            weights = np.where(empty, 0, round_to(weights * total, element) / total)
        elif precision is Precision.BASELINE:
            weights = round_to(weights, element)
        if kernel.kind == "weights":
            return {kernel.results[0]: weights}
        value = gather_keys(kernel, 2, inputs, grid, real)
        # What has no weight takes no part, even where it is no number.
        value = np.where(np.isfinite(value), value, 0)
        value = np.repeat(value, grid.heads // value.shape[1], axis=1)
        weights, value = map(rounding_of(spec, kernel, precision, variant), (weights, value))
        out = multiply_in_turn(weights, value, variant) if variant >= SEQUENTIAL else weights @ value
        out = out.transpose(0, 2, 1, 3)
    if not kernel.packed:
        results = [out, lse]
    else:
        total_rows = inputs[kernel.tensors[0]].shape[0]
        packed_out = np.zeros((total_rows, *out.shape[2:]), dtype=real)
        packed_lse = np.zeros((grid.heads, total_rows), dtype=real)
        for n, (start, length) in enumerate(zip(grid.query_starts, grid.query_lengths)):
            packed_out[start : start + length] = out[n, :length]
            packed_lse[:, start : start + length] = lse[n, :, :length]
        results = [packed_out, packed_lse]
    return dict(zip(kernel.results, results))


def run_spec(spec: Spec, inputs: Arrays, precision: Precision = Precision.EXACT, variant: int = 0) -> Arrays:
    """All results that the function returns, by their names there."""
    values: Arrays = {}
    for kernel in spec.kernels:
        values.update(run_kernel(spec, kernel, inputs, precision, variant))
    return {name: values[value] for value, name in spec.returns}
