//===- PipelineFields.h - A pipeline field by field -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_PIPELINEFIELDS_H
#define ATTNC_DIALECT_ATTN_PIPELINEFIELDS_H

#include "dialect/attn/AttnAttrs.h"

namespace attnc::attn {

/// The fields of `#attn.roles` and `#attn.warps`, to be changed one by one. They mean what they mean there
/// (AttnAttrs.td); `staging` says which of both has them, and those that it does not have are left out.
struct PipelineFields {
  /// Those of a kernel by warps that is of one warpgroup and does nothing ahead.
  PipelineFields() = default;
  /// Those of `pipeline`.
  explicit PipelineFields(PipelineAttr pipeline);

  /// The pipeline that has them.
  PipelineAttr get(mlir::MLIRContext *context) const;
  /// The same, or null where no pipeline has them: that is an error through `emitError`.
  PipelineAttr getChecked(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::MLIRContext *context) const;

  int64_t consumers = 1, stages = 1, queryStages = 1, producerRegisters = 0, consumerRegisters = 0;
  Rescaling rescaling = Rescaling::EachStep;
  bool ownKeys = false, pingPong = false, byRow = false;
  Epilogue epilogue = Epilogue::Direct;
  bool dynamic = false;
  int64_t sectionBytes = 0;
  bool blockMask = false, early = false;
  Staging staging = Staging::CpAsync;
  int64_t headroom = 0, logitStages = 0;
  Overlap overlap = Overlap::InStep;
  bool splitFloats = false;
  int64_t captureStages = 0;
  bool batchInside = false;
  int64_t reducerRegisters = 0;
  bool rowsInRegisters = false, weightsAhead = false;
  int64_t sums = 1;

private:
  /// What a backward has of its own; null where that is nothing.
  GradientStepsAttr getGradients(mlir::MLIRContext *context) const;
};

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_PIPELINEFIELDS_H
