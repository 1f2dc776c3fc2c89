"""attnc for PyTorch: FlexAttention's surface, on GPUs and CPUs, with gradients and under torch.compile."""

import torch as _torch

from .._core import Error as _Error

if tuple(int(part) for part in _torch.__version__.split(".")[:2]) < (2, 10):
    raise _Error(f"attnc.torch needs torch 2.10 or later, got {_torch.__version__}")

from .._mods import and_masks, noop_mask, or_masks
from ._block_mask import BlockMask, create_block_mask, create_mask
from . import _provider as _provider
from ._flash import (
    flash_attention,
    flash_attn_func,
    flash_attn_kvpacked_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func,
    flash_attn_varlen_qkvpacked_func,
)
from ._flex import AuxOutput, AuxRequest, FlexKernelOptions, flex_attention
from ._kvcache import flash_attn_with_kvcache
from ._varlen import varlen_attn

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask",
    "flash_attention", "flash_attn_func", "flash_attn_kvpacked_func", "flash_attn_qkvpacked_func", "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func", "flash_attn_varlen_qkvpacked_func", "flash_attn_with_kvcache", "flex_attention",
    "noop_mask", "or_masks", "varlen_attn",
]  # fmt: skip
