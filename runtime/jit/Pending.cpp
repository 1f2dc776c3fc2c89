//===- Pending.cpp - Libraries that are not in the tree yet -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Built only where CMake does not find the library that defines these; goes once all are there.
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/target/HostCpu.h"
#include "dialect/attn/Reference.h"
#include "passes/Pipelines.h"

using namespace mlir;

#ifdef ATTNC_PENDING_REFERENCE
LogicalResult attnc::attn::runReference(const KernelFunction &kernel, ArrayRef<ReferenceValue>,
                                        MutableArrayRef<HostArray>, const ReferenceOptions &) {
  func::FuncOp function = kernel.function;
  return function.emitError("the reference is not built");
}
#endif
#ifdef ATTNC_PENDING_PASSES
void attnc::buildAttnPipeline(OpPassManager &) {}
void attnc::buildTilePipeline(OpPassManager &) {}
void attnc::registerPipelines() {}
#endif
#ifdef ATTNC_PENDING_CPU
void attnc::cpu::buildCpuPipeline(OpPassManager &) {}
FailureOr<attnc::runtime::KernelImage> attnc::cpu::describeImage(const attn::KernelFunction &, ModuleOp module) {
  return module.emitError("code generation is not built");
}
FailureOr<std::string> attnc::cpu::emitLlvmText(ModuleOp, attn::CpuTargetAttr) { return failure(); }
FailureOr<std::string> attnc::cpu::emitAssembly(ModuleOp, attn::CpuTargetAttr) { return failure(); }
FailureOr<std::vector<uint8_t>> attnc::cpu::emitObject(ModuleOp, attn::CpuTargetAttr) { return failure(); }
#endif
#ifdef ATTNC_PENDING_TARGET
attnc::attn::CpuTargetAttr attnc::target::getHostCpu(MLIRContext *context) {
  return attn::CpuTargetAttr::get(context, "generic", "", 256, 16, 32768, 524288);
}
#endif
