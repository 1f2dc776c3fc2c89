//===- ChooseUniform.cpp - What is held in uniform registers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILECHOOSEUNIFORM
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `program` has a loop inside of another one.
static bool hasNestedLoops(ProgramOp program) {
  return program
      .walk([](scf::ForOp loop) {
        return loop->getParentOfType<scf::ForOp>() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct ChooseUniform : attnc::tile::impl::TileChooseUniformBase<ChooseUniform> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (!hasRoles(program))
      return;
    auto unit = UnitAttr::get(&getContext());
    if (hasNestedLoops(program))
      program->setAttr(uniformStagesAttrName, unit);
    bool shares = sharesTiles(program);
    program.walk([&](PersistentOp each) {
      auto role = each->getParentOfType<RoleOp>();
      bool receives = each.getTiles() && !role.takesTiles();
      if (receives && (shares || role.getKind() == RoleKind::Producer))
        each->setAttr(uniformNumberAttrName, unit);
    });
  }
};
} // namespace
