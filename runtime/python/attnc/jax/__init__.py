"""attnc for JAX: attention as functions of XLA, on GPUs and CPUs, with gradients, under jit, vmap and shardings."""

from ._attention import attention, dot_product_attention, flash_attention

__all__ = ["attention", "dot_product_attention", "flash_attention"]
