//===- LlvmModuleTest.cpp - What LLVM refuses -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// LLVM's own way with modules that it cannot use is to end the process.
//===----------------------------------------------------------------------===//

#include "codegen/llvm/LlvmModule.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/target/HostCpu.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace attnc;

namespace {

class LlvmModules : public testing::Test {
protected:
  LlvmModules() {
    context.loadDialect<attn::AttnDialect, mlir::LLVM::LLVMDialect>();
    cpu = target::getHostCpu(&context);
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &body) {
    return mlir::parseSourceString<mlir::ModuleOp>("llvm.func @f(%p: !llvm.ptr, %x: i32) { " + body + " llvm.return }",
                                                   &context);
  }

  /// The first error that assembly of a function with `body` ends in, or "".
  std::string assemblyError(const std::string &body) {
    auto module = parse(body);
    if (!module)
      return "cannot be parsed";
    std::string error;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      if (error.empty())
        error = diagnostic.str();
    });
    EXPECT_EQ(failed(cpu::emitAssembly(*module, cpu)), !error.empty());
    return error;
  }

  mlir::MLIRContext context;
  attn::CpuTargetAttr cpu;
};

} // namespace

TEST_F(LlvmModules, becomeAssembly) { EXPECT_EQ(assemblyError("llvm.store %x, %p : i32, !llvm.ptr"), ""); }

TEST_F(LlvmModules, thatAreNotSoundAreErrors) {
  // The second and later operands of a prefetch are constants.
  std::string error =
      assemblyError("llvm.call_intrinsic \"llvm.prefetch.p0\"(%p, %x, %x, %x) : (!llvm.ptr, i32, i32, i32) -> ()");
  EXPECT_EQ(error.find("the LLVM IR is not sound: "), 0u) << error;
}

TEST_F(LlvmModules, thatTheBackEndRefusesAreErrors) {
  std::string error = assemblyError("llvm.inline_asm has_side_effects \"use $0\", \"{nosuch}\" %x : (i32) -> ()");
  EXPECT_EQ(error.find("LLVM cannot write the code: "), 0u) << error;
  EXPECT_NE(error.find("constraint '{nosuch}'"), std::string::npos) << error;
}

TEST_F(LlvmModules, withoutAMachineAreErrors) {
  auto module = parse("");
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
  auto nothing = codegen::createMachine(llvm::Triple("nosuch-unknown-unknown"), "", "", llvm::CodeGenOptLevel::Default);
  EXPECT_FALSE(nothing);
  EXPECT_TRUE(failed(codegen::translate(*module, std::move(nothing))));
  EXPECT_EQ(error, "LLVM has no code generator for this target");
}
