//===- PtxWarp.cpp - Copies by threads and products of warps ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Ptx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attnc::nvptx;

/// "[$n + offset]".
static std::string addressText(size_t operand, int64_t offset) {
  return "[$" + std::to_string(operand) + (offset ? "+" + std::to_string(offset) : "") + "]";
}

/// The elements of a structure.
static SmallVector<Value> elementsOf(Ptx &ptx, Value structure, size_t count) {
  SmallVector<Value> values;
  for (size_t n = 0; n < count; ++n)
    values.push_back(LLVM::ExtractValueOp::create(ptx.b, ptx.loc, structure, static_cast<int64_t>(n)));
  return values;
}

/// The `count` words that `text`, an instruction, loads from shared memory.
static SmallVector<Value> loadWords(Ptx &ptx, StringRef name, StringRef text, Value address, int64_t count) {
  OpBuilder &b = ptx.b;
  std::string constraints;
  for (int64_t n = 0; n < count; ++n)
    constraints += "=r,";
  Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, b.getI32Type()));
  auto op = LLVM::InlineAsmOp::create(b, ptx.loc, TypeRange(result), address, text, constraints + "r,~{memory}",
                                      /*has_side_effects=*/true, /*is_align_stack=*/false,
                                      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  setName(op, name);
  return elementsOf(ptx, op.getResult(0), count);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void Ptx::copyPiece(Value shared, int64_t offset, Value global, Value bytes) {
  Value place = sharedPointer(shared);
  if (offset)
    place = shift(place, b.getI8Type(), offset);
  NVVM::CpAsyncOp::create(b, loc, place, global, /*size=*/16, NVVM::LoadCacheModifierKind::CG, bytes);
}

void Ptx::commitPieces() { NVVM::CpAsyncCommitGroupOp::create(b, loc); }

void Ptx::waitPieces(int64_t pending) { NVVM::CpAsyncWaitGroupOp::create(b, loc, static_cast<uint32_t>(pending)); }

void Ptx::storeShared(Value address, Value word, int64_t offset) {
  assembly("storeShared", {}, "st.shared.b32 " + addressText(0, offset) + ", $1;", "rr", {address, word});
}

void Ptx::storePiece(Value shared, ValueRange words, int64_t offset) {
  SmallVector<Value> operands{shared};
  operands.append(words.begin(), words.end());
  assembly("storePiece", {}, "st.shared.v4.b32 " + addressText(0, offset) + ", {$1, $2, $3, $4};", "rrrrr", operands);
}

SmallVector<Value> Ptx::loadPiece(Value shared) {
  return loadWords(*this, "loadPiece", "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", shared, 4);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

SmallVector<Value> Ptx::loadMatrices(Value address, int64_t offset, int64_t count, bool transposed) {
  bool four = count == 4;
  std::string text = std::string("ldmatrix.sync.aligned.m8n8.") + (four ? "x4" : "x2") + (transposed ? ".trans" : "") +
                     ".shared.b16 " + (four ? "{$0, $1, $2, $3}, " : "{$0, $1}, ") + addressText(count, offset) + ";";
  std::string name = std::string("loadMatrices") + (four ? "4" : "2") + (transposed ? "Transposed" : "");
  return loadWords(*this, name, text, address, count);
}

Value Ptx::loadSharedFloat(Value address, int64_t offset) {
  return assembly("loadSharedFloat", b.getF32Type(), "ld.shared.f32 $0, " + addressText(1, offset) + ";", "fr",
                  address);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The accumulators that a product of a warp, the intrinsic `name`, gives: as many as it takes, the last `count`
/// operands.
static SmallVector<Value> callProduct(Ptx &ptx, StringRef name, ValueRange operands, size_t count) {
  Type result = LLVM::LLVMStructType::getLiteral(ptx.b.getContext(), SmallVector<Type>(count, ptx.b.getF32Type()));
  auto call = LLVM::CallIntrinsicOp::create(ptx.b, ptx.loc, result, ptx.b.getStringAttr(name), operands);
  return elementsOf(ptx, call.getResult(0), count);
}

SmallVector<Value> Ptx::warpProduct(Type element, ValueRange left, ValueRange right, ValueRange acc) {
  SmallVector<Value> operands;
  for (ValueRange words : {left, right})
    for (Value word : words)
      operands.push_back(element.isF16() ? LLVM::BitcastOp::create(b, loc, VectorType::get(2, b.getF16Type()), word)
                                         : word);
  operands.append(acc.begin(), acc.end());
  StringRef name = element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32" : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
  return callProduct(*this, name, operands, acc.size());
}

SmallVector<Value> Ptx::warpProductTf32(ValueRange left, ValueRange right, ValueRange acc) {
  SmallVector<Value> operands(left.begin(), left.end());
  operands.append(right.begin(), right.end());
  operands.append(acc.begin(), acc.end());
  return callProduct(*this, "llvm.nvvm.mma.m16n8k8.row.col.tf32", operands, acc.size());
}

std::array<Value, 3> Ptx::splitFloats(Value low, Value high) {
  // Eight bits each. Rounded to nearest, parts are half as large as cut off, and so is what products leave out, which
  // is as often too much as too little.
  constexpr int32_t upperHalf = ~0xffff;
  auto toWord = [&](Value x) -> Value { return arith::BitcastOp::create(b, loc, b.getI32Type(), x); };
  auto toFloat = [&](Value word) -> Value { return arith::BitcastOp::create(b, loc, b.getF32Type(), word); };
  Value lowRest = toFloat(low), highRest = toFloat(high);
  auto takeOff = [&](Value part) {
    lowRest = arith::SubFOp::create(b, loc, lowRest, toFloat(shiftLeft(part, 16)));
    highRest = arith::SubFOp::create(b, loc, highRest, toFloat(bitAnd(part, upperHalf)));
    return part;
  };
  Value first = takeOff(packFinite(lowRest, highRest)), second = takeOff(pack(b.getBF16Type(), lowRest, highRest));
  // Of eight bytes, those of the second operand are 4 to 7.
  return {first, second, permuteBytes(toWord(lowRest), toWord(highRest), i32(0x7632))};
}

Value Ptx::roundToTf32(Value word) {
  // Tensor cores drop the bits after the eleventh. A product with this adds half a unit of the eleventh to the mean
  // mantissa, so that dropping rounds to within 0.7 units. It takes one instruction, where `cvt.rna.tf32` takes two,
  // and NaN stays NaN.
  constexpr float factor = 1 + 0x1p-11F / 1.4427F;
  Value x = arith::BitcastOp::create(b, loc, b.getF32Type(), word);
  return arith::BitcastOp::create(b, loc, b.getI32Type(), arith::MulFOp::create(b, loc, x, f32(factor)));
}

Value Ptx::addInPlace(Value a, Value b) {
  return assembly("addInPlace", this->b.getF32Type(), "add.rn.f32 $0, $1, $2;", "fff", {a, b});
}
