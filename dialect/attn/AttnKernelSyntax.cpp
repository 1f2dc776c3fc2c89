//===- AttnKernelSyntax.cpp - Parsing and printing kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// `attn.forward` and `attn.weights` share their clauses, so they share one parser and one printer.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/LiteralSyntax.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// The operands after the tensors, in the order of AttnOps.td; the segment sizes follow it.
enum Clause { Scale, Sinks, Dropout, Seed, QOffset, QueryLengths, KeyLengths, QueryOffsets, KeyOffsets, NumClauses };

/// One optional operand as it was read.
struct ClauseOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  bool present = false;
};

/// Reads the clauses of a kernel, in any order, each at most once.
class ClauseParser {
public:
  ClauseParser(OpAsmParser &parser, OperationState &result) : parser(parser), result(result) {}

  /// Reads clauses until none follows.
  ParseResult parse();
  /// Resolves what was read and appends it to the operands; fills `segments` after the first `leading` entries.
  ParseResult resolve(SmallVectorImpl<int32_t> &segments);

private:
  ParseResult parseClause(StringRef keyword, SMLoc loc);
  ParseResult parseFloatOrValue(Clause clause, StringRef attrName);
  ParseResult parseValue(Clause clause, Type type);
  ParseResult parseTypedValue(Clause clause);
  ParseResult parseQueryAndKey(Clause query, Clause key);
  ParseResult parseRegion(unsigned index, ArrayRef<Type> types);

  OpAsmParser &parser;
  OperationState &result;
  ClauseOperand clauses[NumClauses];
  Region *regions[4] = {};
  llvm::StringSet<> seen;
};

} // namespace

static constexpr StringRef clauseNames[] = {"scale",  "sinks", "dropout", "align",  "q_offset", "lengths",
                                            "varlen", "score", "mask",    "bounds", "blocks",   "schedule"};
static constexpr StringLiteral regionNames[] = {"score", "mask", "bounds", "blocks"};

ParseResult ClauseParser::parse() {
  for (Region *&region : regions)
    region = result.addRegion();
  while (true) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword, clauseNames))) {
      // A word that is no clause deserves better than "expected ':'".
      if (succeeded(parser.parseOptionalKeyword(&keyword)))
        return parser.emitError(loc) << "unknown clause '" << keyword << "'; expected one of "
                                     << llvm::join(ArrayRef(clauseNames), ", ");
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
    return parseRegion(0, {builder.getF32Type(), index, index, index, index});
  if (keyword == "mask")
    return parseRegion(1, {index, index, index, index});
  if (keyword == "bounds")
    return parseRegion(2, {index, index, index, index});
  if (keyword == "blocks")
    return parseRegion(3, {index, index, index, index, index, index});
  if (keyword == "lengths")
    return parseQueryAndKey(QueryLengths, KeyLengths);
  if (keyword == "varlen")
    return parseQueryAndKey(QueryOffsets, KeyOffsets);

  if (parser.parseLParen())
    return failure();
  ParseResult body = success();
  if (keyword == "scale") {
    body = parseFloatOrValue(Scale, "static_scale");
  } else if (keyword == "sinks") {
    body = parseTypedValue(Sinks);
  } else if (keyword == "dropout") {
    body = failure(parseFloatOrValue(Dropout, "static_dropout") || parser.parseComma() ||
                   parseValue(Seed, builder.getI64Type()));
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
  for (ClauseOperand &clause : clauses) {
    segments.push_back(clause.present ? 1 : 0);
    if (clause.present && parser.resolveOperand(clause.operand, clause.type, result.operands))
      return failure();
  }
  return success();
}

/// Reads `tensors` tensor operands, the clauses and the functional type of a kernel.
static ParseResult parseKernel(OpAsmParser &parser, OperationState &result, unsigned tensors) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc operandsLoc = parser.getCurrentLocation();
  ClauseParser clauses(parser, result);
  FunctionType type;
  if (parser.parseOperandList(operands, tensors) || clauses.parse() ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLoc, result.operands))
    return failure();
  SmallVector<int32_t> segments(tensors, 1);
  if (clauses.resolve(segments))
    return failure();
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  result.addTypes(type.getResults());
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
    p << ", " << op.getSeed() << ")";
  }
  if (op.getAlign() != Alignment::BottomRight)
    p << " align(" << stringifyAlignment(op.getAlign()) << ")";
  if (op.getQOffset())
    p << " q_offset(" << op.getQOffset() << ")";
  printQueryAndKey(p, "lengths", op.getQueryLengths(), op.getKeyLengths());
  printQueryAndKey(p, "varlen", op.getQueryOffsets(), op.getKeyOffsets());
  if (ArrayAttr schedules = op.getSchedulesAttr()) {
    p << " schedule(";
    llvm::interleaveComma(schedules, p);
    p << ")";
  }
  for (auto [name, region] : llvm::zip_equal(regionNames, op->getRegions()))
    printKernelRegion(p, name, region);
  p.printOptionalAttrDict(op->getAttrs(),
                          {"operandSegmentSizes", "static_scale", "static_dropout", "align", "schedules"});
  p << " : ";
  SmallVector<Type> inputs(llvm::map_range(tensors, [](Value v) { return v.getType(); }));
  p.printFunctionalType(inputs, op->getResultTypes());
}

ParseResult ForwardOp::parse(OpAsmParser &parser, OperationState &result) { return parseKernel(parser, result, 3); }

void ForwardOp::print(OpAsmPrinter &p) { printKernel(*this, p, {getQuery(), getKey(), getValue()}); }

ParseResult WeightsOp::parse(OpAsmParser &parser, OperationState &result) { return parseKernel(parser, result, 2); }

void WeightsOp::print(OpAsmPrinter &p) { printKernel(*this, p, {getQuery(), getKey()}); }

//===----------------------------------------------------------------------===//
// Names of region arguments
//===----------------------------------------------------------------------===//

static void nameRegionArguments(Operation *op, Region &region, OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral score[] = {"s", "b", "h", "i", "j"};
  static constexpr StringLiteral mask[] = {"b", "h", "i", "j"};
  static constexpr StringLiteral bounds[] = {"b", "h", "i_first", "i_last"};
  static constexpr StringLiteral blocks[] = {"b", "h", "i_first", "i_last", "j_first", "j_last"};
  static constexpr ArrayRef<StringLiteral> names[] = {score, mask, bounds, blocks};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names[region.getRegionNumber()]))
    setName(argument, name);
}

void ForwardOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameRegionArguments(*this, region, setName);
}

void WeightsOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameRegionArguments(*this, region, setName);
}
