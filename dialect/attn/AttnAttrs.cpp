//===- AttnAttrs.cpp - Attributes of the attn dialect -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnAttrs.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/attn/PipelineFields.h"
#include "dialect/attn/ScheduleTableSyntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc::attn;

#include "dialect/attn/AttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attn/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/attn/AttnAttrs.cpp.inc"
      >();
}

/// More warpgroups, or buffers of a ring, than any machine has room for.
static constexpr int64_t mostOfPipeline = 64;

bool attnc::attn::tilesKeys(Program program) {
  return llvm::is_contained({Program::Dkdv, Program::Dk, Program::Dv, Program::Dsinks, Program::Dqdkdv}, program);
}

/// More parts of a row's keys, or blocks, than any machine has use for.
static constexpr int64_t mostSplits = 1024, mostSplitBlocks = 65536;

/// What splitting keys asks of a schedule: the state that parts leave is that of rows in one unit, without what other
/// kernels gain from keeping maxima longer.
static LogicalResult verifySplits(function_ref<InFlightDiagnostic()> emitError, PipelineAttr pipeline, Program program,
                                  int64_t splits, int64_t splitBlocks) {
  if (splits < 0 || splits > mostSplits || splitBlocks < 0 || splitBlocks > mostSplitBlocks)
    return emitError() << "expected splits from 0 to " << mostSplits << " and split_blocks from 0 to "
                       << mostSplitBlocks << ", got " << splits << " and " << splitBlocks;
  if (splits == 0 && splitBlocks == 0)
    return success();
  if (splits > 0 && splitBlocks > 0)
    return emitError() << "expected splits or split_blocks, got both: " << splits << " and " << splitBlocks;
  if (program != Program::Forward && program != Program::Combine)
    return emitError() << "expected no splits for program " << stringifyProgram(program);
  if (pipeline && (pipeline.getConsumers() != 1 || pipeline.getRescaling() == Rescaling::OnOverflow ||
                   pipeline.getEpilogue() != Epilogue::Direct || pipeline.getBlockMask()))
    return emitError() << "expected one consumer, epilogue = direct and neither rescaling = on_overflow nor block_mask "
                          "with splits";
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t queryTile, int64_t keyTile,
                                   int64_t panel, int64_t leastQueries, int64_t mostQueries, int64_t heads,
                                   PipelineAttr pipeline, Program program, int64_t splits, int64_t splitBlocks,
                                   Attribute otherwise) {
  if (queryTile <= 0 || keyTile <= 0 || panel <= 0)
    return emitError() << "expected positive tile sizes, got query_tile = " << queryTile << ", key_tile = " << keyTile
                       << ", panel = " << panel;
  bool ofKeys = attn::tilesKeys(program);
  if (int64_t rows = ofKeys ? keyTile : queryTile; rows % panel != 0)
    return emitError() << "expected panel to divide " << (ofKeys ? "key_tile" : "query_tile") << ", got " << panel
                       << " and " << rows;
  if (leastQueries < 0 || leastQueries > mostQueries)
    return emitError() << "expected least_queries from 0 to most_queries, got " << leastQueries << " and "
                       << mostQueries;
  if (heads <= 0 || panel % heads != 0)
    return emitError() << "expected heads to divide panel, got " << heads << " and " << panel;
  if (otherwise) {
    auto other = dyn_cast<ScheduleAttr>(otherwise);
    if (!other || !other.getPipeline() || other.stagesCaptures() || other.isSplit() || !other.isUniversal() ||
        other.getHeads() != heads || other.getProgram() != program)
      return emitError()
             << "expected otherwise to be a schedule of the same program and heads for all queries, without "
                "capture_stages and splits, got "
             << otherwise;
    if (!pipeline || pipeline.getCaptureStages() == 0)
      return emitError() << "expected otherwise with capture_stages alone";
  }
  return verifySplits(emitError, pipeline, program, splits, splitBlocks);
}

ScheduleAttr ScheduleAttr::getCombining() const {
  // Columns of the output that a tile has: few on a GPU, where more blocks then share what there is to wait for.
  constexpr int64_t mostColumns = 32;
  PipelineAttr pipeline = getPipeline();
  int64_t columns = pipeline ? std::min(getKeyTile(), mostColumns) : getKeyTile();
  if (pipeline) {
    PipelineFields fields;
    fields.early = pipeline.getEarly();
    pipeline = fields.get(getContext());
  }
  return get(getContext(), getQueryTile(), columns, getPanel(), getLeastQueries(), getMostQueries(), getHeads(),
             pipeline, Program::Combine, getSplits(), getSplitBlocks(), /*otherwise=*/{});
}

ScheduleAttr ScheduleAttr::getWithoutBoxes() const {
  if (Attribute other = getOtherwise())
    return cast<ScheduleAttr>(other).forQueries(getLeastQueries(), getMostQueries());
  return withPipeline(getPipeline().withoutCaptureStages());
}

PipelineAttr PipelineAttr::withSplitFloats() const {
  PipelineFields fields(*this);
  fields.splitFloats = true;
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

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t consumers, int64_t stages,
                                   int64_t queryStages, int64_t producerRegisters, int64_t consumerRegisters,
                                   Rescaling rescaling, bool ownKeys, bool turns, bool, Epilogue epilogue, bool dynamic,
                                   int64_t sectionBytes, bool blockMask, bool, Staging staging, int64_t headroom,
                                   int64_t logitStages, Overlap overlap, bool splitFloats, int64_t captureStages,
                                   bool batchInside) {
  auto isCount = [](int64_t count) { return count > 0 && count <= mostOfPipeline; };
  bool keepsRows = queryStages == 0 && staging == Staging::Tma;
  if (!isCount(consumers) || !isCount(stages) || !(isCount(queryStages) || keepsRows))
    return emitError() << "expected counts from 1 to " << mostOfPipeline << ", got consumers = " << consumers
                       << ", stages = " << stages << ", query_stages = " << queryStages;
  if (logitStages != 0 && !isCount(logitStages))
    return emitError() << "expected logit_stages from 0 to " << mostOfPipeline << ", got " << logitStages;
  if (overlap != Overlap::InStep && stages < 2)
    return emitError() << "expected 2 stages or more with overlap = " << stringifyOverlap(overlap) << ", got "
                       << stages;
  if (headroom < 0 || headroom > 60)
    return emitError() << "expected headroom from 0 to 60, got " << headroom;
  if (headroom > 0 && rescaling != Rescaling::OnOverflow)
    return emitError() << "expected headroom with rescaling = on_overflow alone, got " << headroom;
  if (splitFloats && staging != Staging::CpAsync)
    return emitError() << "expected split_floats with staging = cp_async alone, got staging = "
                       << stringifyStaging(staging);
  if (captureStages != 0 && !isCount(captureStages))
    return emitError() << "expected capture_stages from 0 to " << mostOfPipeline << ", got " << captureStages;
  if (captureStages != 0 && staging != Staging::Tma)
    return emitError() << "expected capture_stages with staging = tma alone, got staging = "
                       << stringifyStaging(staging);
  if (batchInside && blockMask)
    return emitError() << "expected no batch_inside with block_mask: lists are in the order of heads";
  if (sectionBytes < 0)
    return emitError() << "expected section_bytes not below 0, got " << sectionBytes;
  if (staging == Staging::CpAsync) {
    if (producerRegisters != 0 || consumerRegisters != 0)
      return emitError() << "expected 0 registers with staging = cp_async, got " << producerRegisters << " and "
                         << consumerRegisters;
    if (rescaling == Rescaling::OnOverflow || ownKeys || turns || dynamic || epilogue != Epilogue::Direct)
      return emitError()
             << "expected epilogue = direct and neither rescaling = on_overflow, own_keys, ping_pong nor dynamic with "
                "staging = cp_async";
    if (!llvm::isPowerOf2_64(consumers))
      return emitError()
             << "expected consumers to be a power of two with staging = cp_async, whose warps share rows by "
                "powers of two, got "
             << consumers;
    return success();
  }
  for (int64_t registers : {producerRegisters, consumerRegisters})
    if (registers < 24 || registers > 240 || registers % 8 != 0)
      return emitError() << "expected multiples of 8 from 24 to 240 registers, got " << registers;
  if (producerRegisters > consumerRegisters)
    return emitError() << "expected producer_registers up to consumer_registers, got " << producerRegisters << " and "
                       << consumerRegisters;
  return success();
}
