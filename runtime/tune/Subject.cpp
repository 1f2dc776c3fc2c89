//===- Subject.cpp - What records are about ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Subject.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "runtime/ThreadPool.h"
#include "runtime/cache/CacheKey.h"
#include "runtime/jit/SpecText.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tune;
using image::Error;
using image::Status;

cache::Digest tune::digestOf(const attn::KernelFunction &kernel) {
  func::FuncOp function = kernel.function;
  OwningOpRef<func::FuncOp> copy = function.clone();
  copy->setName("kernel");
  constexpr StringLiteral nameAttr = "attn.name";
  for (unsigned i = 0; i < copy->getNumArguments(); ++i)
    copy->removeArgAttr(i, nameAttr);
  for (unsigned i = 0; i < copy->getNumResults(); ++i)
    copy->removeResultAttr(i, StringAttr::get(copy->getContext(), nameAttr));
  // Whoever brings tables along has other heuristics, which records tell by the schedules that they were measured
  // against.
  copy->getOperation()->removeAttr(attn::scheduleTablesAttrName);
  copy->walk([](attn::KernelOpInterface op) { op.setSchedulesAttr({}); });
  std::string text;
  llvm::raw_string_ostream os(text);
  // The form that people write says nothing of clauses that are not there, and so stays as it is where more come to be.
  copy->getOperation()->print(os, OpPrintingFlags().useLocalScope().enableDebugInfo(false));
  return cache::KeyBuilder("subject").add(text).digest();
}

bool tune::hasOwnSchedules(const attn::KernelFunction &kernel) {
  return llvm::any_of(kernel.kernels, [](attn::KernelOpInterface op) { return !op.getSchedules().empty(); });
}

Status tune::setSchedules(attn::KernelFunction &kernel, const ScheduleTexts &texts) {
  if (texts.size() != kernel.kernels.size())
    return Error{"expected schedules of " + std::to_string(kernel.kernels.size()) + " kernels, got those of " +
                 std::to_string(texts.size())};
  MLIRContext *context = kernel.function.getContext();
  std::string fault;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (fault.empty())
      fault = diagnostic.str();
    return success();
  });
  for (auto [op, list] : llvm::zip_equal(kernel.kernels, texts)) {
    SmallVector<attn::ScheduleAttr> schedules;
    for (const std::string &text : list) {
      if (jit::findTextFault(text))
        return Error{"'" + text + "' is no schedule"};
      size_t read = 0;
      auto schedule = dyn_cast_or_null<attn::ScheduleAttr>(parseAttribute(text, context, Type(), &read));
      if (!schedule || read != text.size())
        return Error{"'" + text + "' is no schedule" + (fault.empty() ? "" : ": " + fault)};
      schedules.push_back(schedule);
    }
    if (schedules.empty())
      op.setSchedulesAttr({});
    else
      op.setSchedules(schedules);
    if (failed(verify(op)))
      return Error{fault};
  }
  return {};
}

void tune::clearSchedules(attn::KernelFunction &kernel) {
  for (attn::KernelOpInterface op : kernel.kernels)
    op.setSchedulesAttr({});
}

std::string tune::print(attn::ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

std::string tune::nameOfCpu(llvm::StringRef target) {
  unsigned cores = runtime::ThreadPool::numAvailableCores();
  return target.str() + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}
