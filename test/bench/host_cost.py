"""What a call costs apart from its kernel: microseconds by path, with tensors so small that nothing is left to compute.

    PYTHONPATH=build/release/python .venv/bin/python test/bench/host_cost.py

On a CPU the kernel itself is in every row: 'launch' is the least that a call can take. On a GPU calls come in series, between
which it finishes: so few that none waits for the GPU. Frameworks that are not installed are left out.
"""

import argparse
import ctypes
import importlib.util
import platform
import statistics
import time

import attnc
from attnc._jit import kernel_of


# Launches that the driver's queue holds beside what else a call may put there.
CALLS_OF_SERIES = 50


def mean(call, count):
    """Seconds of one of so many calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def cost(call, seconds, finish=None):
    """Microseconds of a call: the least mean of some rounds, since others may use the machine. With `finish`, which waits
    for a GPU, the median of series."""
    call()
    if finish is None:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 8:
            call()
            count += 1
        return min(mean(call, count) for _ in range(8)) * 1e6
    means, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        finish()
        means.append(mean(call, CALLS_OF_SERIES))
    finish()
    return statistics.median(means) * 1e6


def of_numpy():
    import numpy as np

    q, k, v, out = (np.ones((1, 1, 1, 8), np.float32) for _ in range(4))
    lse = np.ones((1, 1, 1), np.float32)
    attention = attnc.jit()
    kernel = kernel_of(attention.spec(q, k, v))
    yield "numpy", "kernel(q, k, v, out=…)", lambda: kernel(q, k, v, out=(out, lse))
    yield "numpy", "kernel(q, k, v)", lambda: kernel(q, k, v)


class Driver:
    """The launch of an empty kernel by CUDA's driver, called as directly as Python can. The kernel takes as many bytes as
    attention of three tensors, its output and its LSE does."""

    BYTES = 43 * 8
    PTX = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(.param .align 8 .b8 p[%d]) { ret; }\n\0"

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.block = ctypes.create_string_buffer(self.BYTES)
        self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.block))
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.cuModuleLoadData(ctypes.byref(self.module), self.PTX % self.BYTES))
        self.check(self.library.cuModuleGetFunction(ctypes.byref(self.function), self.module, b"nothing"))
        self.library.cuLaunchKernel.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"CUDA's driver: error {status}")

    def launch(self):
        self.library.cuLaunchKernel(self.function, 1, 1, 1, 32, 1, 1, 0, None, self.parameters, None)

    def refuse(self):
        """The same call, which ends at once: what is left is Python's."""
        self.library.cuLaunchKernel(None, 1, 1, 1, 32, 1, 1, 0, None, self.parameters, None)


def of_driver():
    driver = Driver()
    yield "CUDA", "the driver's launch of an empty kernel, by ctypes", driver.launch
    yield "CUDA", "the same call without a kernel", driver.refuse


def of_torch(device):
    import torch
    from torch.nn import functional

    from attnc.torch import create_block_mask, flash_attn_func, flex_attention

    q, k, v, out = (torch.ones(1, 1, 1, 8, device=device) for _ in range(4))
    lse = torch.ones(1, 1, 1, device=device)
    attention = attnc.jit()
    kernel = kernel_of(attention.spec(q, k, v))
    launch, spec = kernel.prepare(device).launch, kernel.spec
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 1, 1)
    learning = q.clone().requires_grad_()

    def step():
        flash_attn_func(learning, k, v).sum().backward()

    def step_of_torch():
        functional.scaled_dot_product_attention(learning, k, v).sum().backward()

    if device != "cpu":
        yield from of_driver()
    yield "torch", "two torch.empty, for comparison", lambda: (torch.empty((1, 1, 1, 8), device=device), torch.empty((1, 1, 1), device=device))
    yield "torch", "scaled_dot_product_attention, for comparison", lambda: functional.scaled_dot_product_attention(q, k, v)
    yield "torch", "launch", lambda: launch((q, k, v, out, lse))
    yield "torch", "kernel(q, k, v)", lambda: kernel(q, k, v)
    yield "torch", "attnc.jit()(q, k, v)", lambda: attention(q, k, v)
    yield "torch", "flex_attention(q, k, v)", lambda: flex_attention(q, k, v)
    yield "torch", "flex_attention(q, k, v, block_mask=…)", lambda: flex_attention(q, k, v, block_mask=mask)
    yield "torch", "flash_attn_func(q, k, v)", lambda: flash_attn_func(q, k, v)
    yield "torch", "torch.ops.attnc.forward", lambda: torch.ops.attnc.forward(q, k, v, [], [], spec)
    yield "torch", "flash_attn_func, forward and backward", step
    yield "torch", "scaled_dot_product_attention, forward and backward, for comparison", step_of_torch


def of_jax():
    import jax
    from jax import numpy as jnp

    from attnc.jax import flash_attention

    q, k, v = jnp.ones((3, 1, 1, 1, 8))
    empty = jax.jit(lambda q, k, v: q)
    compiled = jax.jit(lambda q, k, v: flash_attention(q, k, v))
    yield "jax", "jit of nothing, for comparison", lambda: empty(q, k, v).block_until_ready()
    yield "jax", "jit of flash_attention", lambda: compiled(q, k, v).block_until_ready()
    yield "jax", "flash_attention", lambda: flash_attention(q, k, v).block_until_ready()


def rows(device, seconds):
    """Framework, path and microseconds of each path whose framework is installed."""
    found = []
    for name, paths in (("numpy", of_numpy), ("torch", lambda: of_torch(device)), ("jax", of_jax)):
        if importlib.util.find_spec(name) is None:
            continue
        finish = None
        if name == "torch" and device != "cpu":
            import torch

            finish = torch.cuda.synchronize
        found += [(framework, path, cost(call, seconds, finish)) for framework, path, call in paths()]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default 1)")
    parser.add_argument("--device", default="cpu", help="of torch's tensors: cpu, cuda:0")
    given = parser.parse_args()
    print(f"attnc {attnc.__version__}, CPython {platform.python_version()}, {platform.machine()}, device {given.device}\n")
    print("| | path | µs |\n|---|---|---|")
    for framework, path, microseconds in rows(given.device, given.seconds):
        print(f"| {framework} | {path} | {microseconds:.1f} |")


if __name__ == "__main__":
    main()
