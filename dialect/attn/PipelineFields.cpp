//===- PipelineFields.cpp - A pipeline field by field -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/PipelineFields.h"

using namespace mlir;
using namespace attnc::attn;

PipelineFields::PipelineFields(PipelineAttr pipeline)
    : consumers(pipeline.getConsumers()), stages(pipeline.getStages()), queryStages(pipeline.getQueryStages()),
      producerRegisters(pipeline.getProducerRegisters()), consumerRegisters(pipeline.getConsumerRegisters()),
      rescaling(pipeline.getRescaling()), ownKeys(pipeline.getOwnKeys()), pingPong(pipeline.getPingPong()),
      byRow(pipeline.getByRow()), epilogue(pipeline.getEpilogue()), dynamic(pipeline.getDynamic()),
      sectionBytes(pipeline.getSectionBytes()), blockMask(pipeline.getBlockMask()), early(pipeline.getEarly()),
      staging(pipeline.getStaging()), headroom(pipeline.getHeadroom()), logitStages(pipeline.getLogitStages()),
      overlap(pipeline.getOverlap()), splitFloats(pipeline.getSplitFloats()),
      captureStages(pipeline.getCaptureStages()), batchInside(pipeline.getBatchInside()),
      reducerRegisters(pipeline.getReducerRegisters()), rowsInRegisters(pipeline.getRowsInRegisters()),
      weightsAhead(pipeline.getWeightsAhead()), sums(pipeline.getSums()) {}

GradientStepsAttr PipelineFields::getGradients(MLIRContext *context) const {
  if (logitStages == 0 && overlap == Overlap::InStep && reducerRegisters == 0 && !rowsInRegisters && sums == 1)
    return {};
  return GradientStepsAttr::get(context, logitStages, overlap, reducerRegisters, rowsInRegisters, sums);
}

PipelineAttr PipelineFields::get(MLIRContext *context) const {
  if (staging == Staging::CpAsync)
    return WarpsAttr::get(context, consumers, stages, rescaling, byRow, sectionBytes, blockMask, early, splitFloats,
                          batchInside, rowsInRegisters, weightsAhead);
  return RolesAttr::get(context, consumers, stages, queryStages, producerRegisters, consumerRegisters, rescaling,
                        ownKeys, pingPong, byRow, epilogue, dynamic, sectionBytes, blockMask, early, headroom,
                        getGradients(context), captureStages, batchInside);
}

PipelineAttr PipelineFields::getChecked(function_ref<InFlightDiagnostic()> emitError, MLIRContext *context) const {
  if (staging == Staging::CpAsync)
    return WarpsAttr::getChecked(emitError, context, consumers, stages, rescaling, byRow, sectionBytes, blockMask,
                                 early, splitFloats, batchInside, rowsInRegisters, weightsAhead);
  return RolesAttr::getChecked(emitError, context, consumers, stages, queryStages, producerRegisters, consumerRegisters,
                               rescaling, ownKeys, pingPong, byRow, epilogue, dynamic, sectionBytes, blockMask, early,
                               headroom, getGradients(context), captureStages, batchInside);
}
