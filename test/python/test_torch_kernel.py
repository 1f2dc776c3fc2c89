"""Kernels by themselves on tensors of torch, which go to the launch without Python."""

import concurrent.futures

import pytest
import torch
import torch_reference

import attnc
import attnc.torch

q, k, v = torch.randn(2, 9, 4, 16), torch.randn(2, 13, 2, 16), torch.randn(2, 13, 2, 24)


def test_results_are_torch_s():
    attention = attnc.jit()
    wanted, wanted_lse = torch_reference.attention(q, k, v)
    for _ in range(2):
        out, lse = attention(q, k, v, return_lse=True)
        assert type(out) is torch.Tensor and out.is_contiguous() and not out.requires_grad
        torch.testing.assert_close(out.double(), wanted, atol=3e-5, rtol=0)
        torch.testing.assert_close(lse.double(), wanted_lse, atol=1e-4, rtol=0)
    # Results are new each time.
    assert attention(q, k, v).data_ptr() != out.data_ptr()


def test_sizes_differ_from_call_to_call():
    attention = attnc.jit()
    for rows, keys in ((9, 13), (9, 13), (1, 5), (0, 5), (9, 13)):
        out = attention(q[:, :rows], k[:, :keys], v[:, :keys])
        torch.testing.assert_close(out.double(), torch_reference.attention(q[:, :rows], k[:, :keys], v[:, :keys])[0], atol=3e-5, rtol=0)


def test_faults_have_the_same_words():
    kernel = attnc.compile(attnc.jit().spec(q, k, v))
    out = kernel(q, k, v)[0]
    for bad, words in (
        ((q, k, v[:, :5]), "argument 'v'"), ((q, k), "takes 3 inputs"), ((q.double(), k, v), "argument 'q'"),
        ((q[0], k, v), "argument 'q': expected rank 4, got 3"), ((q, k, 3), "argument 'v'"),
        ((q.clone().requires_grad_(), k, v), "argument 'q' requires grad"),
        ((q.to("meta"), k, v), "expected tensors on the CPU or an NVIDIA GPU, got one on meta"),
    ):  # fmt: skip
        with pytest.raises((attnc.Error, TypeError), match=words):
            kernel(*bad)
    assert (kernel(q, k, v)[0] == out).all()
    with torch.no_grad():
        assert (kernel(q.clone().requires_grad_(), k, v)[0] == out).all()
    # numpy's and torch's tensors may take turns.
    arrays = [tensor.cpu().numpy() for tensor in (q, k, v)]
    torch.testing.assert_close(torch.from_numpy(kernel(*arrays)[0]), out.cpu(), atol=0 if torch_reference.DEVICE == "cpu" else 3e-5, rtol=0)


@pytest.mark.skipif(torch_reference.DEVICE == "cpu" or torch.cuda.device_count() < 2, reason="there are no two GPUs")
def test_two_gpus_at_once():
    attention = attnc.jit(mask_mod=lambda b, h, i, j: i >= j)
    wanted = torch_reference.attention(q, k, v, causal=True, shift=0)[0]
    inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    gradients = torch.autograd.grad(attnc.torch.flash_attn_func(*inputs, causal=True).square().sum(), inputs)

    # A thread's current GPU is the first, wherever its tensors lie.
    def work(number):
        device = f"cuda:{number % 2}"
        own = [tensor.to(device) for tensor in (q, k, v)]
        learned = [tensor.clone().requires_grad_() for tensor in own]
        for _ in range(20):
            out = attention(*own)
            assert out.device == torch.device(device)
            torch.testing.assert_close(out.double(), wanted.to(device), atol=3e-5, rtol=0)
            found = torch.autograd.grad(attnc.torch.flash_attn_func(*learned, causal=True).square().sum(), learned)
            for ours, theirs in zip(found, gradients, strict=True):
                torch.testing.assert_close(ours, theirs.to(device), atol=1e-5, rtol=1e-5)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    with pytest.raises(attnc.Error, match="argument 'k': expected .* device"):
        attention(q.to("cuda:0"), k.to("cuda:1"), v.to("cuda:0"))
