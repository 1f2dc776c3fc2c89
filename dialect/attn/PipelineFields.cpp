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
      captureStages(pipeline.getCaptureStages()), batchInside(pipeline.getBatchInside()) {}

PipelineAttr PipelineFields::get(MLIRContext *context) const {
  return PipelineAttr::get(context, consumers, stages, queryStages, producerRegisters, consumerRegisters, rescaling,
                           ownKeys, pingPong, byRow, epilogue, dynamic, sectionBytes, blockMask, early, staging,
                           headroom, logitStages, overlap, splitFloats, captureStages, batchInside);
}

PipelineAttr PipelineFields::getChecked(function_ref<InFlightDiagnostic()> emitError, MLIRContext *context) const {
  return PipelineAttr::getChecked(emitError, context, consumers, stages, queryStages, producerRegisters,
                                  consumerRegisters, rescaling, ownKeys, pingPong, byRow, epilogue, dynamic,
                                  sectionBytes, blockMask, early, staging, headroom, logitStages, overlap, splitFloats,
                                  captureStages, batchInside);
}
