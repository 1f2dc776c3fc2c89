"""Block masks, which need no blocks here: the compiler finds them in the expression of the mask."""

from __future__ import annotations

from typing import Any, NoReturn


from torch import Tensor

from .._core import Error
from .._mods import MaskMod, noop_mask


class BlockMask:
    """What `create_block_mask` returns: a mask function and the sizes that it was made for."""

    def __init__(self, mask_mod: MaskMod, shape: tuple[int, int, int, int], block_size: tuple[int, int]) -> None:
        self.mask_mod = mask_mod
        self.shape = shape
        self.seq_lengths = shape[2:]
        self.BLOCK_SIZE = block_size

    def to(self, device: Any) -> BlockMask:
        """The mask itself: it has no tables that lie anywhere."""
        return self

    def __getitem__(self, index: Any) -> NoReturn:
        raise Error(
            "a block mask of attnc has no blocks to take: write a mask function with an offset, which compiles nothing new "
            "where the offset is a tensor"
        )

    def __repr__(self) -> str:
        name = getattr(self.mask_mod, "__name__", type(self.mask_mod).__name__)
        return f"BlockMask(mask_mod={name}, shape={self.shape})"


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
    and orders means nothing here.
    """
    if not callable(mask_mod):
        raise TypeError(f"mask_mod: expected a function of (b, h, q_idx, kv_idx), got {type(mask_mod).__name__}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), size)


def create_mask(mod_fn: Any, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu") -> Tensor:
    """The mask or the scores' changes as a dense tensor [B, H, Q_LEN, KV_LEN], for looking at: torch's own."""
    from torch.nn.attention.flex_attention import create_mask as create

    return create(mod_fn, B, H, Q_LEN, KV_LEN, device=device)


def mask_mod_of(block_mask: Any) -> MaskMod | None:
    """The mask function of a block mask, attnc's or torch's. Of one that has nothing but tables, the tables."""
    if block_mask is None:
        return None
    if isinstance(block_mask, BlockMask):
        return block_mask.mask_mod
    mask_mod = getattr(block_mask, "mask_mod", None)
    if not hasattr(block_mask, "kv_num_blocks"):
        if callable(block_mask):
            raise TypeError("block_mask: expected a BlockMask, got a function: create_block_mask takes it")
        raise TypeError(f"block_mask: expected a BlockMask, got {type(block_mask).__name__}")
    from torch.nn.attention.flex_attention import noop_mask as torch_noop_mask

    if mask_mod is None or mask_mod in (torch_noop_mask, noop_mask):
        return _mask_of_tables(block_mask)
    return mask_mod  # type: ignore[no-any-return]


def _mask_of_tables(block_mask: Any) -> MaskMod:
    """Keeps what lies in a block that the tables list."""
    blocks = block_mask.to_dense() > 0
    rows, columns = block_mask.BLOCK_SIZE
    one_batch, one_head = blocks.shape[0] == 1, blocks.shape[1] == 1

    def listed_block(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return blocks[0 if one_batch else b, 0 if one_head else h, q_idx // rows, kv_idx // columns]

    return listed_block


