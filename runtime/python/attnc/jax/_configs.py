"""Which configuration a kernel is run with: an override, an overlay, what was chosen before, what was measured, a default.

The policy, and its names, are ejkernel's. What a configuration says here is a schedule of attnc; block sizes, warps and stages
are for other kernels, are checked, and choose nothing.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType
from typing import Any, Literal

import jax
from jax import numpy as jnp

from .._core import Error, version
from . import _checks

PLATFORMS = ("auto", "triton", "pallas", "cuda", "xla", "cpu", "nvptx", "nvrtc")
BACKENDS = ("any", "gpu", "tpu", "cpu")


def _check_blocks(given: Any, names: Iterable[str] = ()) -> None:
    """Raises unless fields, all of them where none are named, are numbers above 0 or None."""
    for name in names or [field.name for field in dataclasses.fields(given)]:
        value = getattr(given, name)
        if value is not None and (_checks.integer(value) or 0) <= 0:
            raise Error(f"{type(given).__name__}.{name}: expected a number above 0, got {_checks.said(value)}")


@dataclasses.dataclass(frozen=True)
class FwdParams:
    """Block sizes of the forward of other kernels."""

    blocksize_m: int | None = None
    blocksize_k: int | None = None
    blocksize_n: int | None = None
    q_blocksize: int | None = None
    kv_blocksize: int | None = None
    blocksize_heads: int | None = None
    blocksize_keys: int | None = None
    num_key_splits: int | None = None
    num_warps: int | None = None
    num_stages: int | None = None

    def __post_init__(self) -> None:
        _check_blocks(self)


@dataclasses.dataclass(frozen=True)
class BwdParams:
    """Block sizes of the backward of other kernels."""

    blocksize_m: int | None = None
    blocksize_k: int | None = None
    blocksize_n: int | None = None
    q_blocksize: int | None = None
    kv_blocksize: int | None = None
    num_warps: int | None = None
    num_stages: int | None = None

    def __post_init__(self) -> None:
        _check_blocks(self)


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """Block sizes of TPU kernels."""

    block_q: int
    block_k_major: int
    block_k: int
    block_b: int
    block_q_major_dkv: int | None = None
    block_k_major_dkv: int | None = None
    block_k_dkv: int | None = None
    block_q_dkv: int | None = None
    block_k_major_dq: int | None = None
    block_k_dq: int | None = None
    block_q_dq: int | None = None

    def __post_init__(self) -> None:
        _check_blocks(self)

    @property
    def has_backward_blocks(self) -> bool:
        """Whether all sizes of the backward are given."""
        return None not in dataclasses.astuple(self)

    @classmethod
    def get_default(cls, batch_size: int, num_heads: int, q_seq_len: int, kv_len: int, d_model: int) -> BlockSizes:
        """The sizes that TPU kernels take where nothing is said."""
        return cls(128, 128, 128, 1, 128, 128, 128, 128, 128, 128, 128)


@dataclasses.dataclass(frozen=True)
class FlashAttentionConfig:
    """How attention is run. schedule, backward_schedule: `#attn.schedule<...>` in place of the compiler's."""

    platform: str = "auto"
    backend: str = "any"
    fwd_params: FwdParams | None = None
    bwd_params: BwdParams | None = None
    schedule: str | None = None
    backward_schedule: str | None = None

    def __post_init__(self) -> None:
        for name, type in (("fwd_params", FwdParams), ("bwd_params", BwdParams)):
            given = getattr(self, name)
            if isinstance(given, dict):
                object.__setattr__(self, name, type(**given))
            elif given is not None and not hasattr(given, "num_warps"):
                raise Error(f"{name}: expected {type.__name__}, got {_checks.said(given)}")
        _checks.choice("platform", self.platform, PLATFORMS)
        _checks.choice("backend", self.backend, BACKENDS)
        for name in ("schedule", "backward_schedule"):
            if not isinstance(getattr(self, name), (str, NoneType)):
                raise Error(f"{name}: expected '#attn.schedule<...>' or None, got {_checks.said(getattr(self, name))}")


@dataclasses.dataclass(frozen=True)
class AttentionConfig:
    """How `attention` is run, as ejkernel says it: all of it is for other kernels."""

    block_q: int = 128
    block_k: int = 128
    num_warps: int = 4
    num_stages: int = 2
    platform: str = "auto"
    backend: str = "any"

    def __post_init__(self) -> None:
        _check_blocks(self, ("block_q", "block_k", "num_warps", "num_stages"))
        _checks.choice("platform", self.platform, PLATFORMS)
        _checks.choice("backend", self.backend, BACKENDS)


def check_config(cfg: Any) -> None:
    """Raises unless it is None or a configuration, attnc's or another's."""
    if cfg is not None and not (hasattr(cfg, "platform") and hasattr(cfg, "backend")):
        raise Error(f"cfg: expected a FlashAttentionConfig, got {_checks.said(cfg)}")


def schedules_of(cfg: Any) -> dict[str, Any]:
    """What a configuration says to a call."""
    check_config(cfg)
    return {name: getattr(cfg, name, None) for name in ("schedule", "backward_schedule")}


@dataclasses.dataclass
class AutotunePolicy:
    """What is done where no configuration is known. validate_backward: forward and gradient are measured together."""

    allow_autotune: bool = True
    allow_heuristics: bool = True
    cache_miss_fallback: Literal["autotune", "heuristics"] = "autotune"
    validate_backward: bool = False

    def __post_init__(self) -> None:
        for name in ("allow_autotune", "allow_heuristics", "validate_backward"):
            _checks.flag(name, getattr(self, name))
        _checks.choice("cache_miss_fallback", self.cache_miss_fallback, ("autotune", "heuristics"))


@contextlib.contextmanager
def policy_override(selector: ConfigSelectorChain, **updates: Any) -> Iterator[ConfigSelectorChain]:
    """Changes the policy of a selector for a while."""
    old = selector.policy
    selector.policy = dataclasses.replace(old, **updates)
    try:
        yield selector
    finally:
        selector.policy = old


#: A configuration's place: the device, the operation and its version, and the call.
Key = tuple[str, str, str]
_overlays: contextvars.ContextVar[tuple[dict[Key, Any], ...]] = contextvars.ContextVar("attnc_overlays", default=())


@contextlib.contextmanager
def overlay_cache(mapping: dict[Key, Any]) -> Iterator[None]:
    """Configurations that come before all that are kept, for a while."""
    token = _overlays.set((*_overlays.get(), mapping))
    try:
        yield
    finally:
        _overlays.reset(token)


class ConfigCache:
    """Configurations of this process."""

    def __init__(self) -> None:
        self._known: dict[Key, Any] = {}
        self._lock = threading.Lock()

    def get(self, device: str, op_id: str, call: str) -> Any:
        return self._known.get((device, op_id, call))

    def put(self, device: str, op_id: str, call: str, cfg: Any) -> None:
        with self._lock:
            self._known[device, op_id, call] = cfg

    def clear(self) -> None:
        with self._lock:
            self._known.clear()

    def __len__(self) -> int:
        return len(self._known)


class PersistentCache:
    """Configurations in a file. Files of other versions of attnc are not read."""

    def __init__(self, name: str, path: str | None = None, cfg_type: type = FlashAttentionConfig) -> None:
        folder = os.environ.get("ATTNC_CACHE_DIR") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "attnc"
        )
        self.path = path or os.path.join(folder, "configurations", f"{name}.json")
        self.is_on = path is not None or os.environ.get("ATTNC_CACHE") != "off"
        self._type = cfg_type

    def _read(self) -> dict[str, Any]:
        try:
            with open(self.path, encoding="utf-8") as file:
                held = json.load(file)
        except (OSError, ValueError):
            # A file that cannot be read is as good as none.
            return {}
        return held["known"] if isinstance(held, dict) and held.get("version") == version() else {}

    def get(self, device: str, op_id: str, call: str) -> Any:
        found = self._read().get("\n".join((device, op_id, call))) if self.is_on else None
        try:
            return None if found is None else self._type(**found)
        except (TypeError, Error):
            # A configuration of another kind.
            return None

    def put(self, device: str, op_id: str, call: str, cfg: Any) -> None:
        if not self.is_on:
            return
        known = self._read()
        known["\n".join((device, op_id, call))] = dataclasses.asdict(cfg)
        folder = os.path.dirname(self.path)
        os.makedirs(folder, exist_ok=True)
        # Readers see the old file or the new one.
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump({"version": version(), "known": known}, file, indent=1)
        os.replace(file.name, self.path)


class Tuner:
    """Measures configurations by running them."""

    def __init__(self, warmup: int = 5, iters: int = 100) -> None:
        for name, value, least in (("warmup", warmup, 0), ("iters", iters, 1)):
            found = _checks.integer(value)
            if found is None or found < least:
                raise Error(f"{name}: expected a number of {least} or more, got {_checks.said(value)}")
        self.warmup = warmup
        self.iters = iters

    def measure(self, function: Callable[..., Any], *inputs: Any, backward: bool = False) -> float:
        """Seconds of a call, the least of all. backward: with the gradients of the first result by the first three inputs."""
        if backward:
            plain = function
            kinds = [jnp.result_type(value) for value in inputs[:3]]
            learned = tuple(place for place, kind in enumerate(kinds) if jnp.issubdtype(kind, jnp.floating))
            function = jax.grad(lambda *inputs: jax.tree.leaves(plain(*inputs))[0].astype("float32").sum(), learned)
        compiled = jax.jit(function)
        for _ in range(self.warmup):
            jax.block_until_ready(compiled(*inputs))
        times = []
        for _ in range(self.iters):
            start = time.perf_counter()
            jax.block_until_ready(compiled(*inputs))
            times.append(time.perf_counter() - start)
        return min(times)

    def autotune(
        self, make: Callable[[Any], Callable[..., Any]], inputs: Sequence[Any], candidates: Iterable[Any], backward: bool = False
    ) -> Any:
        """The fastest candidate. What this machine refuses is passed over."""
        best, best_time, refusal = None, float("inf"), None
        for cfg in candidates:
            try:
                seconds = self.measure(make(cfg), *inputs, backward=backward)
            except Error as error:
                refusal = error
                continue
            if seconds < best_time:
                best, best_time = cfg, seconds
        if best is None:
            raise Error(f"no candidate could be run: {refusal or 'there is none'}")
        return best


class ConfigSelectorChain:
    """Chooses a configuration, in this order: override, overlay, this process, the file, measured, the default, an error.

    on_event: called with the word for where it came from, and the configuration.
    """

    def __init__(
        self, cache: ConfigCache | None = None, policy: AutotunePolicy | None = None, tuner: Tuner | None = None,
        persistent: PersistentCache | None = None, persist_autotune: bool = True,
        on_event: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self.cache = ConfigCache() if cache is None else cache
        self.policy = AutotunePolicy() if policy is None else policy
        self.tuner = Tuner() if tuner is None else tuner
        self.persistent = persistent
        self.persist_autotune = persist_autotune
        self.on_event = on_event

    def choose(
        self, kernel: Any, call: str, invocation: Any = None, *, override: Any = None,
        measure: Callable[[Any], Any] | None = None,
    ) -> Any:  # fmt: skip
        """The configuration of a call of `kernel`. call: by what it is known; invocation: what it is.

        measure(candidates): the fastest; None where arrays have no values.
        """
        place: Key = (device_fingerprint(), f"{kernel.op_id}@v{kernel.version}", call)
        if override is not None:
            return self._chosen("override", place, override, keep=True)
        for overlay in reversed(_overlays.get()):
            if place in overlay:
                return self._chosen("overlay", place, overlay[place])
        if (cfg := self.cache.get(*place)) is not None:
            return self._chosen("memory", place, cfg)
        if self.persistent is not None and (cfg := self.persistent.get(*place)) is not None:
            self.cache.put(*place, cfg)
            return self._chosen("persistent", place, cfg)
        policy = self.policy
        if policy.allow_autotune and policy.cache_miss_fallback == "autotune" and measure is not None:
            candidates = list(_of_platform(kernel, "candidate_cfgs", invocation)(invocation))
            if candidates:
                return self._chosen("autotune", place, measure(candidates), keep=self.persist_autotune)
        if policy.allow_heuristics:
            # A default may be better in the next version: it is not kept in the file.
            cfg = _of_platform(kernel, "heuristic_cfg", invocation)(invocation)
            self.cache.put(*place, cfg)
            return self._chosen("heuristics", place, cfg)
        raise Error(f"{kernel.op_id}: no configuration is known, and the policy allows neither to measure nor a default")

    def _chosen(self, event: str, place: Key, cfg: Any, keep: bool = False) -> Any:
        if keep:
            self.cache.put(*place, cfg)
            if self.persistent is not None:
                self.persistent.put(*place, cfg)
        if self.on_event is not None:
            self.on_event(event, cfg=cfg)
        return cfg


def _of_platform(kernel: Any, name: str, invocation: Any) -> Callable[..., Any]:
    """A method of a kernel, or what it has for this platform alone, as ejkernel names it: candidate_cfgs_gpu,
    candidate_cfgs_xla, and for calls inside of a shard_map candidate_cfgs_shard_map_gpu."""
    platform = {"cpu": "xla"}.get(jax.default_backend(), jax.default_backend())
    # Another name of the method for all platforms is none for one: who overrides that means it for all.
    general = [vars(base).get(name) for base in type(kernel).__mro__]
    inside = ("shard_map_",) if getattr(invocation, "method", None) == "shard_map" else ()
    for kind in (*inside, ""):
        method: Callable[..., Any] | None = getattr(kernel, f"{name}_{kind}{platform}", None)
        if method is not None and getattr(method, "__func__", method) not in general:
            return method
    whole: Callable[..., Any] = getattr(kernel, name)
    return whole


def device_fingerprint() -> str:
    """The kind of device that programs run on."""
    device = jax.devices()[0]
    return f"{device.platform}:{device.device_kind}"
