//===- ScheduleTables.cpp - Entries of tables for a kernel ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/ScheduleTables.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/schedules/Files.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Parser/Parser.h"
#include "passes/attn/ElementRegisters.h"
#include <mutex>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

ArrayRef<ScheduleFile> attnc::gpu::getScheduleFiles() { return scheduleFiles; }

FailureOr<SmallVector<ScheduleTableAttr>> attnc::gpu::readScheduleTables(ModuleOp module) {
  SmallVector<ScheduleTableAttr> tables;
  for (Operation &op : *module.getBody()) {
    auto table = dyn_cast<ScheduleTableOp>(op);
    if (!table)
      return op.emitError() << "expected attn.schedule_table in a file of schedules, got " << op.getName();
    tables.push_back(table.getTable());
  }
  return tables;
}

namespace {

/// The built-in tables of a context. They are read when they are first asked for: targets other than GPUs never do.
class BuiltInTables : public DialectInterface::Base<BuiltInTables> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BuiltInTables)
  explicit BuiltInTables(Dialect *dialect) : Base(dialect) {}

  ArrayRef<ScheduleTableAttr> get() const {
    std::call_once(read, [&] {
      for (const ScheduleFile &file : getScheduleFiles()) {
        auto module = parseSourceString<ModuleOp>(file.text, ParserConfig(getContext()), file.name);
        assert(module && "a test reads the files as well");
        if (!module)
          continue;
        if (FailureOr<SmallVector<ScheduleTableAttr>> held = readScheduleTables(*module); succeeded(held))
          llvm::append_range(tables, *held);
      }
    });
    return tables;
  }

private:
  mutable std::once_flag read;
  mutable SmallVector<ScheduleTableAttr> tables;
};

} // namespace

void attnc::gpu::addBuiltInTables(AttnDialect &dialect) { dialect.addInterfaces<BuiltInTables>(); }

/// The kind of `kernel`, whose elements take registers of their own as `costs` say.
static KernelKind findKind(KernelOpInterface kernel, RegisterCostsAttr costs) {
  bool listed = needsBlockMask(kernel);
  if (getElementRegisters(kernel, costs) > 0)
    return countCapturedTiles(kernel) > 0 && !listed ? KernelKind::Captured : KernelKind::RegisterBound;
  if (listed)
    return KernelKind::Listed;
  constexpr int64_t wholePages = 64, smallDims = 64;
  if (kernel.isPaged() && (kernel.getPageRows() % wholePages != 0 || getLargestDims(kernel) <= smallDims))
    return KernelKind::Paged;
  return KernelKind::Plain;
}

/// The tables that the function of `kernel` brings along.
static SmallVector<ScheduleTableAttr> getOwnTables(KernelOpInterface kernel) {
  SmallVector<ScheduleTableAttr> tables;
  if (auto listed = kernel->getParentOp()->getAttrOfType<ArrayAttr>(scheduleTablesAttrName))
    for (Attribute table : listed)
      if (auto known = dyn_cast<ScheduleTableAttr>(table))
        tables.push_back(known);
  return tables;
}

ScheduleTables::ScheduleTables(KernelOpInterface kernel, GpuTargetAttr target, Staging staging)
    : bits(getOperandType(kernel).getIntOrFloatBitWidth()), dim(getLargestDims(kernel)),
      // Without values, weights are stored, which takes as many registers as the widest output.
      valueDim(kernel.getValueOrNull() ? getDims(kernel.getValueOrNull()) : unlimited),
      isMasked(!kernel.getMask().empty()), isWindow(hasWindow(kernel)), isOfFunctions(isBoundByFunctions(kernel)) {
  auto add = [&](ArrayRef<ScheduleTableAttr> from) {
    for (bool ofAll : {false, true})
      for (ScheduleTableAttr table : from)
        if (table.getStaging() == staging && (ofAll ? table.isForAll() : table.names(target.getArch())))
          tables.push_back(table);
  };
  add(getOwnTables(kernel));
  add(kernel->getContext()->getLoadedDialect<AttnDialect>()->getRegisteredInterface<BuiltInTables>()->get());
  kind = findKind(kernel, getCosts());
}

bool ScheduleTables::matches(KernelsAttr kernels, KernelKind own) const {
  if (!kernels)
    return true;
  auto isWithin = [](int64_t size, int64_t min, int64_t max) { return min <= size && size <= max; };
  auto agrees = [](BoolAttr wanted, bool is) { return !wanted || wanted.getValue() == is; };
  return (kernels.getKinds().empty() || llvm::is_contained(kernels.getKinds(), own)) &&
         (kernels.getBits() == 0 || kernels.getBits() == bits) &&
         isWithin(dim, kernels.getMinDim(), kernels.getMaxDim()) &&
         isWithin(valueDim, kernels.getMinValueDim(), kernels.getMaxValueDim()) &&
         agrees(kernels.getMasked(), isMasked) && agrees(kernels.getWindow(), isWindow) &&
         agrees(kernels.getFunctions(), isOfFunctions);
}

SmallVector<EntryAttr> ScheduleTables::find(Program program, std::optional<KernelKind> other) const {
  SmallVector<EntryAttr> found;
  for (ScheduleTableAttr table : tables)
    for (EntryAttr entry : table.getEntries())
      if (entry.isFor(program) && matches(entry.getKernels(), other.value_or(kind)))
        found.push_back(entry);
  return found;
}

RegisterCostsAttr ScheduleTables::getCosts() const {
  for (ScheduleTableAttr table : tables)
    if (RegisterCostsAttr costs = table.getCosts())
      return costs;
  return {};
}

/// The first number of `tables` that is given.
template <typename Get>
static int64_t findNumber(ArrayRef<ScheduleTableAttr> tables, Get get) {
  for (ScheduleTableAttr table : tables)
    if (int64_t number = get(table))
      return number;
  return 0;
}

int64_t ScheduleTables::getSplitQueries() const {
  return findNumber(tables, [](ScheduleTableAttr table) { return table.getSplitQueries(); });
}

int64_t ScheduleTables::getPackedQueries() const {
  return findNumber(tables, [](ScheduleTableAttr table) { return table.getPackedQueries(); });
}

double ScheduleTables::getRegisters(EntryAttr entry) const {
  bool takesMore = isWindow && entry.getSchedule().getPipeline().getCaptureStages() == 0;
  int64_t ofWindow =
      takesMore ? findNumber(tables, [](ScheduleTableAttr table) { return table.getWindowRegisters(); }) : 0;
  return static_cast<double>(entry.getRegisters() - ofWindow);
}
