//===- Registry.cpp - Dialects and passes of the tools ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/nvrtc/NvrtcBackend.h"
#include "codegen/sim/Passes.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/tile/TileDialect.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipelines.h"
#include "runtime/jit/CompileTarget.h"
#include "tools/attnc-main/Tools.h"

using namespace mlir;

void attnc::tools::registerAllDialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, tile::TileDialect, affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  func::registerAllExtensions(registry);
  jit::registerMachines(registry);
}

void attnc::tools::registerAllPasses() {
  registerPipelines();
  cpu::registerCpuPasses();
  nvptx::registerNvptxPasses();
  nvrtc::registerNvrtcPasses();
  sim::registerAttncSimPasses();
  registerTransformsPasses();
  arith::registerArithIntRangeOptsPass();
  registerSCFPasses();
  registerReconcileUnrealizedCastsPass();
}
