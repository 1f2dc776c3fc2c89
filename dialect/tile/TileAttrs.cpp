//===- TileAttrs.cpp - Rules of how kernels are launched --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"

using namespace mlir;
using namespace attnc::tile;

LogicalResult LaunchAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t threads,
                                 int64_t sharedBytes, bool persistent, int64_t blocksPerMultiprocessor, bool counter,
                                 bool early, ArrayAttr tensorMaps) {
  if (threads < 1)
    return emitError() << "expected threads to be at least 1, got " << threads;
  if (sharedBytes < 0)
    return emitError() << "expected shared_bytes to be non-negative, got " << sharedBytes;
  if (blocksPerMultiprocessor < 1)
    return emitError() << "expected blocks_per_multiprocessor to be at least 1, got " << blocksPerMultiprocessor;
  if (tensorMaps && !llvm::all_of(tensorMaps, llvm::IsaPred<TensorMapAttr>))
    return emitError() << "expected tensor_maps to be an array of #tile.tensor_map, got " << tensorMaps;
  return success();
}
