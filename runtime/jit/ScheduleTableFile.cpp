//===- ScheduleTableFile.cpp - Tables of schedules from a file --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/ScheduleTableFile.h"
#include "codegen/gpu/ScheduleTables.h"
#include "mlir/Parser/Parser.h"
#include "runtime/jit/InputFile.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/SpecText.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;

image::Result<SmallVector<Attribute>> jit::readScheduleTables(StringRef path, llvm::raw_ostream &os,
                                                              MLIRContext *context) {
  auto buffer = readInput(path, longestSpec);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  SpecDiagnostics diagnostics(sources, context, os);
  if (std::optional<TextFault> fault = findTextFault(text)) {
    diagnostics.show(fault->offset, llvm::SourceMgr::DK_Error, fault->message);
    return reported();
  }
  // What a fault lies in cannot be read either; the fault says enough.
  bool isFirst = true;
  ScopedDiagnosticHandler first(context, [&](Diagnostic &) { return success(!std::exchange(isFirst, false)); });
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  if (!module)
    return reported();
  FailureOr<SmallVector<attn::ScheduleTableAttr>> tables = attnc::gpu::readScheduleTables(*module);
  if (failed(tables))
    return reported();
  return SmallVector<Attribute>(tables->begin(), tables->end());
}

void jit::addScheduleTables(attn::KernelFunction &function, ArrayRef<Attribute> tables) {
  SmallVector<Attribute> all;
  if (auto own = function.function->getAttrOfType<ArrayAttr>(attn::scheduleTablesAttrName))
    llvm::append_range(all, own);
  llvm::append_range(all, tables);
  function.function->setAttr(attn::scheduleTablesAttrName, ArrayAttr::get(function.function.getContext(), all));
}
