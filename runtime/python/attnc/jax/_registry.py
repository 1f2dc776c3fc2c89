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


class Kernel:
    """An operation: what runs, and with which configurations. `version` is part of what configurations are kept by."""

    op_id = ""
    version = "1"

    def run(self, *inputs: Any, cfg: FlashAttentionConfig, **options: Any) -> Any:
        """The result with a configuration."""
        implementation = self.get_impl(cfg)
        if "cfg" in inspect.signature(implementation).parameters:
            options["cfg"] = cfg
        return implementation(*inputs, **options)

    def get_impl(self, cfg: FlashAttentionConfig) -> Callable[..., Any]:
        """The function of the registry for a configuration."""
        return kernel_registry.get(self.op_id, cfg.platform, cfg.backend)

    def heuristic_cfg(self, inv: Any = None) -> FlashAttentionConfig:
        """The compiler's own choice."""
        return FlashAttentionConfig()

    def candidate_cfgs(self, inv: Any = None) -> list[FlashAttentionConfig]:
        """What is measured."""
        return []


class FlashAttention(Kernel):
    """flash_attention as an operation."""

    op_id = "flash_attention"

    def candidate_cfgs(self, inv: Any = None) -> list[FlashAttentionConfig]:
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

    def create_shard_map_wrapper(self, *inputs: Any, mesh: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
        """The function over a mesh, and what it is called with."""
        call = functools.partial(flash_attention, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)
        return call, inputs


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

        return self.chooser.choose(kernel, call, override=_cfg, measure=None if traced else measure)


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
