//===- CpuSchedule.cpp - Tiles on a CPU -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuSchedule.h"
#include "codegen/cpu/CpuCodegen.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/TargetInterface.h"
#include "mlir/IR/DialectRegistry.h"
#include "passes/attn/PackableHeads.h"
#include "passes/attn/QuerySums.h"

using namespace mlir;
using namespace attnc::attn;

/// Lanes of f32 in one SIMD register.
static int64_t lanes(CpuTargetAttr target) { return target.getVectorBits() / 32; }

/// Whether products go by tile registers, which hold sums of 16 columns over 32 elements: else none do, so that panels
/// suit the products that do not.
static bool usesTiles(KernelOpInterface kernel, CpuTargetAttr target) {
  auto isWhole = [](Value tensor, int64_t size) {
    return !tensor || cast<RankedTensorType>(tensor.getType()).getShape().back() % size == 0;
  };
  return target.getBf16Tiles() && cast<RankedTensorType>(kernel.getQuery().getType()).getElementType().isBF16() &&
         isWhole(kernel.getQuery(), 32) && isWhole(kernel.getValueOrNull(), 16);
}

/// Whether what `program` has for rows is few: sinks, and sums in memory.
static bool areFew(Program program) {
  return llvm::is_contained({Program::Dsinks, Program::Dsums, Program::ClearScattered}, program);
}

/// Three registers of query rows and four keys (eight with 32 registers) fill the register file with accumulators
/// and leave one for each operand. Panels of queries share a staged key tile: as many as leave half of the L2 cache
/// to the keys and values, but not so many that a causal mask's diagonal costs more than staging does
/// (docs/rationale/cpu-kernel.md).
static ScheduleAttr select(KernelOpInterface kernel, CpuTargetAttr target, Program program) {
  // Of eight tile registers four hold sums: two by two, so that each operand is loaded for two products. These are
  // fast, and what is done once a step shows more.
  bool inTiles = usesTiles(kernel, target);
  int64_t mostRows = inTiles ? 256 : 240, columns = inTiles ? 128 : 64;
  int64_t panel = (inTiles ? 2 : 3) * lanes(target);
  int64_t dims = kernel.getHeadDim();
  if (Value value = kernel.getValueOrNull())
    dims += cast<RankedTensorType>(value.getType()).getShape().back();
  int64_t rows = std::min(mostRows, target.getL2Bytes() / 2 / (dims * 4));
  int64_t tile = panel * std::max<int64_t>(1, rows / panel);
  bool ofKeys = tilesKeys(program);
  if (areFew(program))
    tile = panel = lanes(target);
  return ScheduleAttr::get(target.getContext(), ofKeys ? columns : tile, ofKeys ? tile : columns, panel,
                           /*pipeline=*/{}, /*heads=*/1, program);
}

/// The schedules of forward. Few queries have one of a single register of rows, which several heads of a group share:
/// memory binds then, and each of its keys is read once (docs/rationale/cpu-kernel.md).
static SmallVector<ScheduleAttr> selectForward(KernelOpInterface kernel, CpuTargetAttr target) {
  constexpr int64_t columns = 32;
  ScheduleAttr many = select(kernel, target, Program::Forward);
  int64_t rows = lanes(target), heads = countPackableHeads(kernel, rows), queries = rows / heads;
  if (!isa<ForwardOp>(kernel.getOperation()))
    return {many};
  auto few = ScheduleAttr::get(target.getContext(), rows, columns, rows, /*pipeline=*/{}, heads, Program::Forward);
  return {few.forSizes(SizesAttr::get(target.getContext(), SizeRange{Size::Queries, 0, queries})), many};
}

/// The largest tiles of a spec's own schedule: far past what caches hold, and well before the time that code for them
/// takes or the memory that they take shows.
static constexpr int64_t mostRows = 65536, mostColumns = 4096;

/// Checks what the program of all three gradients adds, and those before and after it: what goes through sums in memory
/// are tiles of whole bands, and what a product adds up over keys has whole blocks of them.
static LogicalResult checkQuerySums(KernelOpInterface kernel, ScheduleAttr schedule) {
  if (!mayAddUpQueries(cast<BackwardOp>(kernel.getOperation()), /*listsSteps=*/false, /*keepsOrder=*/false))
    return kernel.emitError()
           << "expected programs dq and dkdv: dqdkdv is for padded sequences, without gradients that rows of queries "
              "sum "
           << "for captured tensors, without a score or f16 where data decides about tiles, and not for "
           << deterministicAttrName;
  constexpr int64_t band = 16, block = 8;
  if (schedule.getQueryTile() % band != 0 || (schedule.tilesKeys() && schedule.getKeyTile() % block != 0))
    return kernel.emitError() << "expected the schedule's query_tile to be a multiple of " << band << ", and of dqdkdv "
                              << "the key_tile of " << block << ", where gradients of queries are sums in memory, got "
                              << schedule.getQueryTile() << " and " << schedule.getKeyTile();
  return success();
}

/// A spec's own schedule must suit the registers.
static LogicalResult check(KernelOpInterface kernel, ScheduleAttr schedule, CpuTargetAttr target) {
  if (int64_t most = countPackableHeads(kernel, lanes(target)); most % schedule.getHeads() != 0)
    return kernel.emitError() << "expected heads to divide " << most
                              << ", the heads that a register of rows can hold together here, got "
                              << schedule.getHeads();
  if (llvm::is_contained({Program::Delta, Program::Dqdkdv, Program::ConvertDq}, schedule.getProgram()) &&
      failed(checkQuerySums(kernel, schedule)))
    return failure();
  int64_t w = lanes(target);
  if (schedule.getPanel() % w != 0 || schedule.getPanel() > 3 * w)
    return kernel.emitError() << "expected the schedule's panel to be " << w << ", " << 2 * w << " or " << 3 * w
                              << " rows for " << target.getVectorBits() << "-bit registers, got "
                              << schedule.getPanel();
  bool tilesKeys = schedule.tilesKeys();
  StringRef rows = tilesKeys ? "key_tile" : "query_tile", columns = tilesKeys ? "query_tile" : "key_tile";
  if (schedule.getColumns() % 8 != 0 || schedule.getColumns() > mostColumns)
    return kernel.emitError() << "expected the schedule's " << columns << " to be a multiple of 8 up to " << mostColumns
                              << ", got " << schedule.getColumns();
  if (schedule.getRows() > mostRows)
    return kernel.emitError() << "expected the schedule's " << rows << " to be at most " << mostRows << ", got "
                              << schedule.getRows();
  return success();
}

/// Tiles around what `select` computes, whose model of the caches knows neither how many cores share them nor how many
/// tiles there are to share: panels of one to three registers, up to twenty a tile, and short and long steps.
static SmallVector<ScheduleAttr> enumerate(CpuTargetAttr target, ScheduleAttr base) {
  SmallVector<ScheduleAttr> schedules;
  if (areFew(base.getProgram()))
    return schedules;
  for (int64_t panel : {3 * lanes(target), 2 * lanes(target), lanes(target)})
    for (int64_t panels : {1, 2, 3, 4, 5, 6, 8, 10, 14, 20})
      for (int64_t columns : {16, 32, 48, 64, 96, 128, 192, 256}) {
        int64_t rows = panel * panels;
        schedules.push_back(ScheduleAttr::get(target.getContext(), base.tilesKeys() ? columns : rows,
                                              base.tilesKeys() ? rows : columns, panel, /*pipeline=*/{},
                                              base.getHeads(), base.getProgram()));
      }
  return schedules;
}

namespace {
struct CpuTargetModel : TargetInterface::ExternalModel<CpuTargetModel, CpuTargetAttr> {
  SmallVector<ScheduleAttr> selectSchedules(Attribute target, KernelOpInterface kernel) const {
    auto cpu = cast<CpuTargetAttr>(target);
    if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation())) {
      SmallVector<ScheduleAttr> schedules{select(kernel, cpu, Program::Dq), select(kernel, cpu, Program::Dkdv)};
      for (Program program : getOtherPrograms(backward))
        schedules.push_back(select(kernel, cpu, program));
      return schedules;
    }
    return selectForward(kernel, cpu);
  }
  LogicalResult checkSchedule(Attribute target, KernelOpInterface kernel, ScheduleAttr schedule) const {
    return check(kernel, schedule, cast<CpuTargetAttr>(target));
  }
  SmallVector<ScheduleAttr> enumerateSchedules(Attribute target, KernelOpInterface, ScheduleAttr base) const {
    return enumerate(cast<CpuTargetAttr>(target), base);
  }
  std::string explainSchedule(Attribute target, ScheduleAttr schedule) const {
    auto cpu = cast<CpuTargetAttr>(target);
    int64_t sums = schedule.getPanel() / lanes(cpu) * attnc::cpu::columnsTogether(cpu);
    return (Twine(sums) + " of " + Twine(cpu.getVectorRegisters()) + " vector registers of " +
            Twine(cpu.getVectorBits()) + " bits hold sums of products")
        .str();
  }
  StringRef getMachineName(Attribute target) const { return cast<CpuTargetAttr>(target).getCpu(); }
};
} // namespace

void attnc::cpu::registerSchedules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, AttnDialect *) { CpuTargetAttr::attachInterface<CpuTargetModel>(*context); });
}
