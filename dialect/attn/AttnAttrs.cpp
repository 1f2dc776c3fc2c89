//===- AttnAttrs.cpp - Attributes of the attn dialect -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnAttrs.h"
#include "dialect/attn/AttnDialect.h"
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
  return llvm::is_contained({Program::Dkdv, Program::Dk, Program::Dv, Program::Dsinks}, program);
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t queryTile, int64_t keyTile,
                                   int64_t panel, int64_t leastQueries, int64_t mostQueries, int64_t heads,
                                   PipelineAttr, Program program) {
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
  return success();
}

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t consumers, int64_t stages,
                                   int64_t queryStages, int64_t producerRegisters, int64_t consumerRegisters,
                                   Rescaling rescaling, bool ownKeys, bool turns, bool, Epilogue epilogue, bool dynamic,
                                   int64_t sectionBytes, bool, bool, Staging staging, int64_t headroom,
                                   int64_t logitStages, Overlap overlap) {
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
