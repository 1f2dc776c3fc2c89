//===- RegionFunction.cpp - Regions as functions of their own ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/RegionFunction.h"
#include "codegen/cpu/EntryAbi.h"
#include "codegen/cpu/RegionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

/// About how many instructions an operation of a region takes for one vector of f32.
static int64_t countInstructions(const EmitContext &context, Operation &op) {
  // Taken out of the vector, done, and put back, for one lane after the other.
  constexpr int64_t perLane = 4;
  // Some thirty terms, ends and cases; functions of libraries, which are called for each lane, come to more.
  constexpr int64_t polynomial = 32;
  // A product with the reciprocal, or what else few machines do in one instruction: rounding to bf16, maxima with NaN.
  constexpr int64_t several = 8;
  bool isDivision = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
                        arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  bool isByConstant = isDivision && matchPattern(op.getOperand(1), m_Constant());
  if (isa<memref::LoadOp>(op) || (isDivision && !isByConstant))
    return perLane * context.lanes;
  if (isa<math::MathDialect>(op.getDialect()))
    return polynomial;
  Type type = op.getResult(0).getType();
  bool isNarrowFloat = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  if (isByConstant || isNarrowFloat ||
      isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op))
    return several;
  return type.isInteger(64) || type.isF64() ? 2 : 1;
}

bool RegionFunction::isWorthwhile(EmitContext &context, Block &body, int64_t copies) {
  // As many as an instruction cache of 32 KB holds.
  constexpr int64_t most = 4096;
  // LLVM's time grows faster than an entry does, in which many regions may stand.
  constexpr int64_t mostOfEntry = 4 * most;
  // A call takes as long as so many.
  constexpr int64_t few = most / 16;
  int64_t count = 0;
  for (Operation &op : body.without_terminator())
    count += copies * countInstructions(context, op);
  if (count > most || (count > few && context.regionInstructions + count > mostOfEntry))
    return true;
  context.regionInstructions += count;
  return false;
}

/// What is passed for a value of `type`: an index as 64 bits.
static Type passedType(Type type) { return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type; }

static Value castTo(EmitContext &context, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(context.builder, context.loc, type, value).getResult(0);
}

/// The entry that the builder is in.
static LLVM::LLVMFuncOp entryOf(const EmitContext &context) {
  Operation *inside = context.builder.getInsertionBlock()->getParentOp();
  auto entry = dyn_cast<LLVM::LLVMFuncOp>(inside);
  return entry ? entry : inside->getParentOfType<LLVM::LLVMFuncOp>();
}

RegionFunction::RegionFunction(EmitContext &context, Block &body, const IRMapping &outside, ValueRange arguments) {
  OpBuilder &b = context.builder;
  auto program = body.getParentOp()->getParentOfType<tile::ProgramOp>();
  ValueRange launched = program.getBody().getArguments().drop_back();
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(*body.getParent(), used);
  for (Value value : used)
    if (!matchPattern(value, m_Constant()) && !llvm::is_contained(launched, value)) {
      assert(!isa<MemRefType>(value.getType()) && "views are arguments of the program");
      captured.push_back(value);
    }

  LLVM::LLVMFuncOp entry = entryOf(context);
  SmallVector<Type> types{entry.getArgument(0).getType()};
  for (Value argument : arguments)
    types.push_back(passedType(argument.getType()));
  for (Value value : captured)
    types.push_back(passedType(outside.lookup(value).getType()));
  // What is returned is known when the region is written.
  auto typeWith = [&](Type result) { return LLVM::LLVMFunctionType::get(result, types); };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entry);
  function = LLVM::LLVMFuncOp::create(b, context.loc, entry.getName().str() + "_region",
                                      typeWith(LLVM::LLVMVoidType::get(b.getContext())), LLVM::Linkage::Internal);
  function.setNoInline(true);
  SymbolTable(entry->getParentOp()).insert(function);

  Block *block = function.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  IRMapping inside;
  for (auto [from, to] : llvm::zip_equal(launched, readArguments(b, program, block->getArgument(0))))
    inside.map(from, to);
  for (Value value : used)
    if (matchPattern(value, m_Constant()))
      b.clone(*value.getDefiningOp(), inside);
  ValueRange passed = ValueRange(block->getArguments()).drop_front();
  SmallVector<Value> elements;
  for (auto [argument, to] : llvm::zip_equal(arguments, passed.take_front(arguments.size())))
    elements.push_back(castTo(context, to, argument.getType()));
  for (auto [value, to] : llvm::zip_equal(captured, passed.drop_front(arguments.size())))
    inside.map(value, castTo(context, to, outside.lookup(value).getType()));

  Lanes yielded = RegionEmitter(context, body, inside).emit(elements);
  auto together = LLVM::LLVMStructType::getLiteral(b.getContext(), llvm::to_vector(ValueRange(yielded).getTypes()));
  Value result = LLVM::PoisonOp::create(b, context.loc, together);
  for (auto [position, value] : llvm::enumerate(yielded))
    result = LLVM::InsertValueOp::create(b, context.loc, result, value, position);
  LLVM::ReturnOp::create(b, context.loc, result);
  function.setFunctionType(typeWith(together));
}

Lanes RegionFunction::call(EmitContext &context, const IRMapping &outside, ValueRange arguments) const {
  OpBuilder &b = context.builder;
  SmallVector<Value> operands{entryOf(context).getArgument(0)};
  auto pass = [&](Value value) { operands.push_back(castTo(context, value, passedType(value.getType()))); };
  llvm::for_each(arguments, pass);
  for (Value value : captured)
    pass(outside.lookup(value));
  auto call = LLVM::CallOp::create(b, context.loc, LLVM::LLVMFuncOp(function), operands);
  Lanes results;
  for (size_t position = 0; position < cast<LLVM::LLVMStructType>(call.getResult().getType()).getBody().size();
       ++position)
    results.push_back(LLVM::ExtractValueOp::create(b, context.loc, call.getResult(), position));
  return results;
}
