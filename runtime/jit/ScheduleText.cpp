//===- ScheduleText.cpp - A schedule as text -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/ScheduleText.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/SpecText.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;

namespace {

/// Shows faults in the text: the parser's places, and operations, which are not in it, as its beginning.
class ScheduleDiagnostics {
public:
  ScheduleDiagnostics(StringRef text, StringRef name, llvm::raw_ostream &os, MLIRContext *context)
      : printer(addText(sources, text, name), context, os),
        handler(context, [this](Diagnostic &diagnostic) { return show(diagnostic); }) {}

  /// Shows `message` at the character `offset`.
  void show(size_t offset, llvm::SourceMgr::DiagKind kind, const Twine &message) {
    printer.show(offset, kind, message);
  }

private:
  static llvm::SourceMgr &addText(llvm::SourceMgr &sources, StringRef text, StringRef name) {
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name, /*RequiresNullTerminator=*/false),
                               llvm::SMLoc());
    return sources;
  }

  LogicalResult show(Diagnostic &diagnostic) {
    auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
    // The parser calls text that is in no file by the text itself.
    StringRef text = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
    bool inText = place && place.getFilename() == text && place.getLine() == 1;
    show(inText ? place.getColumn() - 1 : 0,
         diagnostic.getSeverity() == DiagnosticSeverity::Error ? llvm::SourceMgr::DK_Error : llvm::SourceMgr::DK_Note,
         diagnostic.str());
    return success();
  }

  llvm::SourceMgr sources;
  SpecDiagnostics printer;
  ScopedDiagnosticHandler handler; ///< over that of `printer`, which takes places for those of a spec
};

} // namespace

image::Status jit::setSchedule(StringRef text, StringRef name, llvm::raw_ostream &os, attn::KernelFunction &function) {
  MLIRContext *context = function.function.getContext();
  ScheduleDiagnostics diagnostics(text, name, os, context);
  if (std::optional<TextFault> fault = findTextFault(text)) {
    diagnostics.show(fault->offset, llvm::SourceMgr::DK_Error, fault->message);
    return reported();
  }
  size_t read = 0;
  Attribute attribute = parseAttribute(text, context, Type(), &read);
  if (!attribute)
    return reported();
  auto fail = [&](size_t offset, const Twine &message) {
    diagnostics.show(offset, llvm::SourceMgr::DK_Error, message);
    return reported();
  };
  if (!text.drop_front(read).trim().empty())
    return fail(read, "expected the end of the schedule");
  SmallVector<attn::ScheduleAttr> schedules;
  auto list = dyn_cast<ArrayAttr>(attribute);
  for (Attribute item : list ? list.getValue() : ArrayRef<Attribute>(attribute)) {
    auto schedule = dyn_cast<attn::ScheduleAttr>(item);
    if (!schedule)
      return fail(0, "expected #attn.schedule<...>, or several in brackets");
    schedules.push_back(schedule);
  }
  for (attn::KernelOpInterface kernel : function.kernels) {
    kernel.setSchedules(schedules);
    if (failed(verify(kernel)))
      return reported();
  }
  return {};
}
