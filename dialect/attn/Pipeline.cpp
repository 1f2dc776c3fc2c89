//===- Pipeline.cpp - How a GPU runs a kernel body --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/PipelineFields.h"

using namespace mlir;
using namespace attnc::attn;

#include "dialect/attn/PipelineInterface.cpp.inc"

int64_t PipelineAttr::countPartsOfRows(int64_t panel, int64_t rows) const {
  return getStaging() == Staging::CpAsync ? std::max<int64_t>(getConsumers() * panel / rows, 1) : 1;
}

PipelineAttr PipelineAttr::withSplitFloats() const {
  PipelineFields fields(*this);
  fields.splitFloats = true;
  return fields.get(getContext());
}

PipelineAttr PipelineAttr::withEarlyStart() const {
  PipelineFields fields(*this);
  fields.early = true;
  return fields.get(getContext());
}

PipelineAttr PipelineAttr::withStages(int64_t stages, int64_t logitStages) const {
  PipelineFields fields(*this);
  fields.stages = stages;
  fields.logitStages = logitStages;
  return fields.get(getContext());
}

PipelineAttr PipelineAttr::withCaptureStages(int64_t stages) const {
  PipelineFields fields(*this);
  fields.captureStages = stages;
  return fields.get(getContext());
}

PipelineAttr PipelineAttr::withoutCaptureStages() const { return withCaptureStages(0); }

/// More warpgroups, or buffers of a ring, than any machine has room for.
static constexpr int64_t most = 64;

static bool isCount(int64_t count) { return count > 0 && count <= most; }

/// What both kinds have of limits.
static LogicalResult verifyOrder(function_ref<InFlightDiagnostic()> emitError, int64_t sectionBytes, bool blockMask,
                                 bool batchInside) {
  if (batchInside && blockMask)
    return emitError() << "expected no batch_inside with block_mask: lists are in the order of heads";
  if (sectionBytes < 0)
    return emitError() << "expected section_bytes not below 0, got " << sectionBytes;
  return success();
}

/// Whether a role's threads may have so many registers (PTX ISA 9.7.19.5, setmaxnreg).
static LogicalResult verifyRegisters(function_ref<InFlightDiagnostic()> emitError, int64_t registers) {
  if (registers < 24 || registers > 240 || registers % 8 != 0)
    return emitError() << "expected multiples of 8 from 24 to 240 registers, got " << registers;
  return success();
}

LogicalResult GradientStepsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t logitStages,
                                        Overlap overlap, int64_t reducerRegisters, bool rowsInRegisters, int64_t sums) {
  if (logitStages != 0 && !isCount(logitStages))
    return emitError() << "expected logit_stages from 0 to " << most << ", got " << logitStages;
  if (!isCount(sums))
    return emitError() << "expected sums from 1 to " << most << ", got " << sums;
  if (reducerRegisters == 0 && rowsInRegisters)
    return emitError() << "expected rows_in_registers with reducer_registers alone";
  if (reducerRegisters == 0)
    return success();
  if (overlap == Overlap::QueriesFirst)
    return emitError() << "expected no overlap = queries_first with reducer_registers: consumers have no such product";
  return verifyRegisters(emitError, reducerRegisters);
}

LogicalResult RolesAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t consumers, int64_t stages,
                                int64_t queryStages, int64_t producerRegisters, int64_t consumerRegisters,
                                Rescaling rescaling, bool, bool, bool, Epilogue, bool, int64_t sectionBytes,
                                bool blockMask, bool, int64_t headroom, GradientStepsAttr gradients,
                                int64_t captureStages, bool batchInside) {
  if (!isCount(consumers) || !isCount(stages) || (queryStages != 0 && !isCount(queryStages)))
    return emitError() << "expected counts from 1 to " << most
                       << ", and query_stages from 0, got consumers = " << consumers << ", stages = " << stages
                       << ", query_stages = " << queryStages;
  if (gradients && gradients.getOverlap() != Overlap::InStep && stages < 2)
    return emitError() << "expected 2 stages or more with overlap = " << stringifyOverlap(gradients.getOverlap())
                       << ", got " << stages;
  if (headroom < 0 || headroom > 60)
    return emitError() << "expected headroom from 0 to 60, got " << headroom;
  if (headroom > 0 && rescaling != Rescaling::OnOverflow)
    return emitError() << "expected headroom with rescaling = on_overflow alone, got " << headroom;
  if (captureStages != 0 && !isCount(captureStages))
    return emitError() << "expected capture_stages from 0 to " << most << ", got " << captureStages;
  for (int64_t registers : {producerRegisters, consumerRegisters})
    if (failed(verifyRegisters(emitError, registers)))
      return failure();
  if (producerRegisters > consumerRegisters)
    return emitError() << "expected producer_registers up to consumer_registers, got " << producerRegisters << " and "
                       << consumerRegisters;
  return verifyOrder(emitError, sectionBytes, blockMask, batchInside);
}

LogicalResult WarpsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t consumers, int64_t stages,
                                Rescaling rescaling, bool, int64_t sectionBytes, bool blockMask, bool, bool,
                                bool batchInside, bool, bool) {
  if (!isCount(consumers) || !isCount(stages))
    return emitError() << "expected counts from 1 to " << most << ", got consumers = " << consumers
                       << ", stages = " << stages;
  if (!llvm::isPowerOf2_64(consumers))
    return emitError() << "expected consumers to be a power of two: warps share rows by powers of two, got "
                       << consumers;
  if (rescaling == Rescaling::OnOverflow)
    return emitError() << "expected rescaling = each_step or on_growth: warps look at row maxima in every step";
  return verifyOrder(emitError, sectionBytes, blockMask, batchInside);
}
