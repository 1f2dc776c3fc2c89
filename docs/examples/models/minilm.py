"""all-MiniLM-L6-v2 with attention by attnc, in JAX or PyTorch: how alike sentences of different lengths are.

python docs/examples/models/minilm.py [--framework torch] "A man eats." "Somebody is having lunch." "The sky is blue."
"""

import argparse

import numpy as np
import weights


def embed_jax(model, tokens, lengths):
    """Embeddings [B, 384] of tokens [B, S]; keys from a length on are padding."""
    import jax
    from jax import numpy as jnp

    from attnc.jax import MaskInfo, flash_attention

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + model.epsilon)
        return x * held[f"{name}.weight"] + held[f"{name}.bias"]

    def linear(x, name):
        return x @ held[f"{name}.weight"].T + held[f"{name}.bias"]

    held = {name: jnp.asarray(array) for name, array in model.weights.items()}
    rows = jnp.arange(tokens.shape[1]) < lengths[:, None]
    mask = MaskInfo.from_attention_mask(rows)
    x = held["embeddings.word_embeddings.weight"][tokens] + held["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = norm(x + held["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(model.layers):
        block = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{block}.attention.self.{name}").reshape(*tokens.shape, model.heads, -1)
            for name in ("query", "key", "value")
        )
        y = flash_attention(q, k, v, mask_info=mask).reshape(x.shape)
        x = norm(x + linear(y, f"{block}.attention.output.dense"), f"{block}.attention.output.LayerNorm")
        y = jax.nn.gelu(linear(x, f"{block}.intermediate.dense"), approximate=False)
        x = norm(x + linear(y, f"{block}.output.dense"), f"{block}.output.LayerNorm")
    mean = (x * rows[..., None]).sum(1) / lengths[:, None]
    return np.asarray(mean / jnp.linalg.norm(mean, axis=-1, keepdims=True))


def embed_torch(model, tokens, lengths):
    """Embeddings [B, 384] of tokens [B, S]; keys from a length on are padding."""
    import torch
    from torch.nn import functional

    from attnc.torch import create_block_mask, flex_attention

    def norm(x, name):
        return functional.layer_norm(x, x.shape[-1:], held[f"{name}.weight"], held[f"{name}.bias"], model.epsilon)

    def linear(x, name):
        return functional.linear(x, held[f"{name}.weight"], held[f"{name}.bias"])

    held = {name: torch.tensor(array) for name, array in model.weights.items()}
    tokens, lengths = torch.tensor(tokens), torch.tensor(lengths)
    rows = torch.arange(tokens.shape[1]) < lengths[:, None]
    mask = create_block_mask(lambda b, h, q_idx, kv_idx: kv_idx < lengths[b], len(lengths), None, *[tokens.shape[1]] * 2)
    x = held["embeddings.word_embeddings.weight"][tokens] + held["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = norm(x + held["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(model.layers):
        block = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{block}.attention.self.{name}").unflatten(-1, (model.heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        y = flex_attention(q, k, v, block_mask=mask).transpose(1, 2).reshape(x.shape)
        x = norm(x + linear(y, f"{block}.attention.output.dense"), f"{block}.attention.output.LayerNorm")
        y = functional.gelu(linear(x, f"{block}.intermediate.dense"))
        x = norm(x + linear(y, f"{block}.output.dense"), f"{block}.output.LayerNorm")
    mean = (x * rows[..., None]).sum(1) / lengths[:, None]
    return functional.normalize(mean, dim=-1).cpu().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", default=["A man eats.", "Somebody is having lunch, I think.", "The sky is blue."])
    parser.add_argument("--framework", choices=("jax", "torch"), default="jax")
    given = parser.parse_args()
    model = weights.minilm()
    embed = embed_jax if given.framework == "jax" else embed_torch
    if given.framework == "torch":
        import torch

        torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    found = embed(model, *model.encode(given.texts))
    for text, row in zip(given.texts, found @ found.T):
        print(" ".join(f"{number:5.2f}" for number in row), text)


if __name__ == "__main__":
    main()
