//===- ScheduleTables.h - Entries of tables for a kernel --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tables of schedules are data: files beside this one, which are built into the compiler, and what a function brings
// along (docs/rationale/schedules.md). Here is what asks them.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_SCHEDULETABLES_H
#define ATTNC_CODEGEN_GPU_SCHEDULETABLES_H

#include "dialect/attn/AttnOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attnc::gpu {

/// A file of tables, as it was built in.
struct ScheduleFile {
  llvm::StringLiteral name; ///< "sm_90a.mlir"
  llvm::StringRef text;
};

/// The files of tables that are built in, in the order in which they are asked.
llvm::ArrayRef<ScheduleFile> getScheduleFiles();

/// The tables of a file: `module` is to hold operations `attn.schedule_table` and nothing else. What else there is is
/// an error in its place.
mlir::FailureOr<llvm::SmallVector<attn::ScheduleTableAttr>> readScheduleTables(mlir::ModuleOp module);

/// Lets contexts keep the tables that are built in, once they have been read.
void addBuiltInTables(attn::AttnDialect &dialect);

/// The tables that have schedules of `kernel` on `target` with `staging`.
class ScheduleTables {
public:
  /// Looks at `kernel` once. The passes before `attn-select-schedule` have been there.
  ScheduleTables(attn::KernelOpInterface kernel, attn::GpuTargetAttr target, attn::Staging staging);

  /// The entries for `program`, in the order in which they are asked: launches have the first that is for their sizes.
  /// Those that the kernel would have if it were of the kind `other`, where that is given.
  llvm::SmallVector<attn::EntryAttr> find(attn::Program program, std::optional<attn::KernelKind> other = {}) const;

  /// What elements take of registers; null where no table says.
  attn::RegisterCostsAttr getCosts() const;
  /// Up to how many queries of ungrouped heads keys are split; 0 where no table says.
  int64_t getSplitQueries() const;
  /// Up to how many queries tiles hold several heads; 0 where no table says.
  int64_t getPackedQueries() const;
  /// Registers of a thread that the tiles and elements of `entry` may take.
  double getRegisters(attn::EntryAttr entry) const;
  /// What decides about the kernel's steps first.
  attn::KernelKind getKind() const { return kind; }

private:
  bool matches(attn::KernelsAttr kernels, attn::KernelKind kind) const;

  llvm::SmallVector<attn::ScheduleTableAttr> tables;
  /// What `#attn.kernels` asks of the kernel.
  attn::KernelKind kind;
  int64_t bits, dim, valueDim;
  bool isMasked, isWindow, isOfFunctions;
};

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_SCHEDULETABLES_H
