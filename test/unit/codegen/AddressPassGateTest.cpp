//===- AddressPassGateTest.cpp - Names of LLVM's passes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/AddressPassGate.h"
#include "codegen/llvm/LlvmModule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm-c/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace attnc;
using nvptx::AddressPassGate;

namespace {
/// Counts the passes that it is asked for, and lets all run.
struct Recorder : llvm::OptPassGate {
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
    ++passes[name];
    return true;
  }
  bool isEnabled() const override { return true; }

  mutable llvm::StringMap<int> passes;
};
} // namespace

/// A name that LLVM no longer has would leave nothing out, and nobody would hear of it.
TEST(AddressPassGate, NamesPassesOfTheBackEnd) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(llvm.func @f(%p: !llvm.ptr, %n: i32) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        llvm.br ^loop(%zero : i32)
      ^loop(%i: i32):
        llvm.store %i, %p : i32, !llvm.ptr
        %next = llvm.add %i, %one : i32
        %more = llvm.icmp "slt" %next, %n : i32
        llvm.cond_br %more, ^loop(%next : i32), ^end
      ^end:
        llvm.return
      })",
      &context);
  ASSERT_TRUE(static_cast<bool>(module));
  auto translated = codegen::translate(*module, codegen::createMachine(llvm::Triple("nvptx64-nvidia-cuda"), "sm_90a",
                                                                       "+ptx83", llvm::CodeGenOptLevel::Default));
  ASSERT_TRUE(succeeded(translated));
  Recorder recorder;
  (*translated)->context.setOptPassGate(recorder);
  ASSERT_TRUE(succeeded(codegen::writeCode(**translated, llvm::CodeGenFileType::AssemblyFile)));
  for (llvm::StringRef name : AddressPassGate::leftOut)
    EXPECT_GT(recorder.passes.lookup(name), 0) << name.str();
  EXPECT_EQ(recorder.passes.lookup(AddressPassGate::search), AddressPassGate::searchesLeftOut + 1);
}

TEST(AddressPassGate, LeavesOutTheFirstSearches) {
  AddressPassGate gate;
  EXPECT_FALSE(gate.shouldRunPass("slsr", ""));
  EXPECT_TRUE(gate.shouldRunPass("licm", ""));
  EXPECT_FALSE(gate.shouldRunPass("early-cse", ""));
  EXPECT_FALSE(gate.shouldRunPass("early-cse", ""));
  EXPECT_TRUE(gate.shouldRunPass("early-cse", ""));
}
