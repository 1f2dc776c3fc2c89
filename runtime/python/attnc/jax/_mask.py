"""Masks of ejkernel's kind: dense, or by ids of segments, with what narrows them."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
from jax import numpy as jnp
from jax.sharding import PartitionSpec

from .._options import Rule
from ._checks import integer, said
from ._segments import mask_to_segment_ids, positions_of, segment_ids_to_mask, segment_ids_to_qkv_masks


class MaskSharding(NamedTuple):
    """How the parts of a mask are split."""

    attention_mask: PartitionSpec | None
    q_segment_ids: PartitionSpec | None
    kv_segment_ids: PartitionSpec | None
    q_positions: PartitionSpec | None
    kv_positions: PartitionSpec | None


#: Arrays of a MaskInfo, and what of it belongs to the type of a program.
_ARRAYS = ("_attention_mask", "_q_segment_ids", "_kv_segment_ids", "q_positions", "kv_positions")
_STATIC = ("rules", "batch_axis_name", "qheads_axis_name", "kvheads_axis_name", "sequence_axis_name")


@dataclasses.dataclass(frozen=True)
class MaskInfo:
    """Which keys a query sees: by a dense mask [B, H or 1, Sq, Sk], or by ids of segments, [B, Sq] and [B, Sk], of which
    those below 0 are padding. Where both are there, the dense mask counts. It goes through jit as arrays do.

    Rules that are narrowed by (`apply_causal` and others) with numbers stay rules, which kernels compute and skip by; with
    arrays they become part of a dense mask.
    """

    _attention_mask: Any = None
    _q_segment_ids: Any = None
    _kv_segment_ids: Any = None
    q_positions: Any = None
    kv_positions: Any = None
    batch_axis_name: Any = ("dp", "fsdp")
    qheads_axis_name: Any = "tp"
    kvheads_axis_name: Any = "tp"
    sequence_axis_name: Any = "sp"
    rules: tuple[Rule, ...] = ()

    @classmethod
    def from_segments(
        cls, q_segment_ids: Any, kv_segment_ids: Any = None, q_positions: Any = None, kv_positions: Any = None, *,
        is_attn_mask: bool = False, **axes: Any,
    ) -> MaskInfo:  # fmt: skip
        """Of ids [B, S] of queries and, where they differ, of keys. is_attn_mask: they are 0 for padding, else 1."""
        kv_segment_ids = q_segment_ids if kv_segment_ids is None else kv_segment_ids
        ids = [jnp.asarray(array) for array in (q_segment_ids, kv_segment_ids)]
        for name, array in zip(("q_segment_ids", "kv_segment_ids"), ids, strict=True):
            if array.ndim != 2:
                raise ValueError(f"{name}: expected 2 dimensions, [B, S], got {array.ndim}")
        if is_attn_mask:
            ids = [jnp.where(array != 0, 0, -1) for array in ids]
        ids = [array.astype(jnp.int32) for array in ids]
        return cls(None, *ids, q_positions, kv_positions, **axes)

    @classmethod
    def from_attention_mask(
        cls, attention_mask: Any, q_positions: Any = None, kv_positions: Any = None, **axes: Any
    ) -> MaskInfo:
        """Of a mask [B, H or 1, Sq, Sk] or [B, Sq, Sk], or of [B, S], true for what is no padding."""
        mask = jnp.asarray(attention_mask)
        if mask.ndim == 2:
            return cls.from_segments(mask, None, q_positions, kv_positions, is_attn_mask=True, **axes)
        if mask.ndim not in (3, 4):
            raise ValueError(f"attention_mask: expected 2, 3 or 4 dimensions, got {mask.ndim}")
        mask = (mask if mask.ndim == 4 else mask[:, None]) != 0
        return cls(mask, None, None, q_positions, kv_positions, **axes)

    @classmethod
    def from_random(
        cls, batch_size: int, q_len: int, kv_len: int | None = None, sparsity: float = 0.5, seed: int = 0,
        q_positions: Any = None, kv_positions: Any = None, **axes: Any,
    ) -> MaskInfo:  # fmt: skip
        """A random mask that keeps a key with the probability 1 - sparsity."""
        if not 0 <= sparsity <= 1:
            raise ValueError(f"sparsity: expected a number from 0 to 1, got {sparsity}")
        shape = (batch_size, 1, q_len, q_len if kv_len is None else kv_len)
        mask = jax.random.bernoulli(jax.random.PRNGKey(seed), 1 - sparsity, shape)
        return cls(mask, None, None, q_positions, kv_positions, **axes)

    @classmethod
    def dynamic_init(
        cls, *, mask_info: MaskInfo | None = None, input_ids: Any = None, inputs_embeds: Any = None, attention_mask: Any = None
    ) -> MaskInfo:
        """`mask_info` itself, or of an attention mask, or of the sizes of tokens or embeddings, all of them kept."""
        if mask_info is not None:
            return mask_info
        if attention_mask is not None:
            return cls.from_attention_mask(attention_mask)
        given = input_ids if input_ids is not None else inputs_embeds
        if given is None:
            raise ValueError("expected one of mask_info, input_ids, inputs_embeds and attention_mask, got none")
        return cls.from_segments(jnp.ones(given.shape[:2], jnp.int32), is_attn_mask=True)

    # --- What it is -----------------------------------------------------------------------------------------------------

    @property
    def attention_mask(self) -> Any:
        """The dense mask, [B, H or 1, Sq, Sk]."""
        return self.get_or_compute_attention_mask()

    @property
    def q_segment_ids(self) -> Any:
        return self.get_or_compute_segment_ids()[0]

    @property
    def kv_segment_ids(self) -> Any:
        return self.get_or_compute_segment_ids()[1]

    @property
    def bias(self) -> Any:
        """0 where a key is kept, and the lowest number of float32 elsewhere."""
        return self.create_bias()

    @property
    def q_attention_mask(self) -> Any:
        """1 for queries that are no padding, [B, Sq]."""
        return (self.q_segment_ids >= 0).astype(jnp.int32)

    @property
    def q_position_ids(self) -> Any:
        """How many queries before each are no padding, [B, Sq]."""
        return jnp.maximum(jnp.cumsum(self.q_attention_mask, axis=-1) - 1, 0).astype(jnp.int32)

    @property
    def shape(self) -> tuple[int | None, int | None, int | None]:
        """Batch entries, queries and keys; None where nothing says."""
        if self._attention_mask is not None:
            batch, _, rows, columns = self._attention_mask.shape
            return batch, rows, columns
        if self._q_segment_ids is None or self._kv_segment_ids is None:
            return None, None, None
        return (*self._q_segment_ids.shape, self._kv_segment_ids.shape[1])

    @property
    def batch_size(self) -> int | None:
        return self.shape[0]

    @property
    def q_len(self) -> int | None:
        return self.shape[1]

    @property
    def kv_len(self) -> int | None:
        return self.shape[2]

    def is_self_attention(self) -> bool:
        """Whether there are as many queries as keys."""
        return self.q_len is not None and self.q_len == self.kv_len

    def get_or_compute_attention_mask(self, dtype: Any = jnp.bool_) -> Any:
        """The dense mask, rules included."""
        if self._attention_mask is not None:
            mask = self._attention_mask != 0
        elif self._q_segment_ids is not None and self._kv_segment_ids is not None:
            mask = segment_ids_to_mask((self._q_segment_ids, self._kv_segment_ids))
        else:
            raise ValueError("the MaskInfo is empty: it has neither a mask nor ids of segments")
        row, column = jnp.arange(mask.shape[2])[:, None], jnp.arange(mask.shape[3])
        for rule in self.rules:
            mask = mask & rule.keeps(row, column)
        return mask.astype(dtype)

    def get_or_compute_segment_ids(self, per_head: bool = False) -> tuple[Any, Any]:
        """The ids of queries and keys. Those of a dense mask are 0, and -1 where nothing is kept."""
        if self._q_segment_ids is not None and self._kv_segment_ids is not None:
            return self._q_segment_ids, self._kv_segment_ids
        ids = mask_to_segment_ids(self.get_or_compute_attention_mask(), per_head)
        return jnp.minimum(ids[0], 0), jnp.minimum(ids[1], 0)

    def get_or_compute_positions(self) -> tuple[Any, Any]:
        """The place of each query and each key in its segment. Padding is at -1, and at the greatest number."""
        q_ids, kv_ids = self.get_or_compute_segment_ids()
        q = positions_of(q_ids, -1) if self.q_positions is None else self.q_positions
        kv = positions_of(kv_ids, 2**31 - 1) if self.kv_positions is None else self.kv_positions
        return q, kv

    def get_qkv_masks(self, dtype: Any = jnp.bool_) -> tuple[Any, Any, Any]:
        """Which queries and keys are no padding, and the mask of their segments."""
        return segment_ids_to_qkv_masks(*self.get_or_compute_segment_ids(), dtype=dtype)  # type: ignore[no-any-return]

    def create_bias(self, dtype: Any = jnp.float32) -> Any:
        """0 where a key is kept, and the lowest number of the type elsewhere."""
        mask = self.get_or_compute_attention_mask()
        return jnp.where(mask, jnp.zeros((), dtype), jnp.array(jnp.finfo(dtype).min, dtype))

    # --- Others of it ----------------------------------------------------------------------------------------------------

    def replace(
        self, *, attention_mask: Any = None, q_segment_ids: Any = None, kv_segment_ids: Any = None, **others: Any
    ) -> MaskInfo:
        """The same with other parts. A dense mask holds whatever rules said."""
        given = {"_attention_mask": attention_mask, "_q_segment_ids": q_segment_ids, "_kv_segment_ids": kv_segment_ids}
        others |= {name: value for name, value in given.items() if value is not None}
        if attention_mask is not None:
            others.setdefault("rules", ())
        return dataclasses.replace(self, **others)

    def materialize_attention_mask(self, dtype: Any = jnp.bool_) -> MaskInfo:
        """The same with a dense mask."""
        return self.replace(attention_mask=self.get_or_compute_attention_mask(dtype))

    def materialize_segment_ids(self, per_head: bool = False) -> MaskInfo:
        """The same with ids of segments."""
        if self._q_segment_ids is not None and self._kv_segment_ids is not None:
            return self
        ids = mask_to_segment_ids(self.get_or_compute_attention_mask(), per_head)
        return self.replace(q_segment_ids=ids[0], kv_segment_ids=ids[1])

    def to_dtype(self, dtype: Any) -> MaskInfo:
        """The same with a dense mask of a type."""
        return self.materialize_attention_mask(dtype)

    def _narrow(self, rule: Rule) -> MaskInfo:
        self._sizes()
        return dataclasses.replace(self, rules=(*self.rules, rule))

    def _narrow_dense(self, keeps: Any, offset: Any) -> MaskInfo:
        """The same with a dense mask, narrowed by keeps(row, column) with an offset for each batch entry."""
        mask = self.get_or_compute_attention_mask()
        row = jnp.arange(mask.shape[2])[:, None] + jnp.asarray(offset).reshape(-1, 1, 1, 1)
        return self.replace(attention_mask=mask & keeps(row, jnp.arange(mask.shape[3])))

    def _sizes(self) -> tuple[int, int, int]:
        batch, rows, columns = self.shape
        if batch is None or rows is None or columns is None:
            raise ValueError("the MaskInfo is empty: it has neither a mask nor ids of segments")
        return batch, rows, columns

    def apply_causal(self, offset: Any = 0) -> MaskInfo:
        """Keeps keys up to the query's row plus `offset`, a number or one for each batch entry."""
        if (number := integer(offset)) is not None:
            return self._narrow(Rule("causal", (number,)))
        return self._narrow_dense(Rule("causal", (0,)).keeps, offset)

    def apply_sliding_window(
        self, sliding_window: int | tuple[int, int], offset: Any = 0, mode: Literal["default", "decode", "prefill"] | None = None,
        index: Any = None,
    ) -> MaskInfo:  # fmt: skip
        """Keeps keys from row - left to row + right. mode: "decode" leaves the row `index` and as many keys as the window
        has, "prefill" the last of them."""
        pair = sliding_window if isinstance(sliding_window, (tuple, list)) else (sliding_window, sliding_window)
        sides = [side for side in map(integer, pair) if side is not None and side >= 0]
        if len(sides) != 2 or len(pair) != 2:
            raise ValueError(f"sliding_window: expected a number of 0 or more, or two of them, got {said(sliding_window)}")
        if mode not in (None, "default", "decode", "prefill"):
            raise ValueError(f"mode: expected 'default', 'decode' or 'prefill', got {mode!r}")
        if mode == "decode" and index is None:
            raise ValueError("index: expected the row of the query with mode='decode', got None")
        if (number := integer(offset)) is not None:
            narrowed = self._narrow(Rule("window", (*sides, number)))
        else:
            narrowed = self._narrow_dense(Rule("window", (*sides, 0)).keeps, offset)
        if mode in (None, "default"):
            return narrowed
        batch, _, columns = self._sizes()
        width = min(sum(sides) + 1, columns)
        mask = narrowed.get_or_compute_attention_mask()
        if mode == "prefill":
            return self.replace(attention_mask=mask[..., columns - width :])

        def row_of(mask: Any, row: Any) -> Any:
            first = jnp.clip(row - sides[0], 0, columns - width)
            return jax.lax.dynamic_slice(mask, (0, row, first), (mask.shape[0], 1, width))

        rows = jnp.broadcast_to(jnp.asarray(index, jnp.int32), (batch,))
        return self.replace(attention_mask=jax.vmap(row_of)(mask, rows))

    def apply_chunked(self, chunk_size: int, offset: int = 0) -> MaskInfo:
        """Keeps keys of the query's chunk, up to its row plus `offset`."""
        return self._narrow(_chunks(chunk_size, offset))

    def apply_kv_lengths(self, kv_lengths: Any, *, q_len: int | None = None, sliding_window: int | None = None) -> MaskInfo:
        """Keeps keys below a length for each batch entry, and the last `q_len` queries before it; with a window, as many
        keys as it has before it."""
        if q_len is None:
            raise ValueError("q_len: expected the number of queries to keep, got None")
        mask = self.get_or_compute_attention_mask()
        batch, _, rows, columns = mask.shape
        for name, value, most in (("q_len", q_len, rows), ("sliding_window", sliding_window, None)):
            number = integer(value)
            if value is not None and (number is None or not 0 < number <= (most or number)):
                raise ValueError(f"{name}: expected a number above 0{f' and up to {most}' * bool(most)}, got {said(value)}")
        lengths = jnp.asarray(kv_lengths)
        if not jnp.issubdtype(lengths.dtype, jnp.integer) or lengths.size != batch:
            raise ValueError(f"kv_lengths: expected {batch} integers, got {said(lengths)}")
        lengths = lengths.reshape(batch)
        width = columns if sliding_window is None else min(sliding_window, columns)
        mask = mask & (jnp.arange(columns) < lengths[:, None])[:, None, None]

        def last(array: Any, length: Any, count: int, axis: int) -> Any:
            first = jnp.clip(length - count, 0, array.shape[axis] - count)
            return jax.lax.dynamic_slice_in_dim(array, first, count, axis)

        def cut(array: Any, count: int, axis: int) -> Any:
            return None if array is None else jax.vmap(lambda x, length: last(x, length, count, axis))(array, lengths)

        mask = cut(mask, q_len, 1)
        if sliding_window is not None:
            mask = cut(mask, width, 2)
        kv_ids = self._kv_segment_ids if sliding_window is None else cut(self._kv_segment_ids, width, 0)
        return self.replace(attention_mask=mask, q_segment_ids=cut(self._q_segment_ids, q_len, 0), kv_segment_ids=kv_ids)

    def apply_token_type_ids(
        self, token_type_ids: Any, *, combine: Literal["union", "intersect", "replace"] = "union",
        zero_policy: Literal["q", "kv", "both", "none"] = "q", update_segment_ids: bool | None = None,
    ) -> MaskInfo:  # fmt: skip
        """Joins the mask with one that keeps keys of the query's type. token_type_ids: [B, S], or a pair of them.
        zero_policy: on which side the type 0 sees nothing. update_segment_ids: takes types as ids of segments, 0 as
        padding; where it is None, unless masks are united."""
        pair = token_type_ids if isinstance(token_type_ids, tuple) else (token_type_ids, token_type_ids)
        q_types, kv_types = (jnp.asarray(types, jnp.int32) for types in pair)
        if q_types.ndim != 2 or kv_types.ndim != 2 or q_types.shape[0] != kv_types.shape[0]:
            raise ValueError(f"token_type_ids: expected [B, S] for one B, got {q_types.shape} and {kv_types.shape}")
        if zero_policy not in ("q", "kv", "both", "none"):
            raise ValueError(f"zero_policy: expected 'q', 'kv', 'both' or 'none', got {zero_policy!r}")
        equal = q_types[:, None, :, None] == kv_types[:, None, None]
        if zero_policy in ("q", "both"):
            equal = equal & (q_types != 0)[:, None, :, None]
        if zero_policy in ("kv", "both"):
            equal = equal & (kv_types != 0)[:, None, None]
        if combine == "replace":
            mask = equal
        elif combine in ("union", "intersect"):
            old = self.get_or_compute_attention_mask()
            mask = old | equal if combine == "union" else old & equal
        else:
            raise ValueError(f"combine: expected 'union', 'intersect' or 'replace', got {combine!r}")
        if not (combine != "union" if update_segment_ids is None else update_segment_ids):
            return self.replace(attention_mask=mask)
        ids = (jnp.where(types == 0, -1, types) for types in (q_types, kv_types))
        return self.replace(attention_mask=mask, q_segment_ids=next(ids), kv_segment_ids=next(ids))

    # --- How it is split -------------------------------------------------------------------------------------------------

    @staticmethod
    def get_empty_sharding() -> MaskSharding:
        """A sharding that splits nothing."""
        return MaskSharding(None, None, None, None, None)

    def get_shardings(self, sequence_parallel: bool = False, *, mesh: Any) -> MaskSharding:
        """How a mesh splits its parts: by the names of axes that it was given, where they divide the sizes."""
        sequence = self.sequence_axis_name if sequence_parallel else None
        dense = (self.batch_axis_name, self.qheads_axis_name, sequence, sequence)

        def spec(array: Any, axes: tuple[Any, ...]) -> PartitionSpec | None:
            if array is None:
                return None
            return PartitionSpec(*(self._fitting(axis, size, mesh) for axis, size in zip(axes, array.shape, strict=True)))

        rows = (self.batch_axis_name, sequence)
        others = (self._q_segment_ids, self._kv_segment_ids, self.q_positions, self.kv_positions)
        return MaskSharding(spec(self._attention_mask, dense), *(spec(array, rows) for array in others))

    @staticmethod
    def _fitting(axis: Any, size: int, mesh: Any) -> Any:
        """The axes of the mesh by which a dimension is split; None where they do not divide it."""
        if axis is None:
            return None
        parts = 1
        for name in axis if isinstance(axis, tuple) else (axis,):
            if name not in mesh.axis_names:
                raise ValueError(f"mesh: expected an axis '{name}', got {', '.join(mesh.axis_names)}")
            parts *= mesh.shape[name]
        return axis if size % parts == 0 else None

    @staticmethod
    def create_chunked_attention_mask(
        chunk_size: int, q_len: int, kv_len: int | None = None, offset: int = 0, dtype: Any = jnp.bool_
    ) -> Any:
        """The mask [Sq, Sk] of `apply_chunked`."""
        rows, columns = jnp.arange(q_len)[:, None], jnp.arange(q_len if kv_len is None else kv_len)
        return _chunks(chunk_size, offset).keeps(rows, columns).astype(dtype)


def _chunks(chunk_size: Any, offset: Any) -> Rule:
    numbers = integer(chunk_size), integer(offset)
    if numbers[0] is None or numbers[0] <= 0:
        raise ValueError(f"chunk_size: expected a number above 0, got {said(chunk_size)}")
    if numbers[1] is None:
        raise ValueError(f"offset: expected an integer, got {said(offset)}")
    return Rule("chunk", (numbers[0], numbers[1]))


jax.tree_util.register_dataclass(MaskInfo, data_fields=_ARRAYS, meta_fields=_STATIC)
