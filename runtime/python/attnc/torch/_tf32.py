# SPDX-License-Identifier: Apache-2.0
"""Products of float32 by TF32, where torch's products may use it."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.compiler.assume_constant_result
def _is_allowed() -> bool:
    """Behind what torch.compile does not look into: it compiles anew where the setting has changed."""
    matmul = torch.backends.cuda.matmul
    # Since torch 2.9 there are two settings, and the older one may not be read where the newer one is used.
    return matmul.fp32_precision == "tf32" if hasattr(matmul, "fp32_precision") else bool(matmul.allow_tf32)


def rounds(query: Tensor) -> bool:
    """Whether products of `query` may round to TF32: as torch.backends.cuda.matmul and torch.set_float32_matmul_precision say."""
    return query.dtype is torch.float32 and _is_allowed()
