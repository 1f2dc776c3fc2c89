//===- Pipelines.h - From a spec to a tile program --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_PIPELINES_H
#define ATTNC_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace attnc {

/// Decides what: canonical form, expanded sugar, bounds, schedule. The module carries `attn.target`.
void buildAttnPipeline(mlir::OpPassManager &pm);

/// Decides how: scheduled attn operations to tile programs, and their loops cut into ranges.
void buildTilePipeline(mlir::OpPassManager &pm);

/// Registers every pass and pipeline of the project (`attnc-attn`, `attnc-tile`, `attnc-cpu`) by name.
void registerPipelines();

} // namespace attnc

#endif // ATTNC_PASSES_PIPELINES_H
