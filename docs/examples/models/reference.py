"""The models by their formulas in numpy, each layer with the whole matrix of weights: what the others are held against."""

import numpy as np
from weights import rope_tables


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def attention(q, k, v, keep):
    """Of [B, S, H, D] arrays."""
    k, v = (array.repeat(q.shape[2] // k.shape[2], axis=2) for array in (k, v))
    logits = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    return np.einsum("bhij,bjhd->bihd", softmax(np.where(keep, logits, -np.inf)), v)


def smollm2_logits(model, tokens):
    """Logits [S, vocabulary] of tokens [S]."""
    sizes, weights, _ = model
    cos, sin = (table[None, :, None] for table in rope_tables(sizes, np.arange(len(tokens))))
    past = np.tril(np.ones((len(tokens), len(tokens)), bool))

    def norm(x, name):
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + sizes.epsilon) * weights[f"{name}.weight"]

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T

    def rotated(x):
        even, odd = x[..., ::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)

    x = weights["token_embd.weight"][tokens][None]
    for layer in range(sizes.layers):
        block = f"blk.{layer}"
        y = norm(x, f"{block}.attn_norm")
        q, k, v = (linear(y, f"{block}.attn_{name}").reshape(1, len(tokens), -1, sizes.head_dim) for name in "qkv")
        y = attention(rotated(q), rotated(k), v, past)
        x = x + linear(y.reshape(x.shape), f"{block}.attn_output")
        y = norm(x, f"{block}.ffn_norm")
        gate = linear(y, f"{block}.ffn_gate")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(y, f"{block}.ffn_up"), f"{block}.ffn_down")
    return linear(norm(x, "output_norm"), "token_embd")[0]


def minilm_embeddings(model, tokens, lengths):
    """Embeddings [B, 384] of tokens [B, S], of length 1."""
    weights = model.weights
    rows = np.arange(tokens.shape[1]) < lengths[:, None]

    def norm(x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + model.epsilon)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def gelu(x):
        # The error function by Abramowitz and Stegun 7.1.26, to 1.5e-7.
        z = abs(x) / np.sqrt(2)
        t = 1 / (1 + 0.3275911 * z)
        series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        return 0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))

    x = weights["embeddings.word_embeddings.weight"][tokens] + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(model.layers):
        block = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{block}.attention.self.{name}").reshape(*tokens.shape, model.heads, -1)
            for name in ("query", "key", "value")
        )
        y = attention(q, k, v, rows[:, None, None]).reshape(x.shape)
        x = norm(x + linear(y, f"{block}.attention.output.dense"), f"{block}.attention.output.LayerNorm")
        y = linear(gelu(linear(x, f"{block}.intermediate.dense")), f"{block}.output.dense")
        x = norm(x + y, f"{block}.output.LayerNorm")
    mean = (x * rows[..., None]).sum(axis=1) / lengths[:, None]
    return mean / np.linalg.norm(mean, axis=-1, keepdims=True)
