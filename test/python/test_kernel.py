"""attnc.compile, and kernels on arrays of numpy and on whatever else has DLPack's methods."""

import re
import subprocess
import sys
import threading

import numpy as np
import plain
import pytest

import attnc

SPEC = """
func.func @causal(%q: tensor<?x?x4x16x{t}> {{attn.name = "q"}}, %k: tensor<?x?x2x16x{t}> {{attn.name = "k"}},
                  %v: tensor<?x?x2x16x{t}> {{attn.name = "v"}}, %s: f32 {{attn.name = "scale"}})
    -> (tensor<?x?x4x16x{t}> {{attn.name = "out"}}, tensor<?x4x?xf32> {{attn.name = "lse"}}) {{
  %o, %lse = attn.forward %q, %k, %v scale(%s)
    mask (%b, %h, %i, %j) {{
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }}
    : (tensor<?x?x4x16x{t}>, tensor<?x?x2x16x{t}>, tensor<?x?x2x16x{t}>) -> (tensor<?x?x4x16x{t}>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x16x{t}>, tensor<?x4x?xf32>
}}
"""
TEXT = SPEC.format(t="f32")


def inputs(dtype=np.float32, sq=33, sk=45):
    random = np.random.default_rng(0)
    q = random.standard_normal((2, sq, 4, 16)).astype(dtype)
    k, v = random.standard_normal((2, 2, sk, 2, 16)).astype(dtype)
    return q, k, v


def expected(q, k, v, scale):
    shift = k.shape[1] - q.shape[1]
    return plain.attention(q, k, v, scale=scale, mask=lambda b, h, i, j: j <= i + shift)


@pytest.fixture(scope="module")
def kernel():
    return attnc.compile(TEXT)


def test_numpy(kernel):
    q, k, v = inputs()
    out, lse = kernel(q, k, v, 0.3)
    wanted_out, wanted_lse = expected(q, k, v, 0.3)
    assert type(out) is np.ndarray and out.dtype == np.float32 and lse.dtype == np.float32
    np.testing.assert_allclose(out, wanted_out, atol=1e-5)
    np.testing.assert_allclose(lse, wanted_lse, atol=1e-4)


def test_other_sizes_compile_nothing(kernel):
    loaded = kernel.prepare("cpu")
    for sq, sk in ((1, 1), (5, 64), (64, 5)):
        q, k, v = inputs(sq=sq, sk=sk)
        out, _ = kernel(q, k, v, 0.25)
        np.testing.assert_allclose(out, expected(q, k, v, 0.25)[0], atol=1e-5)
    assert kernel.prepare("cpu") is loaded


def test_float16():
    q, k, v = inputs(np.float16)
    out, _ = attnc.compile(SPEC.format(t="f16"))(q, k, v, 0.25)
    assert out.dtype == np.float16
    np.testing.assert_allclose(out, expected(q, k, v, 0.25)[0], atol=4e-3)


def test_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    q, k, v = inputs(bfloat16)
    out, _ = attnc.compile(SPEC.format(t="bf16"))(q, k, v, 0.25)
    assert out.dtype == bfloat16
    np.testing.assert_allclose(out.astype(np.float32), expected(q, k, v, 0.25)[0], atol=3e-2)


def test_bfloat16_without_ml_dtypes(monkeypatch):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    kernel = attnc.compile(SPEC.format(t="bf16"))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(attnc.Error, match="pip install ml_dtypes"):
        kernel(*inputs(bfloat16), 0.25)


def test_views_are_not_copied(kernel):
    q, k, v = inputs()
    strided = np.ascontiguousarray(q.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    out, _ = kernel(strided, k, np.broadcast_to(v[:, :1], v.shape), 0.25)
    np.testing.assert_allclose(out, expected(q, k, np.broadcast_to(v[:, :1], v.shape), 0.25)[0], atol=1e-5)


def test_out(kernel):
    q, k, v = inputs()
    out, lse = np.full((2, 4, 33, 16), np.nan, np.float32), np.empty((2, 4, 33), np.float32)
    given = (out.transpose(0, 2, 1, 3), lse)
    assert kernel(q, k, v, 0.25, out=given) is given
    np.testing.assert_allclose(given[0], expected(q, k, v, 0.25)[0], atol=1e-5)


def test_names_and_numbers(kernel):
    q, k, v = inputs()
    first, _ = kernel(q, k, v, 0.25)
    for scale in (np.float32(0.25), np.array(0.25)):
        second, _ = kernel(q, scale=scale, v=v, k=k)
        np.testing.assert_array_equal(first, second)


class Foreign:
    """What has DLPack's methods and is none of the frameworks that are known by name."""

    def __init__(self, array):
        self.array, self.shape, self.exports = array, array.shape, 0

    def __dlpack__(self, **options):
        self.exports += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(kernel):
    q, k, v = inputs()
    foreign = [Foreign(array) for array in (q, k, v)]
    before = [sys.getrefcount(array) for array in (q, k, v)]
    out, lse = np.empty_like(q), np.empty((2, 4, 33), np.float32)
    for _ in range(3):
        kernel(*foreign, 0.25, out=(out, lse))
    assert [array.exports for array in foreign] == [3, 3, 3]
    assert [sys.getrefcount(array) for array in (q, k, v)] == before
    np.testing.assert_allclose(out, expected(q, k, v, 0.25)[0], atol=1e-5)
    # Without out=, results are numpy's.
    for found, wanted in zip(kernel(*foreign, 0.25), (out, lse), strict=True):
        assert type(found) is np.ndarray and np.array_equal(found, wanted)


@pytest.mark.parametrize("versions", [True, False])
def test_dlpack_alone(kernel, versions):
    """The two methods are enough: sizes are those that DLPack has."""

    class Bare:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            if options and not versions:
                raise TypeError("no options")
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    q, k, v = inputs()
    bare = [Bare(array) for array in (q, k, v)]
    before = [sys.getrefcount(array) for array in (q, k, v)]
    for _ in range(2):
        for found, wanted in zip(kernel(*bare, 0.25), kernel(q, k, v, 0.25), strict=True):
            assert type(found) is np.ndarray and np.array_equal(found, wanted)
    assert [sys.getrefcount(array) for array in (q, k, v)] == before
    with pytest.raises(attnc.Error, match="argument 'k': expected rank 4, got 3"):
        kernel(bare[0], Bare(k[0]), bare[2], 0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spec": 3}, "spec: expected a text, got int"), ({"spec": None}, "spec: expected a text, got NoneType"),
        ({"name": 3}, "name: expected a text, got int"), ({"target": 3}, "target: expected a text, got int"),
        ({"schedule": 3}, "schedule: expected a text, got int"), ({"entry": b"f"}, "entry: expected a text, got bytes"),
    ],
)  # fmt: skip
def test_what_is_compiled_is_a_text(options, message):
    with pytest.raises(TypeError, match=message):
        attnc.compile(**{"spec": TEXT, **options})


def test_gradients():
    q, k, v = inputs()
    text = TEXT.replace("scale(%s)", "")
    out, lse = attnc.compile(text)(q, k, v, 0.0)
    d_out = np.ones_like(out)
    backward = attnc.compile(text, "cpu", backward=True)
    names = [argument.name for argument in backward.prepare().arguments]
    assert names == ["q", "k", "v", "scale", "out", "lse", "d_out", "d_lse", "d_q", "d_k", "d_v"]
    d_q, d_k, d_v = backward(q, k, v, 0.0, out, lse, d_out, np.zeros_like(lse))
    # The sum of the results changes with v by each key's weights, which come to 1 a row.
    assert d_v.sum() == pytest.approx(out.size, rel=1e-5)
    direction = np.random.default_rng(1).standard_normal(q.shape).astype(np.float32)
    step = 1e-3
    rise = expected(q + step * direction, k, v, None)[0].sum() - expected(q - step * direction, k, v, None)[0].sum()
    assert (d_q * direction).sum() == pytest.approx(rise / (2 * step), rel=1e-2, abs=1e-2)
    assert d_k.shape == k.shape


def test_spec_at_fault():
    text = TEXT.replace("attn.causal %i, %j", "attn.window %i, %j left(-1)")
    with pytest.raises(attnc.Error) as caught:
        attnc.compile(text, name="window.mlir")
    error = caught.value
    assert (error.kind, error.line, error.column) == ("spec", 7, 15)
    assert error.message == "'attn.window' op expected a window side of 0 or more, got -1 [S5]"
    assert str(error).splitlines() == [
        "window.mlir:7:15: error: 'attn.window' op expected a window side of 0 or more, got -1 [S5]",
        "      %keep = attn.window %i, %j left(-1)",
        "              ^",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(q=lambda q: q[0]), "argument 'q': expected rank 4, got 3"),
        (dict(q=lambda q: q.astype(np.float64)), "argument 'q': expected element type f32, got f64"),
        (dict(q=lambda q: q.astype(np.uint32)), "argument 'q': no kernel has elements"),
        (dict(k=lambda k: k[:, :, :1]), "argument 'k': expected dimension 2 to be 2, got 1"),
        (dict(v=lambda v: v[:, :-1]), "argument 'v'"),
        (dict(q=lambda q: q[..., ::-1]), "argument 'q'"),
        (dict(scale=lambda _: float("nan")), "argument 'scale'"),
    ],
)
def test_bad_arguments(kernel, change, message):
    given = dict(zip(("q", "k", "v", "scale"), (*inputs(), 0.25), strict=True))
    for name, function in change.items():
        given[name] = function(given[name])
    with pytest.raises(attnc.Error, match=message):
        kernel(**given)


def test_bad_calls(kernel):
    q, k, v = inputs()
    with pytest.raises(TypeError, match=r"causal\(\) takes 4 inputs \(q, k, v, scale\), got 3"):
        kernel(q, k, v)
    with pytest.raises(TypeError, match="unexpected argument 'window'"):
        kernel(q, k, v, window=3)
    with pytest.raises(TypeError, match="got argument 'q' twice"):
        kernel(q, k, v, q=q)
    with pytest.raises(TypeError, match="argument 'v': expected an array or a tensor, got str"):
        kernel(q, k, "v", 0.25)
    with pytest.raises(TypeError, match="argument 'k': expected an array of float32.*got one of >f4"):
        kernel(q, k.astype(">f4"), v, 0.25)
    with pytest.raises(attnc.Error, match="expected tensors among the inputs, got none"):
        kernel(1, 2, 3, 4)
    with pytest.raises(attnc.Error, match="out: expected 2 tensors, for 'out', 'lse', got 1"):
        kernel(q, k, v, 0.25, out=q)
    fixed = np.empty_like(q)
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match="argument 'out': expected an array that can be written"):
        kernel(q, k, v, 0.25, out=(fixed, np.empty((2, 4, 33), np.float32)))


def test_targets(kernel):
    assert attnc.compile(TEXT, "cpu").prepare().target.startswith("cpu:")
    with pytest.raises(attnc.Error, match="unknown target 'abacus'"):
        attnc.compile(TEXT, "abacus")
    with pytest.raises(attnc.Error, match="expected the device 'cpu', 'cuda' or 'cuda:<number>', got 'tpu'"):
        kernel.prepare("tpu")


def test_threads_share_a_kernel(kernel):
    q, k, v = inputs()
    wanted = kernel(q, k, v, 0.25)[0]
    results = [None] * 8

    def work(index):
        results[index] = kernel(q, k, v, 0.25)[0]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, wanted)


def test_other_threads_run_while_it_compiles():
    # Nothing that was compiled before has this literal.
    text = TEXT.replace("scale(%s)", f"scale({np.random.default_rng().random()})")
    compilation, turns = attnc.compile(text), 0
    thread = threading.Thread(target=compilation.prepare, args=("cpu",))
    thread.start()
    while thread.is_alive():
        turns += 1
        thread.join(0.001)
    assert turns > 5


def test_import_is_light():
    script = "import attnc, sys; assert not {'numpy', 'torch', 'jax', 'ml_dtypes'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_configure():
    script = """
import attnc, sys, pathlib
attnc.configure(cache_directory=sys.argv[1])
attnc.compile(sys.argv[2], "cpu")
assert any(pathlib.Path(sys.argv[1]).rglob("*")), "no kernel was kept"
try:
    attnc.configure(threads=1)
except attnc.Error as error:
    assert "comes before" in str(error)
else:
    raise AssertionError("configured twice")
"""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", script, folder, TEXT], check=True)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"threads": "x"}, "threads: expected an integer, got 'x'"),
        ({"threads": -5}, "threads: expected 0 to 65536, got -5"),
        ({"cache_bytes": 2**63}, f"cache_bytes: expected 0 to {2**63 - 1}, got {2**63}"),
        ({"use_cache": "off"}, "use_cache: expected True, False or None, got 'off'"),
        ({"cache_directory": "a\0b"}, "cache_directory: expected the path of a directory, got 'a\\x00b'"),
    ],
)
def test_configure_refuses(options, error):
    with pytest.raises((TypeError, ValueError), match=re.escape(error)):
        attnc.configure(**options)


def test_cache_directory_stays_where_it_was(tmp_path):
    script = """
import attnc, os, pathlib, sys
os.chdir(sys.argv[1])
attnc.configure(cache_directory="kept")
os.chdir("/")
attnc.compile(sys.argv[2], "cpu")
assert any(pathlib.Path(sys.argv[1], "kept").rglob("*")), "no kernel was kept"
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path), TEXT], check=True)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"spec": "\udc80" + TEXT}, "spec: expected text that UTF-8 can hold, got '\\udc80' at 0"),
        ({"spec": TEXT, "target": ""}, "target: expected a text or None, got ''"),
        ({"spec": TEXT, "schedule": ""}, "schedule: expected a text or None, got ''"),
        ({"spec": TEXT, "backward": "yes"}, "backward: expected True or False, got 'yes'"),
    ],
)
def test_compile_refuses(arguments, error):
    with pytest.raises((TypeError, ValueError), match=re.escape(error)):
        attnc.compile(**arguments)


def test_calls_refuse_what_is_no_tensor():
    kernel = attnc.compile(TEXT, "cpu")
    q, k, v = inputs()
    for given, said in ((q.tolist(), "list"), (None, "NoneType"), ("q", "str")):
        with pytest.raises(TypeError, match="argument 'q': expected an array or a tensor, got " + said):
            kernel(given, k, v, 0.3)
    with pytest.raises(TypeError, match="stream: expected the number of a CUDA stream, or None, got 'x'"):
        kernel(q, k, v, 0.3, stream="x")
    with pytest.raises(TypeError, match="device: expected a text or None, got 5"):
        kernel.prepare(5)
    with pytest.raises(attnc.Error, match="expected the device 'cpu', 'cuda' or 'cuda:<number>', got 'cuda:9999"):
        kernel.prepare("cuda:99999999999999999999")


def test_child_of_a_busy_process_has_a_context_of_its_own():
    script = """
import attnc, os, signal, sys, threading
text = sys.argv[1]
attnc.configure(use_cache=False)
attnc.compile(text, "cpu")
stop = False
def work():
    for dims in range(24, 256, 8):
        if not stop:
            attnc.compile(text.replace("x16x", f"x{dims}x"), "cpu")
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
child = os.fork()
if child == 0:
    signal.alarm(60)
    # LLVM's own locks, which a thread of the parent may hold, are nothing to test by chance: a spec is read.
    attnc.compile(text.replace("x16x", "x8x"))
    os._exit(0)
status = os.waitpid(child, 0)[1]
stop = True
for thread in threads:
    thread.join()
assert status == 0, status
"""
    subprocess.run([sys.executable, "-c", script, TEXT], check=True)
