//===- TileToNvvm.cpp - Tile programs to kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attnc::nvptx {
#define GEN_PASS_DEF_TILETONVVM
#include "codegen/nvptx/Passes.h.inc"
} // namespace attnc::nvptx

using namespace mlir;
using namespace attnc;

namespace {

struct TileToNvvm : nvptx::impl::TileToNvvmBase<TileToNvvm> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<tile::ProgramOp>()) {
      program.emitOpError("cannot be lowered for a GPU yet");
      signalPassFailure();
    }
  }
};

} // namespace
