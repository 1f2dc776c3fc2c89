"""attnc for JAX: attention as functions of XLA, on GPUs and CPUs, with gradients, under jit, vmap and shardings."""

from ._attention import attention, dot_product_attention, flash_attention
from ._configs import (
    AttentionConfig,
    AutotunePolicy,
    BlockSizes,
    BwdParams,
    ConfigCache,
    ConfigSelectorChain,
    FlashAttentionConfig,
    FwdParams,
    PersistentCache,
    Tuner,
    overlay_cache,
    policy_override,
)
from ._mask import MaskInfo, MaskSharding
from ._operation import AttentionOutput, FlashAttn, OperationMetadata, OperationRegistry
from ._registry import (
    Attention,
    Executor,
    FlashAttention,
    Invocation,
    Kernel,
    KernelRegistry,
    create_default_executor,
    kernel_registry,
)
from ._segments import mask_to_segment_ids, segment_ids_to_mask, segment_ids_to_qkv_masks

__all__ = [
    "Attention", "AttentionConfig", "AttentionOutput", "AutotunePolicy", "BlockSizes", "BwdParams", "ConfigCache",
    "ConfigSelectorChain", "Executor", "FlashAttention", "FlashAttentionConfig", "FlashAttn", "FwdParams", "Invocation",
    "Kernel", "KernelRegistry", "MaskInfo", "MaskSharding", "OperationMetadata", "OperationRegistry", "PersistentCache",
    "Tuner", "attention", "create_default_executor", "dot_product_attention", "flash_attention", "kernel_registry",
    "mask_to_segment_ids", "overlay_cache", "policy_override", "segment_ids_to_mask", "segment_ids_to_qkv_masks",
]  # fmt: skip
