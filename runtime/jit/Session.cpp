//===- Session.cpp - A spec and the context it lives in ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Session.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using runtime::Result;
using runtime::Status;

Session::Session(llvm::raw_ostream &diagnostics)
    : mlirContext(MLIRContext::Threading::DISABLED), diagnostics(diagnostics) {
  // The line of the spec shows the place; the operation in MLIR's generic form would bury it.
  mlirContext.printOpOnDiagnostic(false);
  mlirContext.loadDialect<attn::AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
}

Session::~Session() = default;

Status Session::parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  module = {};
  handler.reset();
  sources = llvm::SourceMgr();
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  handler = std::make_unique<SourceMgrDiagnosticHandler>(sources, &mlirContext, diagnostics);
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&mlirContext));
  if (!module)
    return reported();
  return {};
}

Status Session::openFile(StringRef path) {
  if (path != "-" && llvm::sys::fs::is_directory(path))
    return runtime::Error{"cannot read '" + path.str() + "': it is a directory"};
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return runtime::Error{"cannot read '" + path.str() + "': " + buffer.getError().message()};
  return parse(std::move(*buffer));
}

Status Session::openText(StringRef text, StringRef name) {
  return parse(llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

Result<attn::KernelFunction> Session::findKernel(StringRef entry) {
  FailureOr<func::FuncOp> function = attn::findKernelFunction(*module, entry);
  if (failed(function))
    return reported();
  FailureOr<attn::KernelFunction> kernel = attn::KernelFunction::get(*function);
  if (failed(kernel))
    return reported();
  return std::move(*kernel);
}
