"""Attention as a registered operation, as EasyDeL has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
from jax import numpy as jnp

from .._core import Error
from . import _checks
from ._attention import flash_attention


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class AttentionOutput:
    """What an operation returns. Weights are None where no kernel writes them."""

    attention_weights: Any = None
    attention_outputs: Any = None
    cache_view: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.attention_weights, self.attention_outputs, self.cache_view))


@dataclasses.dataclass
class OperationMetadata:
    """How an operation is run. runtime_dtype: what queries, keys, values and biases are cast to. operation_configs:
    configurations by the name of an operation. Whatever else EasyDeL's has is read from `base_config`."""

    runtime_dtype: Any = jnp.float32
    runtime_softmax_dtype: Any = jnp.float32
    sequence_axis_name: str = "sp"
    platform: Any = None
    backend: Any = None
    partition_axis: Any = None
    partition_manager: Any = None
    base_config: Any = None
    operation_configs: dict[str, Any] | None = None
    requires_cache: bool | None = None
    softmax_scale: float | None = None
    blocksize_q: int | None = None
    blocksize_k: int | None = None
    mesh: Any = None
    in_specs: Any = None
    out_specs: Any = None

    @classmethod
    def from_config(cls, config: Any) -> OperationMetadata:
        """Of a model's configuration."""
        return cls(
            runtime_dtype=getattr(config, "attn_dtype", jnp.float32),
            runtime_softmax_dtype=getattr(config, "attn_softmax_dtype", jnp.float32),
            base_config=config,
            operation_configs=getattr(config, "operation_configs", None),
            mesh=getattr(config, "mesh", None),
        )

    def get_operation_config(self, impl_name: str) -> Any:
        """The configuration for an operation, by its name."""
        return (self.operation_configs or {}).get(impl_name)


class Requirements(NamedTuple):
    """What an operation asks of whoever runs it."""

    name: str
    required_metadata: tuple[str, ...] = ()
    supported_cache: tuple[str, ...] = ("transformer", "hybrid")


class OperationRegistry:
    """Operations by name."""

    _known: dict[str, type] = {}

    @classmethod
    def register(cls, operation: type) -> type:
        """A decorator that adds a class under the names of its `get_impl_name`."""
        names = operation.get_impl_name()  # type: ignore[attr-defined]
        for name in (names,) if isinstance(names, str) else names:
            cls._known[name] = operation
        return operation

    @classmethod
    def get(cls, name: str) -> type:
        """The class of a name."""
        if name not in cls._known:
            raise Error(f"impl_name: expected one of {', '.join(sorted(cls._known))}, got {name!r}")
        return cls._known[name]

    @classmethod
    def create(cls, impl_name: str, metadata: OperationMetadata) -> Any:
        """An operation."""
        return cls.get(impl_name)(metadata)

    @classmethod
    def list_implementations(cls) -> list[str]:
        return sorted(cls._known)


@OperationRegistry.register
class FlashAttn:
    """flash_attention with the call and the outcome of EasyDeL's class. Every forward is the same, on CPUs too: the device
    of the program decides what is compiled. On TPUs there is no kernel, and the call says so."""

    def __init__(self, metadata: OperationMetadata | None = None) -> None:
        self.metadata = OperationMetadata() if metadata is None else metadata
        if not hasattr(self.metadata, "runtime_dtype"):
            raise Error(f"metadata: expected an OperationMetadata, got {_checks.said(metadata)}")
        _checks.dtype("runtime_dtype", self.metadata.runtime_dtype, _checks.FLOATS)

    @classmethod
    def get_impl_name(cls) -> str | tuple[str, ...]:
        """The names in the registry."""
        return ("flash_attn2", "cuda_flash_attn2")

    def get_impl_metadata(self) -> OperationMetadata:
        return self.metadata

    @classmethod
    def get_requirements(cls, mode: Any = None) -> Requirements:
        """What it asks of whoever runs it: nothing but its arrays."""
        return Requirements("flash")

    def current_backend(self) -> str:
        """JAX's word for the devices that programs run on."""
        return jax.default_backend()

    def forward_native(
        self,
        query: Any,
        key: Any,
        value: Any,
        mask_info: Any = None,
        bias: Any = None,
        softmax_scale: float | None = None,
        dropout_prob: float = 0.0,
        causal: bool = False,
        dropout_seed: int | None = None,
        cum_seqlens_q: Any = None,
        cum_seqlens_k: Any = None,
        sliding_window: int | tuple[int, int] | None = None,
        logits_soft_cap: float | None = None,
        softmax_aux: Any = None,
        normalize_output: bool = True,
        precision: Any = None,
        *,
        attention_mask: Any = None,
        q_segment_ids: Any = None,
        kv_segment_ids: Any = None,
        **ignore: Any,
    ) -> AttentionOutput:
        """Attention of [B, S, H, D] arrays, with flash_attention's meaning. attention_mask, q_segment_ids, kv_segment_ids: where
        there is no mask_info. Whatever other keywords say is ignored, as there."""
        metadata = self.metadata
        if metadata.runtime_dtype is not None:
            named = {"query": query, "key": key, "value": value} | ({} if bias is None else {"bias": bias})
            cast = {name: _checks.array(name, given).astype(metadata.runtime_dtype) for name, given in named.items()}
            query, key, value, bias = (cast.get(name) for name in ("query", "key", "value", "bias"))
        masks = {"attention_mask": attention_mask, "q_segment_ids": q_segment_ids, "kv_segment_ids": kv_segment_ids}
        specs: dict[str, Any] = {"mask_info": mask_info} if mask_info is not None else masks
        if metadata.mesh is not None and metadata.in_specs is not None:
            specs |= {"mesh": metadata.mesh, "in_specs": metadata.in_specs, "out_specs": metadata.out_specs}
        out = flash_attention(
            query, key, value, bias, cum_seqlens_q, cum_seqlens_k, softmax_aux,
            softmax_scale=metadata.softmax_scale if softmax_scale is None else softmax_scale, dropout_prob=dropout_prob,
            causal=causal, dropout_seed=dropout_seed, sliding_window=sliding_window, logits_soft_cap=logits_soft_cap,
            normalize_output=normalize_output, precision=precision, cfg=metadata.get_operation_config("flash_attn2"),
            **specs,
        )  # fmt: skip
        return AttentionOutput(None, out)

    def forward_cpu(self, *inputs: Any, **options: Any) -> AttentionOutput:
        return self.forward_native(*inputs, **options)

    def forward_gpu(self, *inputs: Any, **options: Any) -> AttentionOutput:
        return self.forward_native(*inputs, **options)

    def forward_cuda(self, *inputs: Any, **options: Any) -> AttentionOutput:
        return self.forward_gpu(*inputs, **options)

    def forward_rocm(self, *inputs: Any, **options: Any) -> AttentionOutput:
        raise Error("forward_rocm: there are kernels for CPUs and NVIDIA GPUs alone")

    def forward_tpu(self, *inputs: Any, **options: Any) -> AttentionOutput:
        raise Error("forward_tpu: there are kernels for CPUs and NVIDIA GPUs alone")

    def __call__(self, *inputs: Any, **options: Any) -> AttentionOutput:
        """The forward of the backend that JAX computes on."""
        forwards = {"cpu": self.forward_cpu, "gpu": self.forward_gpu, "cuda": self.forward_cuda, "rocm": self.forward_rocm}
        return forwards.get(self.current_backend(), self.forward_tpu)(*inputs, **options)
