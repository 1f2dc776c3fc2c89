"""Block masks. A function needs no blocks here, since the compiler finds them in its expression; blocks that somebody chose say
themselves what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.nn.attention import flex_attention as torch_flex

from .._core import Error
from .._mods import MaskMod, noop_mask
from . import _checks

#: The size of blocks that stand for all rows, whatever their number.
_ALL = 1 << 30


class BlockMask(torch_flex.BlockMask):
    """torch's, by `BlockMask.from_kv_blocks`. Its blocks count: a key is kept where it lies in a full block, or where it lies
    in another block that is listed and `mask_mod` keeps it."""

    def __getitem__(self, index: Any) -> BlockMask:
        return _as_ours(super().__getitem__(index))

    def to(self, device: Any) -> BlockMask:
        return _as_ours(super().to(device))

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        mask = _as_ours(super()._adjust(new_q_len, new_kv_len))
        # As torch has it since it no longer rounds them up.
        mask.seq_lengths = (new_q_len, new_kv_len)
        return mask


def _as_ours(theirs: torch_flex.BlockMask) -> BlockMask:
    """torch's own methods make masks of torch's class."""
    mask = BlockMask.__new__(BlockMask)
    for name in _DECLARED:
        setattr(mask, name, getattr(theirs, name))
    return mask


#: The attributes of a block mask, as torch declares them.
_DECLARED = tuple(torch_flex.BlockMask.__annotations__)


def _adjusted_are_rounded() -> bool:
    """Whether masks that torch has adjusted to other lengths say that they are for whole blocks, as those of torch 2.11 do."""
    counts, indices = torch.ones(1, 1, 1, dtype=torch.int32, device="cpu"), torch.zeros(1, 1, 1, 1, dtype=torch.int32, device="cpu")
    mask = torch_flex.BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=2)
    return bool(mask._adjust(1, 1).seq_lengths != (1, 1))


_ROUNDED = _adjusted_are_rounded()


class _FunctionMask(BlockMask):
    """What `create_block_mask` returns: its function alone counts. torch makes the blocks when somebody looks at them."""

    def __init__(self, make: Callable[..., Any], *given: Any, **known: Any) -> None:
        #: make(*given): torch's mask.
        self._make, self._given = make, given
        #: Batch entries and heads; None where nobody but torch knows.
        self._leading: tuple[int, int] | None = None
        #: The queries and keys of the calls that it is for, where `seq_lengths` were not set; None for any number.
        self._for: tuple[int | None, int | None] = (None, None)
        for name, value in known.items():
            setattr(self, name, value)

    # Blocks that are given to it count, as they do elsewhere.
    from_kv_blocks = BlockMask.from_kv_blocks

    def __getattr__(self, name: str) -> Any:
        if name not in _DECLARED:
            raise AttributeError(f"'BlockMask' object has no attribute '{name}'")
        return getattr(self.blocks(), name)

    def blocks(self) -> torch_flex.BlockMask:
        """torch's mask."""
        if "_made" not in self.__dict__:
            self._made: torch_flex.BlockMask = self._make(*self._given)
        return self._made

    def _changed(self, make: Callable[..., Any], *given: Any, **known: Any) -> BlockMask:
        """A mask whose blocks are make(self, *given)."""
        kept = {"_leading": self._leading, "BLOCK_SIZE": self.BLOCK_SIZE, "mask_mod": self.mask_mod}
        return _FunctionMask(make, self, *given, **{**kept, **known})

    def __getitem__(self, index: Any) -> BlockMask:
        # How many queries there are only blocks tell, which are not made for that.
        return self._changed(_sliced, index, mask_mod=_of_a_slice, _leading=None, _for=(None, _lengths_of(self)[1]))

    def to(self, device: Any) -> BlockMask:
        told = {"seq_lengths": self.seq_lengths} if "seq_lengths" in self.__dict__ else {}
        return self._changed(_moved, device, _for=self._for, **told)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        # What sizes it has then is torch's to say, and differs from version to version.
        return self._changed(_cropped, new_q_len, new_kv_len, _leading=None, _for=(new_q_len, new_kv_len))

    @property
    def shape(self) -> tuple[int, ...]:
        return super().shape if self._leading is None else (*self._leading, *self.seq_lengths)

    def __repr__(self) -> str:
        name = getattr(self.mask_mod, "__name__", type(self.mask_mod).__name__)
        sizes = f"BLOCK_SIZE={self.BLOCK_SIZE}" if self._leading is None else f"shape={self.shape}"
        return f"BlockMask(mask_mod={name}, {sizes})"


def _lengths_of(mask: torch_flex.BlockMask) -> tuple[int | None, int | None]:
    """The queries and keys of the calls that a mask is for; None for any number."""
    if isinstance(mask, _FunctionMask) and "seq_lengths" not in mask.__dict__:
        return mask._for
    return mask.seq_lengths


def _created(
    mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any, size: Any, separate_full_blocks: bool
) -> torch_flex.BlockMask:
    # Not torch's default, which is a GPU where there is none.
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    # Of torch 2.15: others have no such option.
    options = {} if separate_full_blocks else {"separate_full_blocks": False}
    return torch_flex.create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device, size, **options)  # type: ignore[arg-type]


def _sliced(mask: _FunctionMask, index: Any) -> torch_flex.BlockMask:
    return mask.blocks()[index]


def _moved(mask: _FunctionMask, device: Any) -> torch_flex.BlockMask:
    return mask.blocks().to(device)


def _cropped(mask: _FunctionMask, queries: int, keys: int) -> torch_flex.BlockMask:
    return mask.blocks()._adjust(queries, keys)


def _of_a_slice(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> NoReturn:
    raise Error(
        "a slice of a block mask has no mask function: give it one, mask.mask_mod = …, made of that of the whole mask and of "
        "where its first query stands, which compiles nothing new where that is a tensor"
    )


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """Takes the mask function, and computes nothing: it is as quick for a million keys as for one.

    The signature is that of torch.nn.attention.flex_attention.create_block_mask. What it says of devices, blocks
    and orders means nothing here, but to whoever looks at the blocks, which torch makes then.
    """
    if not callable(mask_mod):
        raise TypeError(f"mask_mod: expected a function of (b, h, q_idx, kv_idx), got {type(mask_mod).__name__}")
    for name, given in (("B", 1 if B is None else B), ("H", 1 if H is None else H), ("Q_LEN", Q_LEN), ("KV_LEN", KV_LEN)):
        _checks.size(name, given)
    for name, given in (
        ("_compile", _compile), ("separate_full_blocks", separate_full_blocks), ("compute_dq_write_order", compute_dq_write_order),
        ("dq_kv_order", dq_kv_order),
    ):  # fmt: skip
        _checks.flag(name, given)
    _checks.device("device", device)
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    if not isinstance(size, tuple) or len(size) != 2 or any((_checks.integer(item) or 0) < 1 for item in size):
        raise Error(f"BLOCK_SIZE: expected a number above 0, or two of them, got {_checks.said(BLOCK_SIZE)}")
    return _FunctionMask(
        _created, mask_mod, B, H, Q_LEN, KV_LEN, device, size, separate_full_blocks,
        mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN), BLOCK_SIZE=size, _leading=(1 if B is None else B, 1 if H is None else H),
    )  # fmt: skip


def create_mask(mod_fn: Any, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu") -> Tensor:
    """The mask or the scores' changes as a dense tensor [B, H, Q_LEN, KV_LEN], for looking at: torch's own."""
    return torch_flex.create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=device)


def mask_mod_of(block_mask: Any, query: Tensor, key: Tensor) -> MaskMod | None:
    """What a block mask, attnc's or torch's, keeps of such queries and keys, as a mask function."""
    if block_mask is None:
        return None
    if not isinstance(block_mask, torch_flex.BlockMask):
        if callable(block_mask):
            raise TypeError("block_mask: expected a BlockMask, got a function: create_block_mask takes it")
        raise TypeError(f"block_mask: expected a BlockMask, got {type(block_mask).__name__}")
    # As torch has it: where a function would keep other keys than those that were meant, nobody would know.
    (queries, keys), rows, columns = _lengths_of(block_mask), query.shape[2], key.shape[2]
    queries, keys = (rows if queries is None else queries), (columns if keys is None else keys)
    if block_mask.BLOCK_SIZE != (_ALL, _ALL) and (queries != rows or keys != columns) and not _is_adjusted(block_mask, rows, columns):
        raise Error(f"block_mask: expected one of {rows} queries and {columns} keys, got one of {queries} and {keys}")
    if isinstance(block_mask, _FunctionMask) or _may_be_of_a_function(block_mask):
        return block_mask.mask_mod
    return _with_blocks(block_mask)


def _is_adjusted(mask: torch_flex.BlockMask, rows: int, columns: int) -> bool:
    """Whether a mask of torch may be one that was adjusted to such lengths, and says those of whole blocks."""
    if not _ROUNDED or isinstance(mask, BlockMask):
        return False
    height, width = mask.BLOCK_SIZE
    return bool(mask.seq_lengths == (-(-rows // height) * height, -(-columns // width) * width))


def _may_be_of_a_function(mask: torch_flex.BlockMask) -> bool:
    """Whether torch's create_block_mask makes such masks: what it lists is found in the function as well."""
    if isinstance(mask, BlockMask) or mask.mask_mod in (torch_flex.noop_mask, noop_mask) or mask.full_kv_indices is None:
        return False
    columns = -(-mask.seq_lengths[1] // mask.BLOCK_SIZE[1])
    return mask.kv_indices.shape[-1] == mask.full_kv_indices.shape[-1] == columns


def _with_blocks(mask: torch_flex.BlockMask) -> MaskMod:
    """The function of a mask whose blocks count."""
    function, (rows, columns) = mask.mask_mod, mask.BLOCK_SIZE
    partial = _table("kv_num_blocks", mask, mask.kv_num_blocks, mask.kv_indices)
    full = None
    if mask.full_kv_num_blocks is not None:
        full = _table("full_kv_num_blocks", mask, mask.full_kv_num_blocks, mask.full_kv_indices)

    def kept(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        def listed(table: Any) -> Any:
            batch, head = table.shape[0], table.shape[1]
            return table[0 if batch == 1 else b, 0 if head == 1 else h, q_idx // rows, kv_idx // columns]

        inside = listed(partial) & function(b, h, q_idx, kv_idx)
        return inside if full is None else listed(full) | inside

    return kept


def _table(name: str, mask: torch_flex.BlockMask, counts: Tensor, indices: Any) -> Tensor:
    """Whether a block is listed, [B or 1, H or 1, rows, columns]."""
    if indices.dim() != 4 or counts.shape != indices.shape[:3]:
        raise Error(
            f"block_mask: expected {name} of [B, H, blocks of queries] and indices of one dimension more, got "
            f"{list(counts.shape)} and {list(indices.shape)}"
        )
    columns = max(-(-mask.seq_lengths[1] // mask.BLOCK_SIZE[1]), indices.shape[3])
    # What stands behind the number of a row is undefined: it goes to a column of its own.
    is_listed = torch.arange(indices.shape[3], device=indices.device) < counts[..., None]
    table = torch.zeros((*indices.shape[:3], columns + 1), dtype=torch.bool, device=indices.device)
    return table.scatter(3, torch.where(is_listed, indices, columns).long(), True)[..., :columns]
