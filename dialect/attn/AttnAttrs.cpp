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
                                   int64_t panel, SizesAttr, int64_t heads, PipelineAttr pipeline, Program program,
                                   int64_t splits, int64_t splitBlocks, Attribute otherwise) {
  if (queryTile <= 0 || keyTile <= 0 || panel <= 0)
    return emitError() << "expected positive tile sizes, got query_tile = " << queryTile << ", key_tile = " << keyTile
                       << ", panel = " << panel;
  if (auto roles = dyn_cast_or_null<RolesAttr>(pipeline);
      roles && roles.getGradients() && llvm::is_contained({Program::Forward, Program::Combine}, program))
    return emitError() << "expected no gradients in the pipeline of program " << stringifyProgram(program);
  bool ofKeys = attn::tilesKeys(program);
  // Warps that have the same rows may have more of them together.
  bool mayShare = program == Program::Dqdkdv && isa_and_nonnull<WarpsAttr>(pipeline);
  if (int64_t rows = ofKeys ? keyTile : queryTile; rows % panel != 0 && !(mayShare && panel % rows == 0))
    return emitError() << "expected panel to divide " << (ofKeys ? "key_tile" : "query_tile") << ", got " << panel
                       << " and " << rows;
  if (heads <= 0 || panel % heads != 0)
    return emitError() << "expected heads to divide panel, got " << heads << " and " << panel;
  if (otherwise) {
    auto other = dyn_cast<ScheduleAttr>(otherwise);
    if (!other || !other.getPipeline() || other.stagesCaptures() || other.isSplit() || !other.isUniversal() ||
        other.getHeads() != heads || other.getProgram() != program)
      return emitError() << "expected otherwise to be a schedule of the same program and heads for all sizes, without "
                            "capture_stages and splits, got "
                         << otherwise;
    if (!pipeline || pipeline.getCaptureStages() == 0)
      return emitError() << "expected otherwise with capture_stages alone";
  }
  return verifySplits(emitError, pipeline, program, splits, splitBlocks);
}

int64_t ScheduleAttr::countPartsOfRows() const {
  PipelineAttr pipeline = getPipeline();
  return pipeline ? pipeline.countPartsOfRows(getPanel(), getRows()) : 1;
}

ScheduleAttr ScheduleAttr::getCombining() const {
  // Columns of the output that a tile has: few on a GPU, where more blocks then share what there is to wait for.
  constexpr int64_t mostColumns = 16;
  PipelineAttr pipeline = getPipeline();
  int64_t columns = pipeline ? std::min(getKeyTile(), mostColumns) : getKeyTile();
  if (pipeline) {
    PipelineFields fields;
    fields.early = pipeline.getEarly();
    pipeline = fields.get(getContext());
  }
  return get(getContext(), getQueryTile(), columns, getPanel(), getWhen(), getHeads(), pipeline, Program::Combine,
             getSplits(), getSplitBlocks(), /*otherwise=*/{});
}

ScheduleAttr ScheduleAttr::getWithoutBoxes() const {
  if (Attribute other = getOtherwise())
    return cast<ScheduleAttr>(other).forSizes(getWhen());
  return withPipeline(getPipeline().withoutCaptureStages());
}
