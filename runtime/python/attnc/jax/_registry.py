"""Operations of ejkernel's kind: a kernel with its configurations, an executor that runs it, and a registry of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from .._core import Error
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
)


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
        _check("platform", platform, PLATFORMS)
        _check("backend", backend, BACKENDS)

        def add(function: Any) -> Any:
            specs = self._known.setdefault(algorithm.lower(), [])
            specs.append(KernelSpec(_name(platform), _name(backend), algorithm, function, priority))
            specs.sort(key=lambda spec: -spec.priority)
            return function

        return add

    def get(self, algorithm: str, platform: str | None = None, backend: str | None = None) -> Callable[..., Any]:
        """The implementation that fits; any where a platform or a backend is not given, or "auto" and "any"."""
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


def _check(name: str, value: Any, known: tuple[str, ...]) -> None:
    if _name(value) not in known:
        raise Error(f"{name}: expected one of {', '.join(known)}, got {value!r}")


kernel_registry = KernelRegistry()
# One implementation serves every device: the program's decides what is compiled.
kernel_registry.register("flash_attention", "auto", "any")(flash_attention)
kernel_registry.register("attention", "auto", "any")(attention)


class Invocation(NamedTuple):
    """A call that a configuration is chosen for."""

    op_id: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Kernel:
    """An operation: what runs, and with which configurations. `version` is part of what configurations are kept by."""

    op_id = ""
    version = "1"

    def run(self, *inputs: Any, cfg: FlashAttentionConfig, **options: Any) -> Any:
        """The result with a configuration."""
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


#: What FlashAttention's methods take by place.
_INPUTS = (
    "query", "key", "value", "attention_mask", "bias", "softmax_scale", "dropout_prob", "causal", "dropout_seed",
    "cum_seqlens_q", "cum_seqlens_k", "sliding_window", "logits_soft_cap", "softmax_aux", "normalize_output", "precision",
    "logits_dtype", "platform",
)  # fmt: skip


def _by_name(inputs: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """All inputs by their names."""
    if len(inputs) > len(_INPUTS):
        raise TypeError(f"expected at most {len(_INPUTS)} inputs by place, got {len(inputs)}")
    named = dict(zip(_INPUTS, inputs, strict=False))
    for name in named:
        if name in options:
            raise TypeError(f"argument '{name}' is given by place and by name")
    return named | options


class FlashAttention(Kernel):
    """flash_attention as an operation."""

    op_id = "flash_attention"

    def run(self, *inputs: Any, cfg: FlashAttentionConfig, **options: Any) -> Any:
        """The result with a configuration. inputs: in ejkernel's order, which is not that of its function."""
        return super().run(cfg=cfg, **_by_name(inputs, options))

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

    def create_shard_map_wrapper(
        self, *inputs: Any, mesh: Any, in_specs: Any, out_specs: Any, check_vma: bool = False, **options: Any
    ) -> Any:
        """The function over a mesh, and what it is called with: queries, keys and values. check_vma: whatever it says, what
        varies over the mesh is what its inputs say."""
        named = _by_name(inputs, options)
        arrays = tuple(named.pop(name) for name in _INPUTS[:3])
        return functools.partial(flash_attention, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **named), arrays


class Attention(Kernel):
    """attention as an operation."""

    op_id = "attention"


class Executor:
    """Runs operations with the configurations that a selector chooses."""

    def __init__(self, chooser: ConfigSelectorChain) -> None:
        self.chooser = chooser

    def __call__(self, kernel: Kernel, *inputs: Any, _cfg: Any = None, **options: Any) -> Any:
        """The result of `kernel.run`. _cfg: the configuration to take."""
        cfg = self.choose_config(kernel, *inputs, _cfg=_cfg, **options)
        return kernel.run(*inputs, cfg=cfg, **options)

    def choose_config(self, kernel: Kernel, *inputs: Any, _cfg: Any = None, **options: Any) -> Any:
        """The configuration that a call would take."""
        arrays, tree = jax.tree.flatten((inputs, options))
        call = f"{tree}" + " ".join(_describe(value) for value in arrays)
        # What is traced has no values to run with.
        places = [place for place, value in enumerate(arrays) if isinstance(value, jax.Array)]
        traced = any(isinstance(arrays[place], jax.core.Tracer) for place in places)

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

        invocation = Invocation(kernel.op_id, inputs, options)
        return self.chooser.choose(kernel, call, invocation, override=_cfg, measure=None if traced else measure)


def _describe(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "shape") else repr(value)


def create_default_executor() -> Executor:
    """An executor that measures where nothing is known, and keeps what it found in a file."""
    return Executor(
        ConfigSelectorChain(
            ConfigCache(),
            AutotunePolicy(allow_autotune=True, cache_miss_fallback="autotune", validate_backward=True),
            Tuner(warmup=5, iters=100),
            PersistentCache("flash_attention"),
        )
    )
