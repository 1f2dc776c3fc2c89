//===- DescribeImage.h - What the runtime must know of a kernel -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_DESCRIBE_DESCRIBEIMAGE_H
#define ATTNC_CODEGEN_DESCRIBE_DESCRIBEIMAGE_H

#include "codegen/image/KernelImage.h"
#include "dialect/attn/KernelFunction.h"
#include "dialect/tile/TileOps.h"

namespace attnc::describe {

/// What every target tells the runtime of a kernel: arguments and their limits from the function of the spec, entries
/// and grid rules from the tile programs of `tileModule`, which are still there. What else a target knows (code,
/// scratch memory, threads) it adds.
mlir::FailureOr<image::KernelImage> describeImage(const attn::KernelFunction &kernel, mlir::ModuleOp tileModule);

/// The name that the entry of a tile program has in the code.
std::string getEntryName(tile::ProgramOp program);

} // namespace attnc::describe

#endif // ATTNC_CODEGEN_DESCRIBE_DESCRIBEIMAGE_H
