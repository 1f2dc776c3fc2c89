"""Operations of ejkernel's kind: a kernel with its configurations, an executor that runs it, and a registry of them."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import jax

from . import _checks
from ._attention import attention, flash_attention
from ._configs import (
    BACKENDS,
    PLATFORMS,
    AutotunePolicy,
    ConfigCache,
    ConfigSelectorChain,
    FlashAttentionConfig,
    PersistentCache,
    Tuner,
    check_config,
)

#: The configurations and the results of an operation.
Cfg = TypeVar("Cfg")
Out = TypeVar("Out")


class Platform(str, enum.Enum):
    """Platforms by ejkernel's names. Whatever is named, the device of the program decides."""

    AUTO, TRITON, PALLAS, CUDA, XLA = "auto", "triton", "pallas", "cuda", "xla"
    CPU, NVPTX, NVRTC = "cpu", "nvptx", "nvrtc"


class Backend(str, enum.Enum):
    """Backends by ejkernel's names."""

    ANY, GPU, TPU, CPU = "any", "gpu", "tpu", "cpu"


def detect_platform(algorithm: str, platform: str | None = None) -> Platform:
    """The platform that an algorithm's implementation is looked up by: the one that is named, or any."""
    _checks.choice("platform", "auto" if platform is None else platform, PLATFORMS)
    kernel_registry.list_implementations(algorithm)
    return Platform("auto" if platform is None else _name(platform))


class KernelSpec(NamedTuple):
    """An implementation in the registry. Of several that fit, the one of the highest priority is taken."""

    platform: str
    backend: str
    algorithm: str
    implementation: Callable[..., Any]
    priority: int = 0


class KernelRegistry:
    """Implementations by algorithm, platform and backend."""

    def __init__(self) -> None:
        self._known: dict[str, list[KernelSpec]] = {}

    def register(self, algorithm: str, platform: str, backend: str, priority: int = 0) -> Callable[[Any], Any]:
        """A decorator that adds a function."""
        _checks.choice("platform", platform, PLATFORMS)
        _checks.choice("backend", backend, BACKENDS)

        def add(function: Any) -> Any:
            specs = self._known.setdefault(algorithm.lower(), [])
            specs.append(KernelSpec(_name(platform), _name(backend), algorithm, function, priority))
            specs.sort(key=lambda spec: -spec.priority)
            return function

        return add

    def get(self, algorithm: str, platform: str | None = None, backend: str | None = None) -> Callable[..., Any]:
        """The implementation that fits; any where a platform or a backend is not given, or "auto" and "any"."""
        _checks.choice("platform", "auto" if platform is None else platform, PLATFORMS)
        _checks.choice("backend", "any" if backend is None else backend, BACKENDS)
        for spec in self.list_implementations(algorithm):
            right_platform = platform is None or "auto" in (_name(platform), spec.platform) or spec.platform == _name(platform)
            right_backend = backend is None or "any" in (_name(backend), spec.backend) or spec.backend == _name(backend)
            if right_platform and right_backend:
                return spec.implementation
        raise ValueError(f"no implementation of '{algorithm}' for the platform {platform!r} and the backend {backend!r}")

    def list_algorithms(self) -> list[str]:
        return sorted(self._known)

    def list_implementations(self, algorithm: str) -> list[KernelSpec]:
        """Those of an algorithm, the highest priority first."""
        specs = self._known.get(algorithm.lower())
        if specs is None:
            raise ValueError(f"there is no algorithm '{algorithm}'; there are {', '.join(self.list_algorithms())}")
        return list(specs)


def _name(value: Any) -> str:
    """The text of a name, or of an enumeration's member."""
    return str(getattr(value, "value", value))


kernel_registry = KernelRegistry()
# One implementation serves every device: the program's decides what is compiled.
kernel_registry.register("flash_attention", "auto", "any")(flash_attention)
kernel_registry.register("attention", "auto", "any")(attention)


class Invocation(NamedTuple):
    """A call that a configuration is chosen for."""

    op_id: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: "shard_map" where the call says so.
    method: str | None = None


class Kernel(Generic[Cfg, Out]):
    """An operation: what runs, and with which configurations. `version` is part of what configurations are kept by."""

    op_id = ""
    version = "1"
    #: What `run` takes by place, in ejkernel's order, which is not that of its functions. Where it is empty, in the function's.
    inputs: tuple[str, ...] = ()

    def __init__(self, op_id: str | None = None) -> None:
        if op_id is not None:
            self.op_id = op_id

    def by_name(self, inputs: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """All inputs by their names."""
        if len(inputs) > len(self.inputs):
            raise TypeError(f"expected at most {len(self.inputs)} inputs by place, got {len(inputs)}")
        named = dict(zip(self.inputs, inputs, strict=False))
        for name in named:
            if name in options:
                raise TypeError(f"argument '{name}' is given by place and by name")
        return named | options

    def run(self, *inputs: Any, cfg: FlashAttentionConfig, **options: Any) -> Any:
        """The result with a configuration."""
        check_config(cfg)
        if self.inputs:
            inputs, options = (), self.by_name(inputs, options)
        implementation = self.get_impl(cfg)
        parameters = inspect.signature(implementation).parameters
        if "cfg" in parameters:
            options["cfg"] = cfg
        # Some are taken by place alone.
        named = [name for name, item in parameters.items() if item.kind == item.POSITIONAL_ONLY][len(inputs) :]
        return implementation(*inputs, *(options.pop(name, None) for name in named), **options)

    def get_impl(self, cfg: FlashAttentionConfig) -> Callable[..., Any]:
        """The function of the registry for a configuration."""
        return kernel_registry.get(self.op_id, cfg.platform, cfg.backend)

    def heuristic_cfg(self, inv: Invocation | None = None) -> FlashAttentionConfig:
        """What a call runs with where nothing is known: the compiler's own choice."""
        return FlashAttentionConfig()

    def candidate_cfgs(self, inv: Invocation | None = None) -> list[FlashAttentionConfig]:
        """What is measured for a call."""
        return []


class FlashAttention(Kernel[FlashAttentionConfig, jax.Array]):
    """flash_attention as an operation."""

    op_id = "flash_attention"
    inputs = (
        "query", "key", "value", "attention_mask", "bias", "softmax_scale", "dropout_prob", "causal", "dropout_seed",
        "cum_seqlens_q", "cum_seqlens_k", "sliding_window", "logits_soft_cap", "softmax_aux", "normalize_output", "precision",
        "logits_dtype", "platform",
    )  # fmt: skip

    def candidate_cfgs(self, inv: Invocation | None = None) -> list[FlashAttentionConfig]:
        """The compiler's choice, and on CPUs tiles around it, for registers of 8 and of 16 floats. On GPUs the compiler's
        choice alone."""
        configs = [FlashAttentionConfig()]
        if jax.default_backend() == "cpu":
            for panel in (24, 48):
                for query_tile in (2 * panel, 4 * panel):
                    for key_tile in (64, 128):
                        sizes = f"query_tile = {query_tile}, key_tile = {key_tile}, panel = {panel}"
                        configs.append(FlashAttentionConfig(schedule=f"#attn.schedule<{sizes}>"))
        return configs

    # There is one compiler for all platforms. Whoever derives from this class may choose for each, or for all at once.
    candidate_cfgs_gpu = candidate_cfgs_tpu = candidate_cfgs_xla = candidate_cfgs
    candidate_cfgs_shard_map_gpu = candidate_cfgs_shard_map_tpu = candidate_cfgs_shard_map_xla = candidate_cfgs
    heuristic_cfg_gpu = heuristic_cfg_tpu = Kernel.heuristic_cfg

    def create_shard_map_wrapper(
        self, *inputs: Any, mesh: Any, in_specs: Any, out_specs: Any, check_vma: bool = False, **options: Any
    ) -> Any:
        """The function over a mesh, and what it is called with: queries, keys and values. check_vma: whatever it says, what
        varies over the mesh is what its inputs say."""
        named = self.by_name(inputs, options)
        arrays = tuple(named.pop(name) for name in self.inputs[:3])
        return functools.partial(flash_attention, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **named), arrays


class Attention(Kernel[FlashAttentionConfig, tuple[jax.Array, jax.Array]]):
    """attention as an operation."""

    op_id = "attention"
    inputs = (
        "query", "key", "value", "attention_mask", "bias", "init_bias", "deterministic", "dropout_rng", "softmax_aux",
        "softmax_scale", "logits_soft_cap", "dtype", "softmax_dtype", "dropout_prob", "causal", "sliding_window",
    )  # fmt: skip


class Executor(Generic[Cfg, Out]):
    """Runs operations with the configurations that a selector chooses."""

    def __init__(self, chooser: ConfigSelectorChain) -> None:
        self.chooser = chooser

    def __call__(
        self, kernel: Kernel[Any, Any], *inputs: Any, cfg: Any = None, _cfg: Any = None, stamp: bool = True,
        method: str | None = None, check_vma: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        """The result of `kernel.run`. cfg, or _cfg: the configuration to take. method: "shard_map" asks a kernel for what it
        has for that; a call is mapped over its mesh where it has in_specs. stamp, check_vma: mean nothing here."""
        cfg = self.choose_config(kernel, *inputs, cfg=cfg, _cfg=_cfg, method=method, **options)
        return kernel.run(*inputs, cfg=cfg, **options)

    def choose_config(
        self, kernel: Kernel[Any, Any], *inputs: Any, cfg: Any = None, _cfg: Any = None, method: str | None = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        """The configuration that a call would take."""
        given = cfg if _cfg is None else _cfg
        check_config(given)
        arrays, tree = jax.tree.flatten((inputs, options))
        call = _key_of(kernel, inputs, options)
        # What is traced has no values to run with.
        places = [place for place, value in enumerate(arrays) if isinstance(value, jax.Array)]
        traced = any(isinstance(arrays[place], jax.core.Tracer) for place in places)
        # Queries, keys and values first, whose gradients are measured.
        first = [*inputs, *(options.get(name) for name in ("query", "key", "value"))]
        first = [value for value in first if value is not None][:3]
        places.sort(key=lambda place: all(arrays[place] is not value for value in first))

        def measure(candidates: list[Any]) -> Any:
            tuner, backward = self.chooser.tuner, self.chooser.policy.validate_backward

            def make(cfg: Any) -> Callable[..., Any]:
                def function(*values: Any) -> Any:
                    whole = list(arrays)
                    for place, value in zip(places, values, strict=True):
                        whole[place] = value
                    inputs, options = jax.tree.unflatten(tree, whole)
                    return kernel.run(*inputs, cfg=cfg, **options)

                return function

            return tuner.autotune(make, [arrays[place] for place in places], candidates, backward)

        invocation = Invocation(kernel.op_id, inputs, options, method)
        return self.chooser.choose(kernel, call, invocation, override=given, measure=None if traced else measure)


#: What of a call is another each time, and nothing to a configuration.
_PASSING = ("dropout_seed", "dropout_rng", "init_bias")


def _key_of(kernel: Kernel[Any, Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> str:
    """What a call is known by: types and shapes of its arrays, and what else it is told."""
    names = [kernel.inputs[place] if place < len(kernel.inputs) else f"input {place}" for place in range(len(inputs))]
    told = {**dict(zip(names, inputs, strict=True)), **options}
    leaves, tree = jax.tree.flatten({name: value for name, value in told.items() if name not in _PASSING})
    return f"{tree}" + " ".join(_describe(value) for value in leaves)


def _describe(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else repr(value)


def create_default_executor(
    persistent_cache_path: str | None = None, enable_autotuning: bool = True, warmup_iterations: int = 5,
    timing_iterations: int = 100,
) -> Executor[Any, Any]:  # fmt: skip
    """An executor that measures where nothing is known, and keeps what it found in a file."""
    return Executor(
        ConfigSelectorChain(
            ConfigCache(),
            AutotunePolicy(allow_autotune=enable_autotuning, cache_miss_fallback="autotune", validate_backward=True),
            Tuner(warmup_iterations, timing_iterations),
            PersistentCache("flash_attention", persistent_cache_path),
        )
    )
