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
    Backend,
    Executor,
    FlashAttention,
    Invocation,
    Kernel,
    KernelRegistry,
    Platform,
    create_default_executor,
    detect_platform,
    kernel_registry,
)
from ._segments import mask_to_segment_ids, segment_ids_to_mask, segment_ids_to_qkv_masks

__all__ = [
    "Attention", "AttentionConfig", "AttentionOutput", "AutotunePolicy", "Backend", "BlockSizes", "BwdParams", "ConfigCache",
    "ConfigSelectorChain", "Executor", "FlashAttention", "FlashAttentionConfig", "FlashAttn", "FwdParams", "Invocation",
    "Kernel", "KernelRegistry", "MaskInfo", "MaskSharding", "OperationMetadata", "OperationRegistry", "PersistentCache",
    "Platform", "Tuner", "attention", "create_default_executor", "detect_platform", "dot_product_attention",
    "flash_attention", "kernel_registry", "mask_to_segment_ids", "overlay_cache", "policy_override", "segment_ids_to_mask",
    "segment_ids_to_qkv_masks",
]  # fmt: skip
