//===- Sizes.cpp - Conditions on the sizes of launches ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc::attn;

SmallVector<SizeRange> attnc::attn::canonicalizeRanges(ArrayRef<SizeRange> ranges) {
  SmallVector<SizeRange> kept;
  llvm::copy_if(ranges, std::back_inserter(kept), [](SizeRange range) { return !range.isUniversal(); });
  llvm::stable_sort(kept, [](SizeRange a, SizeRange b) { return a.size < b.size; });
  return kept;
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Writes "1025 to 4096", "from 512", "to 4", or one number.
template <typename Stream>
static void printRange(Stream &os, SizeRange range) {
  if (range.min == range.max)
    os << range.min;
  else if (range.max == unlimited)
    os << "from " << range.min;
  else if (range.min == 0)
    os << "to " << range.max;
  else
    os << range.min << " to " << range.max;
}

/// Reads what `printRange` writes.
static ParseResult parseRange(AsmParser &parser, SizeRange &range) {
  if (succeeded(parser.parseOptionalKeyword("from")))
    return parser.parseInteger(range.min);
  if (succeeded(parser.parseOptionalKeyword("to")))
    return parser.parseInteger(range.max);
  if (parser.parseInteger(range.min))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("to")))
    return parser.parseInteger(range.max);
  range.max = range.min;
  return success();
}

Attribute SizesAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<SizeRange> ranges;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    FailureOr<Size> size = FieldParser<Size>::parse(parser);
    if (failed(size))
      return failure();
    if (llvm::any_of(ranges, [&](SizeRange range) { return range.size == *size; }))
      return parser.emitError(loc) << "expected one range of " << stringifySize(*size) << ", got two";
    SizeRange &range = ranges.emplace_back(SizeRange{*size});
    return failure(parser.parseEqual() || parseRange(parser, range));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), ArrayRef<SizeRange>(ranges));
}

void SizesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getRanges(), printer, [&](SizeRange range) {
    printer << stringifySize(range.size) << " = ";
    printRange(printer, range);
  });
  printer << '>';
}

std::string SizesAttr::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(getRanges(), os, [&](SizeRange range) {
    os << stringifySize(range.size) << ' ';
    printRange(os, range);
  });
  return text;
}

LogicalResult SizesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<SizeRange> ranges) {
  for (auto [place, range] : llvm::enumerate(ranges)) {
    if (range.min < 0 || range.min > range.max)
      return emitError() << "expected " << stringifySize(range.size) << " from 0 on, and no less to end with, got "
                         << range.min << " to " << range.max;
    if (place > 0 && ranges[place - 1].size == range.size)
      return emitError() << "expected one range of " << stringifySize(range.size) << ", got two";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sets of launches
//===----------------------------------------------------------------------===//

/// All sizes there are.
static auto allSizes() {
  return llvm::map_range(llvm::seq<uint32_t>(0, getMaxEnumValForSize() + 1),
                         [](uint32_t size) { return static_cast<Size>(size); });
}

SizeRange SizesAttr::getRange(Size size) const {
  for (SizeRange range : getRanges())
    if (range.size == size)
      return range;
  return {size};
}

bool SizesAttr::contains(SizesAttr other) const {
  return llvm::all_of(getRanges(), [&](SizeRange range) {
    SizeRange inner = other.getRange(range.size);
    return range.min <= inner.min && inner.max <= range.max;
  });
}

SizesAttr SizesAttr::intersect(SizesAttr other) const {
  SmallVector<SizeRange> ranges;
  for (Size size : allSizes()) {
    SizeRange a = getRange(size), b = other.getRange(size);
    ranges.push_back({size, std::max(a.min, b.min), std::min(a.max, b.max)});
    if (ranges.back().min > ranges.back().max)
      return {};
  }
  return get(getContext(), ranges);
}

SizesAttr SizesAttr::unite(SizesAttr other) const {
  if (contains(other))
    return *this;
  if (other.contains(*this))
    return other;
  // Ranges of one size, which touch, where all others are the same.
  SmallVector<SizeRange> ranges;
  bool differs = false;
  for (Size size : allSizes()) {
    SizeRange a = getRange(size), b = other.getRange(size);
    if (a != b) {
      auto endsBefore = [](SizeRange first, SizeRange second) {
        return first.max < second.min && second.min - first.max > 1;
      };
      if (differs || endsBefore(a, b) || endsBefore(b, a))
        return {};
      differs = true;
    }
    ranges.push_back({size, std::min(a.min, b.min), std::max(a.max, b.max)});
  }
  return get(getContext(), ranges);
}

void SizesAttr::subtract(SizesAttr other, SmallVectorImpl<SizesAttr> &rest) const {
  if (!intersect(other)) {
    rest.push_back(*this);
    return;
  }
  SizesAttr left = *this;
  for (SizeRange range : other.getRanges()) {
    SizeRange own = left.getRange(range.size);
    auto add = [&](int64_t min, int64_t max) {
      if (min <= max)
        rest.push_back(left.intersect(get(getContext(), SizeRange{range.size, min, max})));
    };
    add(own.min, range.min - 1);
    if (range.max != unlimited)
      add(range.max + 1, own.max);
    left = left.intersect(get(getContext(), range));
  }
}

SizesAttr SizesAttr::without(SizesAttr known) const {
  SmallVector<SizeRange> ranges;
  llvm::copy_if(getRanges(), std::back_inserter(ranges), [&](SizeRange range) {
    SizeRange of = known.getRange(range.size);
    return of.min != of.max;
  });
  return get(getContext(), ranges);
}
