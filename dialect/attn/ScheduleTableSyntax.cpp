//===- ScheduleTableSyntax.cpp - Words of tables of schedules ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/ScheduleTableSyntax.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace attnc::attn;

void attnc::attn::printNumber(AsmPrinter &printer, FloatAttr number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number.getValueAsDouble());
  // Digits alone would be read as an integer.
  printer << text << (StringRef(text).contains('.') ? "" : ".0");
}

FailureOr<SmallVector<TileStep>> attnc::attn::parseSteps(AsmParser &parser) {
  SmallVector<TileStep> steps;
  auto parseStep = [&]() -> ParseResult {
    TileStep step{};
    if (parser.parseInteger(step.columns) || parser.parseKeyword("x") || parser.parseInteger(step.stages) ||
        (succeeded(parser.parseOptionalKeyword("x")) && parser.parseInteger(step.logitStages)))
      return failure();
    steps.push_back(step);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStep))
    return failure();
  return steps;
}

void attnc::attn::printSteps(AsmPrinter &printer, ArrayRef<TileStep> steps) {
  printer << '[';
  llvm::interleaveComma(steps, printer, [&](TileStep step) {
    printer << step.columns << " x " << step.stages;
    if (step.logitStages != 0)
      printer << " x " << step.logitStages;
  });
  printer << ']';
}

FailureOr<SmallVector<EntryAttr>> attnc::attn::parseEntries(AsmParser &parser) {
  SmallVector<EntryAttr> entries;
  auto parseEntry = [&]() -> ParseResult { return parser.parseCustomAttributeWithFallback(entries.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return failure();
  return entries;
}

void attnc::attn::printEntries(AsmPrinter &printer, ArrayRef<EntryAttr> entries) {
  printer << '[';
  llvm::interleave(
      entries,
      [&](EntryAttr entry) {
        printer << "\n  ";
        printer.printStrippedAttrOrType(entry);
      },
      [&] { printer << ','; });
  printer << "\n]";
}
