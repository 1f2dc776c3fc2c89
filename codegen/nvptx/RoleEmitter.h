//===- RoleEmitter.h - What the warpgroups of a role do ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ROLEEMITTER_H
#define ATTNC_CODEGEN_NVPTX_ROLEEMITTER_H

#include "codegen/nvptx/BlockMaskEmitter.h"
#include "codegen/nvptx/CopyEmitter.h"
#include "codegen/nvptx/LoadEmitter.h"
#include "codegen/nvptx/MinMaxEmitter.h"
#include "codegen/nvptx/RingEmitter.h"
#include "codegen/nvptx/RowwiseEmitter.h"
#include "codegen/nvptx/StoreEmitter.h"
#include "codegen/nvptx/WarpProductEmitter.h"

namespace attnc::nvptx {

/// Emits the body of one role, or of a program without roles, where the builder stands.
class RoleEmitter {
public:
  RoleEmitter(EmitContext &context, mlir::Value base, tile::RoleOp role)
      : context(context), base(base), role(role), rings(context, base, role->getParentOfType<tile::ProgramOp>()),
        rowwise(context), stores(context, base), products(context) {}
  /// For a program without roles.
  RoleEmitter(EmitContext &context, mlir::Value base, tile::ProgramOp program)
      : context(context), base(base), rings(context, base, program), rowwise(context), stores(context, base),
        products(context), copies(std::in_place, context, base, program) {}

  mlir::LogicalResult emit();
  /// Emits all of a program without roles.
  mlir::LogicalResult emitProgram(tile::ProgramOp program) { return emitBlock(program.getBody().front()); }

private:
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult verifyRows(mlir::Operation &op);
  bool isDealt(mlir::Value tile);
  mlir::LogicalResult verifyPlace(mlir::Operation &op);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitEach(tile::PersistentOp each);
  mlir::Value fetchNumber();
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  void emitRow(tile::RowOp row);
  void emitStart(tile::StartOp start);
  void emitAwait(tile::AwaitOp await);
  void emitPart(tile::PartOp part);
  void emitPingPong(tile::PingPongKind kind);
  void refreshSharedTiles(mlir::Region &region);

  llvm::SmallVector<mlir::Type> flatTypes(mlir::Value value);
  /// The scalars that stand for `values`, one after the other.
  llvm::SmallVector<mlir::Value> flatten(mlir::ValueRange values);
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat);

  EmitContext &context;
  mlir::Value base; ///< address of shared memory
  tile::RoleOp role;
  RingEmitter rings;
  RowwiseEmitter rowwise;
  StoreEmitter stores;
  WarpProductEmitter products;
  std::optional<CopyEmitter> copies;     ///< without roles
  llvm::SmallVector<mlir::Value> flight; ///< products that were started and not awaited, in order
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> pending; ///< registers of those
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ROLEEMITTER_H
