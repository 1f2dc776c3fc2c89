"""attnc.jit: score and mask functions of Python, against the same functions of numpy's arrays."""

import functools
import types

import numpy as np
import plain
import pytest

import attnc

B, SQ, SK, H, HK, D = 2, 33, 45, 4, 2, 16
random = np.random.default_rng(0)
q = random.standard_normal((B, SQ, H, D), dtype=np.float32)
k, v = random.standard_normal((2, B, SK, HK, D), dtype=np.float32)

slopes = (2.0 ** -np.arange(1, H + 1)).astype(np.float32)
bias = random.standard_normal((B, H, SQ, SK), dtype=np.float32)
wide = random.standard_normal((H, 2 * SK), dtype=np.float32)
row_bias = random.standard_normal((1, H, 1, SK)).astype(np.float16)
documents = np.sort(random.integers(0, 4, (B, SK), dtype=np.int32), axis=1)
documents64 = documents.astype(np.int64)
prefix = np.array([7, 20], np.int32)
allowed = random.random((SQ, SK)) < 0.5
small = random.integers(-100, 100, (SQ,), dtype=np.int8)
relative = random.standard_normal((2 * SK - 1, H), dtype=np.float32)
cap = np.float32(3.0)
factor = np.array(0.5, np.float32)
holder = types.SimpleNamespace(slopes=slopes, window=5)
nested = types.SimpleNamespace(inner=holder)


def check(score=None, mask=None, atol=2e-5, **options):
    out, lse = attnc.jit(score, mask, **options)(q, k, v, return_lse=True)
    wanted, wanted_lse = plain.attention(q, k, v, score=score, mask=mask, scale=options.get("scale"))
    np.testing.assert_allclose(out, wanted, atol=atol)
    np.testing.assert_allclose(lse, wanted_lse, atol=1e-4)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def window(size):
    return lambda b, h, q_idx, kv_idx: (q_idx - kv_idx <= size) & (kv_idx - q_idx <= size)


class Alibi:
    def __init__(self):
        self.slopes = slopes

    def __call__(self, s, b, h, i, j):
        return s - self.slope(h) * np.abs(i - j)

    def slope(self, h):
        return self.slopes[h]

    def method(self, s, b, h, i, j):
        return s - self.slopes[h] * (i - j)


MASKS = {
    "causal": causal,
    "all": lambda b, h, i, j: j >= 0,
    "none": lambda b, h, i, j: j < 0,
    "window": window(5),
    "window and causal": lambda b, h, i, j: window(5)(b, h, i, j) & causal(b, h, i, j),
    "prefix": lambda b, h, i, j: (j < prefix[b]) | (i >= j),
    "documents": lambda b, h, i, j: documents[b, i] == documents[b, j],
    "documents of 64 bits": lambda b, h, i, j: documents64[b, i] == documents64[b, j],
    "dilated": lambda b, h, i, j: ((i - j) % 3 == 0) & causal(b, h, i, j),
    "chunks": lambda b, h, i, j: i // 8 == j // 8,
    "dense": lambda b, h, i, j: allowed[i, j],
    "natten": lambda b, h, i, j: (np.abs(i // 6 - j // 6) <= 1) & (np.abs(i % 6 - j % 6) <= 2),
    "per head": lambda b, h, i, j: j <= i + h * 3 - b,
    "not": lambda b, h, i, j: ~causal(b, h, i, j),
    "xor": lambda b, h, i, j: causal(b, h, i, j) ^ (j % 2 == 0),
    "bits": lambda b, h, i, j: ((i ^ j) & 5) | ((i << 1) & 8) != 0,
    "shift": lambda b, h, i, j: (i >> 2) == (j >> 2),
    "negative remainder": lambda b, h, i, j: (i - j) % -4 == -1,
    "negative division": lambda b, h, i, j: (i - j) // 3 == -2,
    "bytes": lambda b, h, i, j: small[i] > j,
    "loads of loads": lambda b, h, i, j: allowed[documents[b, i], documents[b, j]],
    "signature": lambda b, h, i, j: np.where(b == 0, i, SQ - 1 - i) >= j,
    "extremes": lambda b, h, i, j: np.minimum(np.maximum(i - 3, 0), 20) <= j,
    "clip": lambda b, h, i, j: np.clip(i - 3, 0, 20) <= j,
    "logical": lambda b, h, i, j: np.logical_and(i >= j, np.logical_not(j % 3 == 0)),
    "partial": functools.partial(lambda limit, b, h, i, j: j < limit, 9),
}

SCORES = {
    "same": lambda s, b, h, i, j: s,
    "constant": lambda s, b, h, i, j: s * 0.0 + 1.5,
    "softcap": lambda s, b, h, i, j: cap * np.tanh(s / cap),
    "alibi": lambda s, b, h, i, j: s - slopes[h] * np.abs(i - j),
    "bias": lambda s, b, h, i, j: s + bias[b, h, i, j],
    "broadcast": lambda s, b, h, i, j: s + row_bias[b * 0, h, i * 0, j],
    "wide table": lambda s, b, h, i, j: s + wide[h, i],
    "relative": lambda s, b, h, i, j: s + relative[i - j + SK - 1, h],
    "from the end": lambda s, b, h, i, j: s + relative[i - j, h] + relative[-1, h],
    "distance": lambda s, b, h, i, j: s - np.sqrt(np.abs(i - j)) / 4,
    "true division": lambda s, b, h, i, j: s + (i - j) / 7,
    "masked": lambda s, b, h, i, j: np.where(i >= j, s, -np.inf),
    "square": lambda s, b, h, i, j: s - (i - j) ** 2 / 100 + s**3 / 10,
    "exponentials": lambda s, b, h, i, j: np.log(1 + np.exp(s)) + np.exp2(-np.abs(s)),
    "float remainder": lambda s, b, h, i, j: s + (s * 0 + j * 0.5) % 1.25,
    "float floor": lambda s, b, h, i, j: s + (i * 0.3 + 0.05) // 1.0,
    "bool as number": lambda s, b, h, i, j: s + (i >= j) * 2.0,
    "scalar array": lambda s, b, h, i, j: s * factor,
    "attribute": lambda s, b, h, i, j: s - holder.slopes[h] * holder.window,
    "attribute of an attribute": lambda s, b, h, i, j: s - nested.inner.slopes[h] * j / 50,
    "object": Alibi(),
    "method": Alibi().method,
    "negative": lambda s, b, h, i, j: -s + abs(-(i - j)) * -0.1,
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
def test_mask(name):
    check(mask=MASKS[name])


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    check(score=SCORES[name])


def test_indices_one_by_one():
    out = attnc.jit(lambda s, b, h, i, j: s + bias[b][h][i, j])(q, k, v)
    np.testing.assert_array_equal(out, attnc.jit(SCORES["bias"])(q, k, v))


def test_any_name_of_an_array():
    o, s, i_, größe, lse = slopes, slopes * 2, slopes * 3, slopes * 4, slopes * 5

    def score(x, b, h, i, j):
        return x + (o[h] + s[h] + i_[h] + größe[h] + lse[h]) * j / 50

    check(score)
    text = attnc.jit(score).spec(q, k, v)
    assert all(f'attn.name = "{name}"' in text for name in ("o_2", "s_2", "i_", "gr__e", "lse_2"))


def test_score_and_mask():
    check(SCORES["alibi"], causal, scale=0.5)


def test_joined_masks():
    joined = attnc.or_masks(attnc.and_masks(causal, MASKS["documents"]), lambda b, h, i, j: j < 2)
    out = attnc.jit(mask_mod=joined)(q, k, v)

    def wanted(b, h, i, j):
        return (causal(b, h, i, j) & (documents[b, i] == documents[b, j])) | (j < 2)

    np.testing.assert_allclose(out, plain.attention(q, k, v, mask=wanted)[0], atol=2e-5)
    np.testing.assert_array_equal(attnc.jit(mask_mod=attnc.noop_mask)(q, k, v), attnc.jit()(q, k, v))


def test_functions_of_attnc():
    def score(s, b, h, i, j):
        distance = attnc.to_float(attnc.maximum(i - j, j - i))
        near = attnc.where(distance < 4, attnc.tanh(s), attnc.minimum(s, attnc.exp(-distance)))
        return near + attnc.sqrt(2.0) * attnc.to_int(s)

    def wanted(s, b, h, i, j):
        distance = np.abs(i - j)
        near = np.where(distance < 4, np.tanh(s), np.minimum(s, np.exp(-distance.astype(float))))
        return near + np.sqrt(2.0) * np.trunc(s)

    out = attnc.jit(score)(q, k, v)
    np.testing.assert_allclose(out, plain.attention(q, k, v, score=wanted)[0], atol=2e-5)


def test_alignment():
    out = attnc.jit(mask_mod=causal, align="bottom_right")(q, k, v)
    wanted, _ = plain.attention(q, k, v, mask=lambda b, h, i, j: i + SK - SQ >= j)
    np.testing.assert_allclose(out, wanted, atol=2e-5)


def test_an_array_of_another_size_is_another():
    """What was traced is kept with the function, and sizes are part of it."""
    terms = np.ones(5, np.float32)

    def score(s, b, h, i, j):
        return s * terms[-1] + terms[(j - i) % 3 - 3]

    def wanted(s, b, h, i, j):
        return s * terms[-1] + terms[(j - i) % 3 - 3]

    attention = attnc.jit(score)
    for size in (5, 9, 3):
        terms.resize((size,), refcheck=False)
        terms[:] = random.standard_normal(size)
        np.testing.assert_allclose(attention(q, k, v), plain.attention(q, k, v, score=wanted)[0], atol=2e-5)


def test_names_of_sizes():
    terms_size0, terms = random.standard_normal((1, H), dtype=np.float32)[0], random.standard_normal(11, dtype=np.float32)

    def score(s, b, h, i, j):
        near = (j - i).clip(-5, 5) if isinstance(j, np.ndarray) else attnc.minimum(attnc.maximum(j - i, -5), 5)
        return s + terms_size0[h] + terms[near] * terms[near - 1 * (near > 0)]

    wanted = plain.attention(q, k, v, score=score)[0]
    np.testing.assert_allclose(attnc.jit(score)(q, k, v), wanted, atol=2e-5)


@pytest.mark.parametrize("rows", [1, SQ, SK, SK + 5])
def test_rows_and_positions(rows):
    """Where the last query stands at the last key, a table of one row for each query is read by rows, a longer one by
    positions; of what is between, some positions would lie behind the end."""
    terms = random.standard_normal((H, rows), dtype=np.float32)

    def score(s, b, h, i, j):
        return s * terms[h, i]

    def wanted(s, b, h, i, j):
        return s * terms[h, 0 if rows == 1 else i if rows == SQ else i + SK - SQ]

    out = attnc.jit(score, align="bottom_right")(q, k, v)
    np.testing.assert_allclose(out, plain.attention(q, k, v, score=wanted)[0], atol=2e-5)
    between = np.zeros(SQ + 1, np.float32)
    with pytest.raises(attnc.TraceError, match=f"there may be 1, which stands for all, {SQ}, one for each query, {SK} or more"):
        attnc.jit(lambda s, b, h, i, j: s * between[i], align="bottom_right")(q, k, v)


def test_other_lengths_have_the_same_spec():
    def score(s, b, h, i, j):
        return s + table[h, i] + relative[i - j + SK - 1, h]

    attention = attnc.jit(score, lambda b, h, i, j: ids[b, i] == ids[b, j])
    texts = set()
    for batch, queries, keys in ((2, 33, 45), (3, 20, 20), (1, 7, 40)):
        table = random.standard_normal((H, queries), dtype=np.float32)
        ids = random.integers(0, 2, (batch, keys), dtype=np.int32)
        q = random.standard_normal((batch, queries, H, D), dtype=np.float32)
        k = random.standard_normal((batch, keys, HK, D), dtype=np.float32)
        text = attention.spec(q, k, k)
        texts.add(text)
        wanted, _ = plain.attention(q, k, k, score=score, mask=attention.mask_mod)
        np.testing.assert_allclose(attention(q, k, k), wanted, atol=2e-5)
    # Where queries are as many as keys, ids of both are rows of one axis; else those of queries are looked up.
    assert len(texts) == 2


def test_arrays_are_data():
    table = np.zeros((H,), np.float32)
    attention = attnc.jit(lambda s, b, h, i, j: s + table[h] * j)
    text = attention.spec(q, k, v)
    first = attention(q, k, v)
    table[:] = 1
    assert attention.spec(q, k, v) == text
    assert abs(attention(q, k, v) - first).max() > 0.1


def test_what_was_traced_is_found_again(monkeypatch):
    from attnc._trace import spec

    traced = []
    original = spec._trace
    monkeypatch.setattr(spec, "_trace", lambda *inputs: traced.append(1) or original(*inputs))
    attention = attnc.jit(lambda s, b, h, i, j: s + bias[b, h, i, j], causal)
    for _ in range(3):
        attention(q, k, v)
    assert len(traced) == 1
    scores = random.standard_normal((1, H, SQ, SK), dtype=np.float32)
    attnc.jit(lambda s, b, h, i, j: s + scores[b, h, i, j], causal)(q, k, v)
    assert len(traced) == 2


def test_what_changed_is_traced_again():
    number, values, held = 1.0, [2.0, slopes], types.SimpleNamespace(slopes=slopes, factor=3.0)
    table = {"a": 4.0}

    def helper(s, h):
        return s * number + values[0] * values[1][h]

    def score(s, b, h, i, j):
        return helper(s, h) + held.slopes[h] * held.factor * j / 50 + table["a"] * offset[h] * i * 0.0

    def expect():
        np.testing.assert_allclose(attention(q, k, v), plain.attention(q, k, v, score=score)[0], atol=2e-5)

    attention = attnc.jit(score)
    offset = slopes
    expect()
    number = 0.5
    expect()
    values[0] = -2.0
    expect()
    held.factor = -3.0
    expect()
    held.slopes = -slopes
    expect()
    table["a"] = 0.5
    expect()
    offset = np.ones(H, np.float32)
    expect()


class Settings:
    """Without arrays: nobody sees its attributes being read."""

    def __init__(self):
        self.window = 3

    def inside(self, i, j):
        return i - j < self.window


def test_what_changes_unseen_is_traced_again():
    settings, module, inner = Settings(), types.ModuleType("settings"), types.SimpleNamespace(settings=Settings(), t=slopes)
    module.window = Settings.limit = 3
    masks = [
        lambda b, h, i, j: i - j < settings.window,
        lambda b, h, i, j: settings.inside(i, j),
        lambda b, h, i, j: i - j < module.window,
        lambda b, h, i, j: i - j < Settings.limit,
        lambda b, h, i, j: i - j < inner.settings.window,
        lambda b, h, i, j: i - j < getattr(settings, "window"),
    ]
    for window in (3, 9):
        settings.window = module.window = Settings.limit = inner.settings.window = window
        wanted, _ = plain.attention(q, k, v, mask=lambda b, h, i, j, window=window: i - j < window)
        for mask in masks:
            np.testing.assert_allclose(attnc.jit(None, mask)(q, k, v), wanted, atol=2e-5)


def test_no_number_is_lost():
    for number in (0.1, 1e-30, 1 / 3, -123456.789, 16777216.0, 1e30, 3.4028234663852886e38):
        text = attnc.jit(lambda s, b, h, i, j, number=number: s * number).spec(q, k, v)
        literal = next(line for line in text.splitlines() if "arith.constant" in line).split()[3]
        assert np.float32(literal) == np.float32(number)


def test_out_and_lse():
    out, lse = np.empty_like(q), np.empty((B, H, SQ), np.float32)
    attention = attnc.jit(mask_mod=causal)
    attention(q, k, v, out=(out, lse))
    np.testing.assert_array_equal(out, attention(q, k, v))


def traced(score, mask=None, learned=(), sizes=(B, SQ, SK)):
    from attnc._jit import facts_of
    from attnc._trace.spec import trace

    facts = facts_of((q.shape, k.shape, v.shape), ("float32",) * 3, None, "top_left")
    return trace(facts, score, mask, sizes, lambda array: any(array is one for one in learned))


def test_learned_arrays():
    """Their gradients are results of a kernel of its own text: forward and what is not learned know nothing of them."""
    shared, gate = bias[:1], np.array(0.5, np.float32)

    def score(s, b, h, i, j):
        return s * gate + slopes[h] * shared[b, h, i, j] + row_bias[b, h, 0, j] * holder.slopes[h]

    spec = traced(score, learned=(shared, gate, slopes))
    assert spec.text == traced(score).text and "requires_grad" not in spec.text
    assert spec.differentiated == ("gate", "slopes", "shared") and spec.names == (*spec.differentiated, "row_bias")
    for argument in (
        '%gate: tensor<1xf32> {attn.name = "gate", attn.requires_grad}',
        '%slopes: tensor<4xf32> {attn.name = "slopes", attn.requires_grad}',
        '%shared: tensor<1x4x?x?xf32> {attn.name = "shared", attn.requires_grad}',
        '%row_bias: tensor<1x4x?x?xf16> {attn.name = "row_bias"}',
    ):
        assert argument in spec.backward_text

    def sum_of(factor, values, table):
        def changed(s, b, h, i, j):
            return s * factor + values[h] * table[b * 0, h, i, j] + row_bias[b * 0, h, 0, j].astype(float) * values[h]

        return plain.attention(q, k, v, score=changed)[0].sum()

    out, lse = attnc.compile(spec.text)(q, k, v, gate.reshape(1), slopes, shared, row_bias)
    found = attnc.compile(spec.backward_text, backward=True)(
        q, k, v, gate.reshape(1), slopes, shared, row_bias, out, lse, np.ones_like(out), np.zeros_like(lse)
    )[3:]
    given = [gate.reshape(1), slopes, shared]
    for place, (array, gradient) in enumerate(zip(given, found, strict=True)):
        assert gradient.shape == array.shape
        step = 1e-4 * random.standard_normal(array.shape)
        above, below = (sum_of(*(x + sign * step if n == place else x for n, x in enumerate(given))) for sign in (1, -1))
        assert (gradient * step).sum() == pytest.approx((above - below) / 2, rel=1e-2, abs=1e-6)


def test_learned_arrays_of_one_element_have_one_text():
    texts = {
        traced(lambda s, b, h, i, j: s + table[b, h, i, j], learned=(table,), sizes=(batch, SQ, SK)).backward_text
        for batch in (1, 2, 7)
        for table in (np.zeros((1, H, SQ, SK), np.float32),)
    }
    assert len(texts) == 1 and "tensor<1x4x?x?xf32>" in texts.pop()


def test_arrays_that_masks_read_are_not_learned():
    table = random.random(SK, dtype=np.float32)
    spec = traced(None, lambda b, h, i, j: table[j] > 0.5, learned=(table,))
    assert spec.differentiated == () and spec.backward_text == spec.text
    spec = traced(lambda s, b, h, i, j: s + table[j], lambda b, h, i, j: table[j] > 0.5, learned=(table,))
    assert spec.differentiated == ("table",) and spec.names == ("table",)


def test_learned_arrays_that_are_read_in_two_ways_are_two():
    table = np.zeros(SQ, np.float32)
    spec = traced(lambda s, b, h, i, j: s + table[i] - table[j] + table[i], learned=(table,), sizes=(B, SQ, SQ))
    assert spec.differentiated == ("table", "table_2") and all(array is table for array in spec.arrays)


def test_learned_tables_are_passed_as_far_as_they_are_read():
    table = np.zeros((H + 1, 2 * SK), np.float32)
    spec = traced(lambda s, b, h, i, j: s + table[h, j] + row_bias[0, h, 0, j], learned=(table,))
    assert spec.passed == ((H, SK), None) and "tensor<4x?xf32>" in spec.backward_text
    # Of as many elements as there are of its axis, it has the same text.
    short = table[:H, :SK]
    same = traced(lambda s, b, h, i, j, table=short: s + table[h, j] + row_bias[0, h, 0, j], learned=(short,))
    assert same.passed == (None, None) and same.backward_text == spec.backward_text


def test_what_is_learned_may_change():
    class Holder:
        is_learned = False

        def __init__(self):
            self.table = slopes.copy()

        def wants(self, array):
            return self.is_learned and array is self.table

    from attnc._jit import facts_of
    from attnc._trace.spec import trace

    holder = Holder()
    table = holder.table
    facts = facts_of((q.shape, k.shape, v.shape), ("float32",) * 3, None, "top_left")

    def score(s, b, h, i, j):
        return s * table[h]

    for is_learned in (False, True, True, False):
        holder.is_learned = is_learned
        spec = trace(facts, score, None, (B, SQ, SK), holder.wants)
        assert spec.differentiated == (("table",) if is_learned else ())
        # Where nobody asks, nothing is.
        assert trace(facts, score, None, (B, SQ, SK)).differentiated == ()


def test_learned_tables_by_computed_indices():
    """Each index that is computed reads an argument of its own, of a size that the type says."""
    table = relative.copy()

    def score(s, b, h, i, j):
        return s + table[abs(i - j), h] * table[(i + j) // 3, h]

    spec = traced(score, learned=(table,))
    assert spec.differentiated == ("table", "table_2") and all(array is table for array in spec.arrays)
    assert spec.backward_text.count(f"tensor<{2 * SK - 1}x4xf32> {{attn.name") == 2

    def sum_of(values):
        changed = lambda s, b, h, i, j: s + values[abs(i - j), h] * values[(i + j) // 3, h]
        return plain.attention(q, k, v, score=changed)[0].sum()

    out, lse = attnc.compile(spec.text)(q, k, v, *spec.arrays)
    found = attnc.compile(spec.backward_text, backward=True)(
        q, k, v, *spec.arrays, out, lse, np.ones_like(out), np.zeros_like(lse)
    )[3:]
    step = 1e-4 * random.standard_normal(table.shape)
    difference = (sum_of(table + step) - sum_of(table - step)) / 2
    assert ((found[0] + found[1]) * step).sum() == pytest.approx(difference, rel=1e-2, abs=1e-6)


def test_long_learned_tables_have_an_open_size():
    """One program serves tables for sequences of every length."""
    table = (random.standard_normal((1025, H)) / 8).astype(np.float32)

    def score(values):
        return lambda s, b, h, i, j: s + values[abs(i - j) + 500, h]

    spec = traced(score(table), learned=(table,))
    assert "tensor<?x4xf32> {attn.name" in spec.backward_text and f"tensor<1025x{H}xf32>" not in spec.backward_text
    out, lse = attnc.compile(spec.text)(q, k, v, *spec.arrays)
    saved = out, lse, np.ones_like(out), np.zeros_like(lse)
    found = attnc.compile(spec.backward_text, backward=True)(q, k, v, *spec.arrays, *saved)[3]
    step = 1e-4 * random.standard_normal(table.shape)
    sums = [plain.attention(q, k, v, score=score(table + sign * step))[0].sum() for sign in (1, -1)]
    assert (found * step).sum() == pytest.approx((sums[0] - sums[1]) / 2, rel=1e-2, abs=1e-6)

