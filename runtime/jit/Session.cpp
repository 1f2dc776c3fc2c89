//===- Session.cpp - A spec and the context it lives in ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Session.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/attn/DeriveBackward.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/SpecCheck.h"
#include "runtime/jit/SpecText.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using image::Result;
using image::Status;

Session::Session(llvm::raw_ostream &diagnostics)
    : mlirContext(MLIRContext::Threading::DISABLED), diagnostics(diagnostics) {
  // The line of the spec shows the place; the operation in MLIR's generic form would bury it.
  mlirContext.printOpOnDiagnostic(false);
  DialectRegistry machines;
  registerMachines(machines);
  mlirContext.appendDialectRegistry(machines);
  mlirContext.loadDialect<attn::AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
}

Session::~Session() = default;

Status Session::parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  module = {};
  handler.reset();
  sources = llvm::SourceMgr();
  StringRef text = buffer->getBuffer();
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  handler = std::make_unique<SpecDiagnostics>(sources, &mlirContext, diagnostics);
  if (std::optional<TextFault> fault = findTextFault(text)) {
    handler->show(fault->offset, llvm::SourceMgr::DK_Error, fault->message);
    return reported();
  }
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&mlirContext));
  if (!module)
    return reported();
  if (failed(checkSpec(*module))) {
    module = {};
    return reported();
  }
  return {};
}

Status Session::openFile(StringRef path) {
  auto buffer = readSpec(path);
  if (!buffer)
    return buffer.takeError();
  return parse(std::move(*buffer));
}

Status Session::openText(StringRef text, StringRef name) {
  return parse(llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

StringRef Session::text() const { return sources.getMemoryBuffer(sources.getMainFileID())->getBuffer(); }

Result<attn::KernelFunction> Session::findKernel(StringRef entry) {
  FailureOr<func::FuncOp> function = attn::findKernelFunction(*module, entry);
  if (failed(function))
    return reported();
  FailureOr<attn::KernelFunction> kernel = attn::KernelFunction::get(*function);
  if (failed(kernel))
    return reported();
  return std::move(*kernel);
}

Result<attn::KernelFunction> Session::deriveBackward(const attn::KernelFunction &forward) {
  FailureOr<func::FuncOp> function = attn::deriveBackward(forward.function);
  if (failed(function) || failed(mlir::verify(*function)))
    return reported();
  FailureOr<attn::KernelFunction> kernel = attn::KernelFunction::get(*function);
  if (failed(kernel))
    return reported();
  return std::move(*kernel);
}
