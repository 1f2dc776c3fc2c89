"""Operations, their registries, and how configurations are chosen."""

import json
import re

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import attnc
from attnc.jax import (
    Attention,
    AttentionConfig,
    AttentionOutput,
    AutotunePolicy,
    Backend,
    BlockSizes,
    ConfigCache,
    ConfigSelectorChain,
    Executor,
    FlashAttention,
    FlashAttentionConfig,
    FlashAttn,
    FwdParams,
    Invocation,
    Kernel,
    KernelRegistry,
    MaskInfo,
    OperationMetadata,
    OperationRegistry,
    PersistentCache,
    Platform,
    Tuner,
    attention,
    create_default_executor,
    detect_platform,
    flash_attention,
    kernel_registry,
    overlay_cache,
    policy_override,
)

random = np.random.default_rng(0)
q, k, v = jnp.asarray(random.standard_normal((3, 2, 20, 4, 16), dtype=np.float32))
wanted = flash_attention(q, k, v, causal=True)
SMALL = FlashAttentionConfig(schedule="#attn.schedule<query_tile = 48, key_tile = 64, panel = 24>")


def lanes_fit(cfg):
    try:
        flash_attention(q, k, v, cfg=cfg)
    except attnc.Error:
        return False
    return True


#: GPUs have one configuration, and no panels.
cpu_only = pytest.mark.skipif(jax.default_backend() != "cpu", reason="tiles of CPUs")
#: Tiles that this machine takes and that are not what the compiler takes by itself.
OTHERS = [cfg for cfg in FlashAttention().candidate_cfgs()[1:] if lanes_fit(cfg)]


def test_operation():
    operation = OperationRegistry.create("flash_attn2", OperationMetadata(runtime_dtype=jnp.float32))
    assert isinstance(operation, FlashAttn) and OperationRegistry.get("cuda_flash_attn2") is FlashAttn
    assert operation.get_impl_metadata().runtime_dtype == jnp.float32
    assert "flash_attn2" in operation.get_impl_name() and operation.get_requirements().name == "flash"
    output = operation(query=q, key=k, value=v, causal=True, something_else=3)
    assert isinstance(output, AttentionOutput) and output.attention_weights is None and output.cache_view is None
    np.testing.assert_array_equal(output.attention_outputs, wanted)
    for forward in (operation.forward_native, operation.forward_cpu, operation.forward_gpu, operation.forward_cuda):
        np.testing.assert_array_equal(forward(q, k, v, causal=True).attention_outputs, wanted)
    # An outcome goes through jit as arrays do.
    compiled = jax.jit(operation)(q, k, v, MaskInfo.from_segments(jnp.zeros((2, 20), jnp.int32)).apply_causal())
    np.testing.assert_allclose(compiled.attention_outputs, wanted, atol=1e-6)


def test_operation_casts():
    bias = jnp.ones((1, 1, 20, 20))
    output = FlashAttn(OperationMetadata(runtime_dtype=jnp.bfloat16, softmax_scale=0.5))(q, k, v, bias=bias)
    assert output.attention_outputs.dtype == jnp.bfloat16
    np.testing.assert_allclose(output.attention_outputs.astype(np.float32), flash_attention(q, k, v, softmax_scale=0.5), atol=5e-2)


def test_operation_over_a_mesh():
    mesh = jax.make_mesh((1, 1), ("dp", "tp"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec = jax.P("dp", None, "tp", None)
    specs = dict(mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec)
    np.testing.assert_allclose(FlashAttn(OperationMetadata(**specs))(q, k, v, causal=True).attention_outputs, wanted, atol=1e-6)
    executor = Executor(ConfigSelectorChain(policy=AutotunePolicy(allow_autotune=False)))
    out = executor(FlashAttention(), q, k, v, causal=True, method="shard_map", check_vma=False, **specs)
    np.testing.assert_allclose(out, wanted, atol=1e-6)


def test_operations_refuse():
    with pytest.raises(attnc.Error, match="impl_name: expected one of cuda_flash_attn2, flash_attn2, got 'flash'"):
        OperationRegistry.create("flash", OperationMetadata())
    for name in ("forward_tpu", "forward_rocm"):
        with pytest.raises(attnc.Error, match=f"{name}: there are kernels for CPUs and NVIDIA GPUs alone"):
            getattr(FlashAttn(), name)(q, k, v)


def test_operation_takes_masks():
    """Where there is no mask info, as EasyDeL's description has it."""
    ids = jnp.repeat(jnp.arange(4), 5)[None].repeat(2, 0)
    keeps = MaskInfo.from_segments(ids)
    operation = FlashAttn(OperationMetadata(runtime_dtype=None))
    wanted = flash_attention(q, k, v, mask_info=keeps)
    for masks in (dict(q_segment_ids=ids, kv_segment_ids=ids), dict(attention_mask=keeps.attention_mask), dict(mask_info=keeps)):
        np.testing.assert_allclose(operation(q, k, v, **masks).attention_outputs, wanted, atol=1e-6)
    ignored = jnp.zeros((2, 1, 20, 20), bool)
    np.testing.assert_array_equal(operation(q, k, v, keeps, attention_mask=ignored).attention_outputs, wanted)


def test_kernels_of_users():
    """Written as those of ejkernel are."""

    class Doubled(Kernel[FlashAttentionConfig, jax.Array]):
        def __init__(self):
            super().__init__(op_id="doubled")

        def run(self, query, key, value, *, cfg, **options):
            return 2 * flash_attention(query, key, value, cfg=cfg, **options)

    executor: Executor[FlashAttentionConfig, jax.Array] = Executor(ConfigSelectorChain())
    np.testing.assert_array_equal(executor(Doubled(), q, k, v, causal=True, stamp=False, cfg=FlashAttentionConfig()), 2 * wanted)
    # Without a configuration, the compiler's choice.
    np.testing.assert_array_equal(executor(Doubled(), query=q, key=k, value=v, causal=True), 2 * wanted)


def test_registry():
    assert kernel_registry.get("flash_attention", platform="triton", backend="gpu") is flash_attention
    assert kernel_registry.list_algorithms() == ["attention", "flash_attention"]
    registry = KernelRegistry()
    slow, fast = (lambda: None), (lambda: None)
    registry.register("a", "xla", "any")(slow)
    registry.register("a", "cuda", "gpu", priority=1)(fast)
    assert registry.get("A") is fast and registry.get("a", "xla", "gpu") is slow and registry.get("a", "auto", "cpu") is slow
    with pytest.raises(ValueError, match="no implementation of 'a' for the platform 'pallas' and the backend None"):
        registry.get("a", "pallas")
    with pytest.raises(ValueError, match="there is no algorithm 'b'; there are a"):
        registry.get("b")
    with pytest.raises(attnc.Error, match="backend: expected one of any, gpu, tpu, cpu, got 'quantum'"):
        registry.register("a", "xla", "quantum")
    with pytest.raises(attnc.Error, match="platform: expected one of auto, triton, pallas, .*, got 'zz'"):
        kernel_registry.get("flash_attention", platform="zz")
    with pytest.raises(attnc.Error, match="backend: expected one of any, gpu, tpu, cpu, got 3"):
        kernel_registry.get("flash_attention", "xla", 3)


def chain(tmp_path, **policy):
    events = []
    tuner = Tuner(warmup=1, iters=2)
    persistent = PersistentCache("test", path=str(tmp_path / "configurations.json"))
    policy = AutotunePolicy(**policy)
    return ConfigSelectorChain(ConfigCache(), policy, tuner, persistent, on_event=lambda event, cfg: events.append(event)), events


@cpu_only
def test_order_of_choice(tmp_path):
    selector, events = chain(tmp_path, cache_miss_fallback="heuristics")
    executor, kernel = Executor(selector), FlashAttention()
    for _ in range(2):
        np.testing.assert_array_equal(executor(kernel, q, k, v, causal=True), wanted)
    assert events == ["heuristics", "memory"]
    other = OTHERS[0]
    assert executor.choose_config(kernel, q, k, v, _cfg=other) is other
    # Another process finds in the file what was said before.
    selector, events = chain(tmp_path)
    executor = Executor(selector)
    assert executor.choose_config(kernel, q, k, v) == other
    assert executor.choose_config(kernel, q, k, v) == other
    assert events == ["persistent", "memory"]
    place = next(iter(selector.cache._known))
    with overlay_cache({place: FlashAttentionConfig()}):
        assert executor.choose_config(kernel, q, k, v) == FlashAttentionConfig()
    assert executor.choose_config(kernel, q, k, v) == other and events[2:] == ["overlay", "memory"]


@cpu_only
def test_inputs_by_place():
    """In ejkernel's order, which is not that of its function; and what chooses a configuration sees the call."""
    seen = []

    class Seeing(FlashAttention):
        def heuristic_cfg(self, inv):
            seen.append(inv)
            return FlashAttentionConfig()

    executor = Executor(ConfigSelectorChain(policy=AutotunePolicy(allow_autotune=False)))
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))[None, None]
    bias = jnp.linspace(-1, 1, k.shape[1]).reshape(1, 1, 1, -1) * jnp.ones((1, q.shape[2], q.shape[1], 1))
    wanted = attnc.jax.flash_attention(q, k, v, bias, attention_mask=mask, softmax_scale=0.3)
    out = executor(Seeing(), q, k, v, mask, bias, 0.3)
    np.testing.assert_allclose(out, wanted, atol=1e-6)
    assert seen[0].op_id == "flash_attention" and seen[0].args[3] is mask and not seen[0].kwargs
    with pytest.raises(TypeError, match="argument 'bias' is given by place and by name"):
        executor(Seeing(), q, k, v, mask, bias, bias=bias)


def test_inputs_of_attention_by_place():
    executor = Executor(ConfigSelectorChain(policy=AutotunePolicy(allow_autotune=False)))
    mask = jnp.tril(jnp.ones((20, 20), bool))[None, None]
    found = executor(Attention(), q, k, v, mask, None, lambda: 1 / 0, True, None, jnp.zeros(1), 0.3, None, None)
    others = dict(attention_mask=mask, softmax_scale=0.3, dtype=None)
    for one, other in zip(found, attnc.jax.attention(q, k, v, None, None, jnp.zeros(1), **others), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_measured_by_name(tmp_path):
    """What is no input with gradients comes first by its name, and what is returned is a tuple."""
    selector, events = chain(tmp_path, validate_backward=True)
    mask = jnp.tril(jnp.ones((20, 20), jnp.int32))[None, None]
    found = Executor(selector)(FlashAttention(), attention_mask=mask, query=q, key=k, value=v, return_lse=True)
    np.testing.assert_allclose(found[0], wanted, atol=1e-5)
    assert events == ["autotune"] and found[1].shape == (2, 4, 20)


@cpu_only
def test_measured(tmp_path):
    selector, events = chain(tmp_path, validate_backward=True)
    executor = Executor(selector)
    kernel = FlashAttention()
    kernel.candidate_cfgs = lambda inv=None: [SMALL, *OTHERS[:1], FlashAttentionConfig(schedule="#attn.schedule<nonsense>")]
    np.testing.assert_allclose(executor(kernel, q, k, v, causal=True), wanted, atol=1e-5)
    assert events == ["autotune"]
    chosen = next(iter(json.loads((tmp_path / "configurations.json").read_text())["known"].values()))
    assert "nonsense" not in chosen["schedule"]
    # In a traced program there are no values to measure with.
    jax.jit(lambda q: executor(kernel, q, k, v))(q)
    assert events == ["autotune", "heuristics"]
    kernel.candidate_cfgs = lambda inv=None: [FlashAttentionConfig(schedule="#attn.schedule<nonsense>")]
    with pytest.raises(attnc.Error, match="no candidate could be run: "):
        executor(kernel, q, k, v, sliding_window=3)


def test_policies(tmp_path):
    selector, events = chain(tmp_path, allow_autotune=False)
    with policy_override(selector, allow_heuristics=False):
        with pytest.raises(attnc.Error, match="attention: no configuration is known, and the policy allows neither"):
            Executor(selector)(Attention(), q, k, v)
    out, weights = Executor(selector)(Attention(), q, k, v, dtype=None, causal=True)
    np.testing.assert_allclose(out, wanted, atol=1e-6)
    assert weights.shape == (2, 4, 20, 20) and events == ["heuristics"]
    assert create_default_executor().chooser.policy.validate_backward


def test_seeds_are_no_part_of_what_is_known(tmp_path):
    selector, events = chain(tmp_path, allow_autotune=False)
    for seed in (1, 2):
        Executor(selector)(FlashAttention(), q, k, v, dropout_prob=0.5, dropout_seed=seed)
    assert events == ["heuristics", "memory"]
    # By name or by place, a call is the same.
    Executor(selector)(FlashAttention(), q, k, value=v, dropout_prob=0.5, dropout_seed=3)
    assert events[-1] == "memory"


def test_configurations_of_ejkernel():
    out, _ = Executor(ConfigSelectorChain())(Attention(), q, k, v, dtype=None, causal=True, cfg=AttentionConfig(block_q=64))
    np.testing.assert_allclose(out, wanted, atol=1e-6)
    with pytest.raises(attnc.Error, match="AttentionConfig.num_warps: expected a number above 0, got 0"):
        AttentionConfig(num_warps=0)


def test_methods_of_a_platform(tmp_path):
    class Own(FlashAttention):
        def heuristic_cfg_xla(self, inv=None):
            return SMALL

        heuristic_cfg_gpu = heuristic_cfg_xla

        def heuristic_cfg_tpu(self, inv=None):
            raise AssertionError("there is no TPU")

    selector, events = chain(tmp_path, allow_autotune=False)
    assert Executor(selector).choose_config(Own(), q, k, v) is SMALL and events == ["heuristics"]


#: The methods that ejkernel's FlashAttention has for one platform.
OF_PLATFORMS = [
    *(f"candidate_cfgs_{inside}{name}" for inside in ("", "shard_map_") for name in ("gpu", "tpu", "xla")),
    "heuristic_cfg_gpu", "heuristic_cfg_tpu",
]  # fmt: skip


@pytest.mark.parametrize("name", OF_PLATFORMS)
def test_methods_of_all_platforms(name):
    general = getattr(FlashAttention(), re.sub("_(shard_map_)?(gpu|tpu|xla)$", "", name))
    assert getattr(FlashAttention(), name)(Invocation("flash_attention", (q, k, v), {})) == general()


def test_which_method_chooses():
    """What is overridden for this platform, and inside of a shard_map, comes before what is overridden for all of them."""
    platform = "xla" if jax.default_backend() == "cpu" else jax.default_backend()
    asked = []

    def answers(name):
        def method(self, inv=None):
            asked.append(name)
            return [FlashAttentionConfig()]

        return method

    class General(FlashAttention):
        candidate_cfgs = answers("general")

    class OfPlatform(General):
        pass

    class OfShardMap(OfPlatform):
        pass

    setattr(OfPlatform, f"candidate_cfgs_{platform}", answers("platform"))
    setattr(OfShardMap, f"candidate_cfgs_shard_map_{platform}", answers("shard_map"))
    for kind in (General, OfPlatform, OfShardMap):
        for method in (None, "shard_map"):
            executor = Executor(ConfigSelectorChain(tuner=Tuner(warmup=0, iters=1)))
            np.testing.assert_allclose(executor(kind(), q, k, v, causal=True, method=method), wanted, atol=1e-6)
    assert asked == ["general", "general", "platform", "platform", "platform", "shard_map"]


def test_files_of_others_are_not_read(tmp_path):
    path = tmp_path / "configurations.json"
    cache = PersistentCache("test", path=str(path))
    cache.put("cpu", "op@v1", "call", SMALL)
    assert cache.get("cpu", "op@v1", "call") == SMALL and cache.get("cpu", "op@v2", "call") is None
    path.write_text(path.read_text().replace(attnc.__version__, "0.0.1"))
    assert cache.get("cpu", "op@v1", "call") is None
    path.write_text("{")
    assert cache.get("cpu", "op@v1", "call") is None
    # As ejkernel has it, the file is the second argument. A configuration of another kind is none.
    path.write_text(json.dumps({"version": attnc.__version__, "known": {"cpu\nop@v1\ncall": {"block_q": 128}}}))
    assert PersistentCache("test", str(path)).get("cpu", "op@v1", "call") is None


@cpu_only
def test_configurations():
    cfg = FlashAttentionConfig(fwd_params={"q_blocksize": 128, "num_warps": 4})
    assert cfg.fwd_params == FwdParams(q_blocksize=128, num_warps=4)
    np.testing.assert_array_equal(flash_attention(q, k, v, causal=True, cfg=cfg), wanted)
    for other in OTHERS[:2]:
        np.testing.assert_allclose(flash_attention(q, k, v, causal=True, cfg=other), wanted, atol=1e-5)
    assert BlockSizes.get_default(1, 8, 128, 128, 64).has_backward_blocks
    assert not BlockSizes(128, 128, 128, 1).has_backward_blocks
    with pytest.raises(attnc.Error, match=re.escape("FwdParams.q_blocksize: expected a number above 0, got 0")):
        FwdParams(q_blocksize=0)
    with pytest.raises(attnc.Error, match="platform: expected one of auto, .*, got 'metal'"):
        FlashAttentionConfig(platform="metal")
    with pytest.raises(attnc.Error, match="panel"):
        flash_attention(q, k, v, cfg=FlashAttentionConfig(schedule="#attn.schedule<query_tile = 7, key_tile = 64, panel = 7>"))


def test_platforms_by_name():
    """As sources of ejkernel's kernels have them."""
    registry = KernelRegistry()

    @registry.register("flash_attention", Platform.TRITON, Backend.GPU)
    def implementation():
        pass

    assert registry.get("flash_attention", Platform.TRITON, Backend.GPU) is registry.get("flash_attention", "triton", "gpu")
    with pytest.raises(ValueError, match="no implementation of 'flash_attention'"):
        registry.get("flash_attention", Platform.PALLAS, Backend.TPU)
    assert kernel_registry.get("attention", detect_platform("attention", "auto"), Backend.ANY) is attention
    assert detect_platform("attention") is Platform.AUTO and detect_platform("attention", Platform.CUDA) is Platform.CUDA
    with pytest.raises(attnc.Error, match="platform: expected one of auto, triton, pallas"):
        detect_platform("attention", "zz")
    with pytest.raises(ValueError, match="there is no algorithm 'zz'"):
        detect_platform("zz")
