//===- ScheduleTableSyntax.h - Words of tables of schedules -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// How parameters of the attributes in ScheduleTable.td are read and written where MLIR has no way of its own.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_SCHEDULETABLESYNTAX_H
#define ATTNC_DIALECT_ATTN_SCHEDULETABLESYNTAX_H

#include "dialect/attn/AttnAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

namespace attnc::attn {

/// Writes a number as people do: "0.75".
void printNumber(mlir::AsmPrinter &printer, mlir::FloatAttr number);

/// Reads words of `Enum` in brackets: "[plain, paged]".
template <typename Enum>
mlir::FailureOr<llvm::SmallVector<Enum>> parseWords(mlir::AsmParser &parser) {
  llvm::SmallVector<Enum> words;
  auto parseWord = [&]() -> mlir::ParseResult {
    mlir::FailureOr<Enum> word = mlir::FieldParser<Enum>::parse(parser);
    if (mlir::failed(word))
      return mlir::failure();
    words.push_back(*word);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parseWord))
    return mlir::failure();
  return words;
}

/// Writes what `parseWords` reads.
template <typename Enum>
void printWords(mlir::AsmPrinter &printer, llvm::ArrayRef<Enum> words) {
  printer << '[';
  llvm::interleaveComma(words, printer, [&](Enum word) { printer << stringifyEnum(word); });
  printer << ']';
}

/// Reads steps: "[128 x 2, 64 x 4]", or "[128 x 2 x 1]" with logit stages.
mlir::FailureOr<llvm::SmallVector<TileStep>> parseSteps(mlir::AsmParser &parser);
/// Writes what `parseSteps` reads.
void printSteps(mlir::AsmPrinter &printer, llvm::ArrayRef<TileStep> steps);

/// Reads the entries of a table in brackets.
mlir::FailureOr<llvm::SmallVector<EntryAttr>> parseEntries(mlir::AsmParser &parser);
/// Writes them, one a line.
void printEntries(mlir::AsmPrinter &printer, llvm::ArrayRef<EntryAttr> entries);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_SCHEDULETABLESYNTAX_H
