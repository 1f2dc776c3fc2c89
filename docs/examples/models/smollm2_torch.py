"""SmolLM2 135M in PyTorch, with attention by attnc: writes on from a prompt, or learns a text by heart. Tensors lie on torch's
default device, which is a GPU below where there is one.

python docs/examples/models/smollm2_torch.py "The capital of France is"
python docs/examples/models/smollm2_torch.py --train 20
"""

import numpy as np
import torch
import weights
from torch.nn import functional

from attnc.torch import flash_attn_func, varlen_attn


class Decoder(torch.nn.Module):
    """A decoder of Llama's kind. attend(layer, q, k, v) is its attention of [B, S, H, D] tensors."""

    def __init__(self, model):
        super().__init__()
        self.sizes = model.sizes
        self.held = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.tensor(array) for name, array in model.weights.items()}
        )

    def weight(self, name):
        return self.held[f"{name}.weight".replace(".", "/")]

    def norm(self, x, name):
        return functional.rms_norm(x, x.shape[-1:], self.weight(name), self.sizes.epsilon)

    def linear(self, x, name):
        return functional.linear(x, self.weight(name))

    def blocks(self, x, layers, cos, sin, attend):
        """Some layers of [B, S, 576]."""
        cos, sin = (torch.tensor(table)[None, :, None] for table in (cos, sin))

        def rotated(x):
            even, odd = x[..., ::2], x[..., 1::2]
            return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)

        for layer in layers:
            block = f"blk.{layer}"
            y = self.norm(x, f"{block}.attn_norm")
            q, k, v = (
                self.linear(y, f"{block}.attn_{name}").reshape(*x.shape[:2], -1, self.sizes.head_dim) for name in "qkv"
            )
            y = attend(layer, rotated(q), rotated(k), v)
            x = x + self.linear(y.reshape(x.shape), f"{block}.attn_output")
            y = self.norm(x, f"{block}.ffn_norm")
            y = functional.silu(self.linear(y, f"{block}.ffn_gate")) * self.linear(y, f"{block}.ffn_up")
            x = x + self.linear(y, f"{block}.ffn_down")
        return x

    def embed(self, tokens):
        return self.weight("token_embd")[tokens]

    def head(self, x):
        return self.linear(self.norm(x, "output_norm"), "token_embd")

    def forward(self, tokens, cos, sin, attend):
        """Logits of tokens [B, S]."""
        return self.head(self.blocks(self.embed(tokens), range(self.sizes.layers), cos, sin, attend))


def causal(layer, q, k, v):
    """Attention of a whole text by attnc."""
    return flash_attn_func(q, k, v, causal=True)


class Cache:
    """Keys and values of what was read, with room for more."""

    def __init__(self, sizes, room):
        self.keys, self.values = torch.zeros(2, sizes.layers, room, sizes.key_heads, sizes.head_dim)
        self.used = 0

    def attend(self, layer, q, k, v):
        """Attention of the next tokens to all before them. One kernel serves every number of them: lengths are data."""
        rows = q.shape[1]
        used = self.used + rows
        self.keys[layer, self.used : used] = k[0]
        self.values[layer, self.used : used] = v[0]
        offsets = [torch.tensor([0, count], dtype=torch.int32) for count in (rows, self.keys.shape[1])]
        lengths = torch.tensor([used], dtype=torch.int32)
        keys, values = self.keys[layer], self.values[layer]
        return varlen_attn(q[0], keys, values, *offsets, window_size=(-1, 0), enable_gqa=True, seqused_k=lengths)[None]


@torch.no_grad()
def generate(model, prompt, count):
    """The most likely tokens after a prompt, and the logits of all."""
    decoder, cache = Decoder(model), Cache(model.sizes, len(prompt) + count)
    cos, sin = weights.rope_tables(model.sizes, np.arange(len(prompt) + count))
    found, tokens, given = [], [], prompt
    for _ in range(count + 1):
        here = slice(cache.used, cache.used + len(given))
        found.append(decoder(torch.tensor([given]), cos[here], sin[here], cache.attend)[0])
        cache.used = here.stop
        given = [int(found[-1][-1].argmax())]
        tokens += given
    return tokens[:count], torch.cat(found).cpu().numpy()


def train(model, tokens, steps, rate=1e-2, count=4, attend=causal):
    """The losses of so many steps of plain descent on one text. count: how many layers learn, the last ones."""
    decoder = Decoder(model)
    cos, sin = weights.rope_tables(model.sizes, np.arange(len(tokens) - 1))
    fixed, learning = range(model.sizes.layers - count), range(model.sizes.layers - count, model.sizes.layers)
    starts = tuple(f"blk/{layer}/" for layer in learning)
    for name, parameter in decoder.held.items():
        parameter.requires_grad_(name.startswith(starts))
    optimizer = torch.optim.SGD([parameter for parameter in decoder.parameters() if parameter.requires_grad], lr=rate)
    # What does not learn gives the same in each step.
    x = decoder.blocks(decoder.embed(torch.tensor([tokens[:-1]])), fixed, cos, sin, attend)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        logits = decoder.head(decoder.blocks(x, learning, cos, sin, attend))
        loss = functional.cross_entropy(logits[0], torch.tensor(tokens[1:]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    weights.run_decoder(__doc__, train, generate)
