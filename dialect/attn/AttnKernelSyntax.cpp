//===- AttnKernelSyntax.cpp - Parsing and printing kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Kernels share their clauses, so they share one parser and one printer.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/LiteralSyntax.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// The operands after the tensors, in the order of AttnOps.td; the segment sizes follow it.
enum Clause {
  Scale,
  Sinks,
  Dropout,
  Seed,
  QOffset,
  QueryLengths,
  KeyLengths,
  QueryOffsets,
  KeyOffsets,
  PageTable,
  NumClauses
};

/// One optional operand as it was read.
struct ClauseOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  bool present = false;
};

/// Reads the clauses of a kernel, in any order, each at most once.
class ClauseParser {
public:
  /// The kernel has the first `numRegions` of `regionNames`.
  ClauseParser(OpAsmParser &parser, OperationState &result, unsigned numRegions)
      : parser(parser), result(result), regions(numRegions) {}

  /// Reads clauses until none follows.
  ParseResult parse();
  /// Resolves what was read and appends it to the operands, and their numbers to `segments`: the captured tensors of a
  /// kernel of gradients, then the clauses that all have.
  ParseResult resolve(SmallVectorImpl<int32_t> &segments);
  /// Captured tensors that have gradients.
  size_t countCaptured() const { return captured.size(); }

private:
  ParseResult parseClause(StringRef keyword, SMLoc loc);
  ParseResult parseFloatOrValue(Clause clause, StringRef attrName);
  ParseResult parseValue(Clause clause, Type type);
  ParseResult parseTypedValue(Clause clause);
  ParseResult parseSeed();
  ParseResult parseQueryAndKey(Clause query, Clause key);
  ParseResult parseCaptured();
  bool hasGradients() const { return regions.size() == NumKernelRegions; }
  ParseResult parseRegion(unsigned index, ArrayRef<Type> types);

  OpAsmParser &parser;
  OperationState &result;
  ClauseOperand clauses[NumClauses];
  SmallVector<ClauseOperand> captured;
  SmallVector<Region *> regions;
  llvm::StringSet<> seen;
};

} // namespace

static constexpr StringRef clauseNames[] = {"scale",    "sinks",      "dropout",      "align",   "q_offset", "lengths",
                                            "varlen",   "paged",      "score",        "mask",    "bounds",   "blocks",
                                            "schedule", "derivative", "query_bounds", "captured"};
/// The last of them, which only kernels of gradients have.
static constexpr size_t numGradientClauses = 3;

/// By `KernelRegion`.
static constexpr StringLiteral regionNames[] = {"score", "mask", "bounds", "blocks", "derivative", "query_bounds"};
static_assert(std::size(regionNames) == NumKernelRegions);

ParseResult ClauseParser::parse() {
  for (Region *&region : regions)
    region = result.addRegion();
  while (true) {
    ArrayRef<StringRef> names = ArrayRef(clauseNames).drop_back(hasGradients() ? 0 : numGradientClauses);
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword, names))) {
      // A word that is no clause deserves better than "expected ':'".
      if (succeeded(parser.parseOptionalKeyword(&keyword)))
        return parser.emitError(loc) << "unknown clause '" << keyword << "'; expected one of "
                                     << llvm::join(names, ", ");
      return success();
    }
    if (!seen.insert(keyword).second)
      return parser.emitError(loc) << "clause '" << keyword << "' appears twice";
    if (parseClause(keyword, loc))
      return failure();
  }
}

ParseResult ClauseParser::parseFloatOrValue(Clause clause, StringRef attrName) {
  std::optional<OpAsmParser::UnresolvedOperand> operand;
  FloatAttr literal;
  if (attnc::attn::parseFloatOrValue(parser, operand, literal))
    return failure();
  if (operand)
    clauses[clause] = {*operand, parser.getBuilder().getF32Type(), true};
  else
    result.addAttribute(attrName, literal);
  return success();
}

ParseResult ClauseParser::parseValue(Clause clause, Type type) {
  clauses[clause].present = true;
  clauses[clause].type = type;
  return parser.parseOperand(clauses[clause].operand);
}

ParseResult ClauseParser::parseTypedValue(Clause clause) {
  clauses[clause].present = true;
  return failure(parser.parseOperand(clauses[clause].operand) || parser.parseColonType(clauses[clause].type));
}

/// `%seed`, or `%seed : tensor<2xi32>`
ParseResult ClauseParser::parseSeed() {
  Type &type = clauses[Seed].type;
  if (parseValue(Seed, parser.getBuilder().getI64Type()))
    return failure();
  return succeeded(parser.parseOptionalColon()) ? parser.parseType(type) : success();
}

ParseResult ClauseParser::parseQueryAndKey(Clause query, Clause key) {
  auto parseSide = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef side;
    if (parser.parseKeyword(&side) || parser.parseEqual())
      return failure();
    if (side != "query" && side != "key")
      return parser.emitError(loc) << "expected 'query' or 'key', got '" << side << "'";
    Clause clause = side == "query" ? query : key;
    if (clauses[clause].present)
      return parser.emitError(loc) << "'" << side << "' appears twice";
    return parseTypedValue(clause);
  };
  return failure(parser.parseLParen() || parser.parseCommaSeparatedList(parseSide) || parser.parseRParen());
}

/// `(%slopes[h] : tensor<16xf32>, %bias[h, i, j] : tensor<16x?x?xbf16>, %table[n][n] : tensor<?xf32>)`
ParseResult ClauseParser::parseCaptured() {
  SmallVector<Attribute> axes;
  auto parseTensor = [&]() -> ParseResult {
    ClauseOperand &tensor = captured.emplace_back();
    std::string letters;
    auto parseAxis = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringRef letter;
      if (parser.parseKeyword(&letter))
        return failure();
      if (letter.size() != 1 || !parseAxes(letter))
        return parser.emitError(loc) << "expected an axis, b, h, i or j, or n for a computed index, got '" << letter
                                     << "'";
      letters += letter;
      return success();
    };
    auto parseRead = [&] { return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalSquare, parseAxis); };
    if (parser.parseOperand(tensor.operand) || parseRead())
      return failure();
    // Each further read has axes of its own.
    for (size_t before = 0; letters.size() != before;) {
      before = letters.size();
      letters += ',';
      if (parseRead())
        return failure();
      if (letters.size() == before + 1)
        letters.resize(before);
    }
    if (parser.parseColonType(tensor.type))
      return failure();
    // A scalar has one element for whoever reads it.
    if (letters.empty() && !isa<ShapedType>(tensor.type))
      letters = getAxisLetter(Coordinate::Batch);
    axes.push_back(parser.getBuilder().getStringAttr(letters));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseTensor))
    return failure();
  result.addAttribute("captured_axes", parser.getBuilder().getArrayAttr(axes));
  return success();
}

ParseResult ClauseParser::parseRegion(unsigned index, ArrayRef<Type> types) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  if (arguments.size() != types.size())
    return parser.emitError(loc) << "expected " << types.size() << " arguments for region '" << regionNames[index]
                                 << "', got " << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  if (parser.parseRegion(*regions[index], arguments))
    return failure();
  settleCoordinates(*regions[index], index);
  return success();
}

ParseResult ClauseParser::parseClause(StringRef keyword, SMLoc loc) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  if (keyword == "score")
    return parseRegion(ScoreRegion, {builder.getF32Type(), index, index, index, index});
  if (keyword == "mask")
    return parseRegion(MaskRegion, {index, index, index, index});
  if (keyword == "bounds")
    return parseRegion(BoundsRegion, {index, index, index, index});
  if (keyword == "blocks")
    return parseRegion(BlocksRegion, {index, index, index, index, index, index});
  if (keyword == "derivative")
    return parseRegion(DerivativeRegion, {builder.getF32Type(), builder.getF32Type(), index, index, index, index});
  if (keyword == "query_bounds")
    return parseRegion(QueryBoundsRegion, {index, index, index, index});
  if (keyword == "lengths")
    return parseQueryAndKey(QueryLengths, KeyLengths);
  if (keyword == "varlen")
    return parseQueryAndKey(QueryOffsets, KeyOffsets);
  if (keyword == "captured")
    return parseCaptured();

  if (parser.parseLParen())
    return failure();
  ParseResult body = success();
  if (keyword == "scale") {
    body = parseFloatOrValue(Scale, "static_scale");
  } else if (keyword == "sinks") {
    body = parseTypedValue(Sinks);
  } else if (keyword == "paged") {
    body = parseTypedValue(PageTable);
  } else if (keyword == "dropout") {
    body = failure(parseFloatOrValue(Dropout, "static_dropout") || parser.parseComma() || parseSeed());
  } else if (keyword == "q_offset") {
    body = parseValue(QOffset, index);
  } else if (keyword == "schedule") {
    SmallVector<Attribute> schedules;
    body = parser.parseCommaSeparatedList([&] {
      ScheduleAttr schedule;
      ParseResult parsed = parser.parseAttribute(schedule);
      schedules.push_back(schedule);
      return parsed;
    });
    result.addAttribute("schedules", builder.getArrayAttr(schedules));
  } else {
    StringRef name;
    SMLoc nameLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<Alignment> align = symbolizeAlignment(name);
    if (!align)
      return parser.emitError(nameLoc) << "expected top_left or bottom_right, got '" << name << "'";
    result.addAttribute("align", AlignmentAttr::get(builder.getContext(), *align));
  }
  return failure(body || parser.parseRParen());
}

ParseResult ClauseParser::resolve(SmallVectorImpl<int32_t> &segments) {
  if (hasGradients())
    segments.push_back(static_cast<int32_t>(captured.size()));
  for (ClauseOperand &tensor : captured)
    if (parser.resolveOperand(tensor.operand, tensor.type, result.operands))
      return failure();
  for (ClauseOperand &clause : clauses) {
    segments.push_back(clause.present ? 1 : 0);
    if (clause.present && parser.resolveOperand(clause.operand, clause.type, result.operands))
      return failure();
  }
  return success();
}

/// Reads `tensors` tensor operands, up to `optional` more, the clauses and the functional type of a kernel.
static ParseResult parseKernel(OpAsmParser &parser, OperationState &result, unsigned tensors, unsigned optional = 0,
                               unsigned numRegions = DerivativeRegion) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc operandsLoc = parser.getCurrentLocation();
  ClauseParser clauses(parser, result, numRegions);
  FunctionType type;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::None, /*allowResultNumber=*/true,
                              optional ? -1 : static_cast<int>(tensors)))
    return failure();
  if (operands.size() < tensors || operands.size() > tensors + optional)
    return parser.emitError(operandsLoc) << "expected " << tensors << " to " << tensors + optional << " tensors, got "
                                         << operands.size();
  if (clauses.parse() || parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLoc, result.operands))
    return failure();
  SmallVector<int32_t> segments(tensors + optional, 1);
  std::fill(segments.begin() + static_cast<int64_t>(operands.size()), segments.end(), 0);
  if (clauses.resolve(segments))
    return failure();
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  result.addTypes(type.getResults());
  if (numRegions != NumKernelRegions)
    return success();
  // Gradients of queries, keys and values, of sinks, and of captured tensors.
  constexpr size_t always = 3;
  size_t count = type.getNumResults(), ofCaptured = clauses.countCaptured();
  if (count < always + ofCaptured || count > always + 1 + ofCaptured)
    return parser.emitError(operandsLoc) << "expected " << always + ofCaptured
                                         << " gradients, and one more with that of "
                                         << "sinks, got " << count;
  SmallVector<int32_t> gradients(always, 1);
  gradients.append({static_cast<int32_t>(count - always - ofCaptured), static_cast<int32_t>(ofCaptured)});
  result.addAttribute("resultSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(gradients));
  return success();
}

/// Prints a region with its arguments, without their types.
static void printKernelRegion(OpAsmPrinter &p, StringRef name, Region &region) {
  if (region.empty())
    return;
  p << " " << name << " (";
  llvm::interleaveComma(region.getArguments(), p, [&](BlockArgument arg) { p.printOperand(arg); });
  p << ") ";
  p.printRegion(region, /*printEntryBlockArgs=*/false);
}

/// Prints `name(query = %a : type, key = %b : type)`.
static void printQueryAndKey(OpAsmPrinter &p, StringRef name, Value query, Value key) {
  if (!query && !key)
    return;
  p << " " << name << "(";
  if (query)
    p << "query = " << query << " : " << query.getType();
  if (query && key)
    p << ", ";
  if (key)
    p << "key = " << key << " : " << key.getType();
  p << ")";
}

/// Prints a literal so that it parses back to the same bits.
static void printFloat(OpAsmPrinter &p, FloatAttr attr) { p.printAttributeWithoutType(attr); }

/// Prints the captured tensors that have gradients, with their axes.
static void printCaptured(BackwardOp op, OpAsmPrinter &p) {
  if (op.getCaptured().empty())
    return;
  p << " captured(";
  llvm::interleaveComma(getCapturedGradients(op), p, [&](const CapturedGradient &captured) {
    p << captured.tensor;
    if (isa<ShapedType>(captured.tensor.getType())) {
      SmallVector<Axes> reads = *parseReads(cast<StringAttr>((*op.getCapturedAxes())[captured.number]));
      for (const Axes &read : reads) {
        p << "[";
        llvm::interleaveComma(read, p, [&](std::optional<Coordinate> axis) { p << getAxisLetter(axis); });
        p << "]";
      }
    }
    p << " : " << captured.tensor.getType();
  });
  p << ")";
}

template <typename Op>
static void printKernel(Op op, OpAsmPrinter &p, ArrayRef<Value> tensors) {
  p << " ";
  llvm::interleaveComma(tensors, p);
  if (FloatAttr scale = op.getStaticScaleAttr()) {
    p << " scale(";
    printFloat(p, scale);
    p << ")";
  } else if (op.getScale()) {
    p << " scale(" << op.getScale() << ")";
  }
  if (Value sinks = op.getSinks())
    p << " sinks(" << sinks << " : " << sinks.getType() << ")";
  if (op.getSeed()) {
    p << " dropout(";
    if (FloatAttr dropout = op.getStaticDropoutAttr())
      printFloat(p, dropout);
    else
      p << op.getDropout();
    p << ", " << op.getSeed();
    if (Type type = op.getSeed().getType(); isa<ShapedType>(type))
      p << " : " << type;
    p << ")";
  }
  if (op.getAlign() != Alignment::BottomRight)
    p << " align(" << stringifyAlignment(op.getAlign()) << ")";
  if (op.getQOffset())
    p << " q_offset(" << op.getQOffset() << ")";
  printQueryAndKey(p, "lengths", op.getQueryLengths(), op.getKeyLengths());
  printQueryAndKey(p, "varlen", op.getQueryOffsets(), op.getKeyOffsets());
  if (Value table = op.getPageTable())
    p << " paged(" << table << " : " << table.getType() << ")";
  if constexpr (std::is_same_v<Op, BackwardOp>)
    printCaptured(op, p);
  if (ArrayAttr schedules = op.getSchedulesAttr()) {
    p << " schedule(";
    llvm::interleaveComma(schedules, p);
    p << ")";
  }
  for (auto [name, region] : llvm::zip(regionNames, op->getRegions()))
    printKernelRegion(p, name, region);
  p.printOptionalAttrDict(op->getAttrs(), {"operandSegmentSizes", "resultSegmentSizes", "static_scale",
                                           "static_dropout", "align", "schedules", "captured_axes"});
  p << " : ";
  SmallVector<Type> inputs(llvm::map_range(tensors, [](Value v) { return v.getType(); }));
  p.printFunctionalType(inputs, op->getResultTypes());
}

ParseResult ForwardOp::parse(OpAsmParser &parser, OperationState &result) { return parseKernel(parser, result, 3); }

void ForwardOp::print(OpAsmPrinter &p) { printKernel(*this, p, {getQuery(), getKey(), getValue()}); }

ParseResult WeightsOp::parse(OpAsmParser &parser, OperationState &result) { return parseKernel(parser, result, 2); }

void WeightsOp::print(OpAsmPrinter &p) { printKernel(*this, p, {getQuery(), getKey()}); }

ParseResult BackwardOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseKernel(parser, result, 6, /*optional=*/1, NumKernelRegions);
}

void BackwardOp::print(OpAsmPrinter &p) {
  SmallVector<Value> tensors{getQuery(), getKey(), getValue(), getOut(), getLse(), getDOut()};
  if (getDLse())
    tensors.push_back(getDLse());
  printKernel(*this, p, tensors);
}

//===----------------------------------------------------------------------===//
// Names of region arguments
//===----------------------------------------------------------------------===//

static void nameRegionArguments(Operation *op, Region &region, OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral score[] = {"s", "b", "h", "i", "j"};
  static constexpr StringLiteral mask[] = {"b", "h", "i", "j"};
  static constexpr StringLiteral bounds[] = {"b", "h", "i_first", "i_last"};
  static constexpr StringLiteral blocks[] = {"b", "h", "i_first", "i_last", "j_first", "j_last"};
  static constexpr StringLiteral derivative[] = {"ds", "s", "b", "h", "i", "j"};
  static constexpr StringLiteral queryBounds[] = {"b", "h", "j_first", "j_last"};
  static constexpr ArrayRef<StringLiteral> names[] = {score, mask, bounds, blocks, derivative, queryBounds};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names[region.getRegionNumber()]))
    setName(argument, name);
}

void ForwardOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameRegionArguments(*this, region, setName);
}

void WeightsOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameRegionArguments(*this, region, setName);
}

void BackwardOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameRegionArguments(*this, region, setName);
}
