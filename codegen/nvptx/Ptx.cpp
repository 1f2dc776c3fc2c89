//===- Ptx.cpp - Instructions of NVIDIA GPUs --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Ptx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc::nvptx;

Value Ptx::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}
Value Ptx::i64(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
Value Ptx::f32(float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
Value Ptx::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value Ptx::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value Ptx::mul(Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, i32(y)); }
Value Ptx::bitAnd(Value x, int64_t mask) { return arith::AndIOp::create(b, loc, x, i32(mask)); }
Value Ptx::shiftRight(Value x, int64_t bits) { return arith::ShRUIOp::create(b, loc, x, i32(bits)); }
Value Ptx::shiftLeft(Value x, int64_t bits) { return arith::ShLIOp::create(b, loc, x, i32(bits)); }
Value Ptx::bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
Value Ptx::shiftOnes(Value bits) {
  return assembly("shiftOnes", b.getI32Type(), "shl.b32 $0, -1, $1;", "rr", bits, /*sideEffects=*/false);
}
Value Ptx::testBit(Value x, int64_t bit) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bitAnd(x, int64_t(1) << bit), i32(0));
}
Value Ptx::magnitude(Value x) { return LLVM::AbsOp::create(b, loc, x.getType(), x, /*is_int_min_poison=*/true); }

Value Ptx::equal(Value x, int64_t y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, i32(y)); }
Value Ptx::less(Value x, Value y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y); }
Value Ptx::select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

Value Ptx::join(bool isMax, Value x, Value y) {
  return isMax ? arith::MaxNumFOp::create(b, loc, x, y).getResult() : arith::AddFOp::create(b, loc, x, y).getResult();
}
Value Ptx::widen(Value x) {
  return x.getType().isInteger(64) ? x : arith::ExtSIOp::create(b, loc, b.getI64Type(), x).getResult();
}

Value Ptx::sharedPointer(Value address) {
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), address);
}

Value Ptx::shift(Value address, Type unit, LLVM::GEPArg by) {
  return LLVM::GEPOp::create(b, loc, address.getType(), unit, address, ArrayRef{by});
}

void attnc::nvptx::setName(LLVM::InlineAsmOp op, const Twine &name) {
  op->setLoc(NameLoc::get(StringAttr::get(op.getContext(), name), op.getLoc()));
}

Value Ptx::assembly(StringRef name, Type result, StringRef text, StringRef constraints, ValueRange operands,
                    bool sideEffects) {
  std::string list;
  llvm::raw_string_ostream os(list);
  for (auto [number, letter] : llvm::enumerate(constraints))
    os << (number ? "," : "") << (result && number == 0 ? "=" : "") << letter;
  bool writes = sideEffects;
  if (writes)
    os << (constraints.empty() ? "" : ",") << "~{memory}";
  auto op = LLVM::InlineAsmOp::create(b, loc, result ? TypeRange(result) : TypeRange(), operands, text, list,
                                      sideEffects, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                      LLVM::AsmDialectAttr(), ArrayAttr());
  setName(op, name);
  return result ? op.getResult(0) : Value();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value Ptx::threadId() { return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()); }
Value Ptx::blockId() { return NVVM::BlockIdXOp::create(b, loc, b.getI32Type()); }
Value Ptx::gridSize() { return NVVM::GridDimXOp::create(b, loc, b.getI32Type()); }

Value Ptx::afresh(Value x) {
  bool isWord = x.getType().isInteger(32);
  return assembly("afresh", x.getType(), isWord ? "mov.b32 $0, $1;" : "mov.b64 $0, $1;", isWord ? "rr" : "ll", x);
}

Value Ptx::opaque(Value x) {
  return assembly("opaque", b.getI32Type(), "mov.b32 $0, $1;", "rr", x, /*sideEffects=*/false);
}

Value Ptx::uniform(Value x) { return shuffleFrom(x, i32(0)); }

Value Ptx::shuffleFrom(Value x, Value lane) {
  return NVVM::ShflOp::create(b, loc, b.getI32Type(), i32(-1), x, lane, i32(0x1f), NVVM::ShflKind::idx, UnitAttr());
}

Value Ptx::shuffle(Value x, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, x.getType(), i32(-1), x, i32(mask), i32(0x1f), NVVM::ShflKind::bfly, UnitAttr());
}

Value Ptx::shuffleInteger(Value x, int64_t mask) {
  if (x.getType().isInteger(32))
    return shuffle(x, mask);
  Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), x);
  Value high = arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, x, i64(32)));
  auto extend = [&](Value word) -> Value { return arith::ExtUIOp::create(b, loc, b.getI64Type(), word); };
  Value shifted = arith::ShLIOp::create(b, loc, extend(shuffle(high, mask)), i64(32));
  return arith::OrIOp::create(b, loc, extend(shuffle(low, mask)), shifted);
}

Value Ptx::permuteBytes(Value x, Value y, Value selector) {
  return NVVM::PermuteOp::create(b, loc, b.getI32Type(), x, y, selector, NVVM::PermuteMode::DEFAULT);
}

static Value joinWarp(Ptx &ptx, Value x, NVVM::ReduxKind kind) {
  return NVVM::ReduxOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), x, kind, ptx.i32(-1));
}

Value Ptx::minOverLanes(Value x) { return joinWarp(*this, x, NVVM::ReduxKind::MIN); }
Value Ptx::maxOverLanes(Value x) { return joinWarp(*this, x, NVVM::ReduxKind::MAX); }

Value Ptx::voteAny(Value condition) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), i32(-1), condition, NVVM::VoteSyncKind::any);
}

Value Ptx::ballot(Value condition) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), i32(-1), condition, NVVM::VoteSyncKind::ballot);
}

void Ptx::setRegisters(int64_t count, bool increase) {
  NVVM::SetMaxRegisterOp::create(b, loc, static_cast<uint32_t>(count),
                                 increase ? NVVM::SetMaxRegisterAction::increase
                                          : NVVM::SetMaxRegisterAction::decrease);
}

void Ptx::barrierSync(Value id, int64_t threads) {
  NVVM::BarrierOp::create(b, loc, TypeRange(), id, i32(threads), NVVM::BarrierReductionAttr(), Value());
}

void Ptx::barrierArrive(Value id, int64_t threads) {
  // NVVM's operation would be written as text again.
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{id, i32(threads)});
}

void Ptx::blockSync() { NVVM::Barrier0Op::create(b, loc); }

void Ptx::warpSync() { NVVM::SyncWarpOp::create(b, loc, i32(-1)); }

Value Ptx::loadIf(Type type, Value address, Value condition) {
  unsigned bits = type.getIntOrFloatBitWidth();
  // Bytes come in registers of 16 bits.
  Type held = b.getIntegerType(std::max(16U, bits));
  const char *letter = bits <= 16 ? "hlb" : bits == 32 ? "rlb" : "llb";
  std::string zero = "mov.b" + std::to_string(held.getIntOrFloatBitWidth()) + " $0, 0;\n";
  std::string load = "@$2 ld.global." + std::string(bits == 8 ? "u8" : "b" + std::to_string(bits)) + " $0, [$1];";
  Value word = assembly("loadIf", held, zero + load, letter, {address, condition});
  if (bits < 16)
    word = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), word);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, word).getResult() : word;
}

void Ptx::addBytesOfWarp(Value shared, Value global, int64_t bytes, Value condition) {
  assembly("addBytesOfWarp", {},
           "{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nand.pred p, p, $3;\n"
           "@p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], $2;\n"
           "@p cp.async.bulk.commit_group;\n}",
           "lrrb", {global, shared, i32(bytes), condition});
}

void Ptx::addFloatIf(Value condition, Value global, Value number) {
  assembly("addFloatIf", {}, "@$0 red.global.add.f32 [$1], $2;", "blf", {condition, global, number});
}

void Ptx::addFloat(Value global, Value number) {
  assembly("addFloat", {}, "red.global.add.f32 [$0], $1;", "lf", {global, number});
}

Value Ptx::seePlace(Value global) {
  return assembly("seePlace", b.getI32Type(), "ld.relaxed.gpu.global.s32 $0, [$1];", "rl", {global});
}

void Ptx::waitForPlace(Value global, Value least, bool acquires) {
  StringRef order = acquires ? "acquire" : "relaxed";
  assembly(acquires ? "acquirePlace" : "waitForPlace", {},
           "{\n.reg .pred p;\n.reg .s32 place;\nsetp.lt.s32 p, $1, 1;\n@p bra "
           "attnc_done_${:uid};\nattnc_wait_${:uid}:\nld." +
               order.str() +
               ".gpu.global.s32 place, [$0];\nsetp.lt.s32 p, place, $1;\n@p bra attnc_wait_${:uid};\n"
               "attnc_done_${:uid}:\n}",
           "lr", {global, least});
}

void Ptx::leavePlaceIf(Value condition, Value global, Value place, bool releases) {
  StringRef order = releases ? "release" : "relaxed";
  assembly(releases ? "releasePlaceIf" : "leavePlaceIf", {}, "@$0 st." + order.str() + ".gpu.global.s32 [$1], $2;",
           "blr", {condition, global, place});
}

void Ptx::loadBytes(Value shared, Value global, Value barrier, int64_t bytes) {
  assembly("loadBytes", {}, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
           "rlrr", {shared, global, i32(bytes), barrier});
}

void Ptx::storeFloats(Value address, ArrayRef<Value> floats) {
  auto type = VectorType::get(static_cast<int64_t>(floats.size()), b.getF32Type());
  Value vector = LLVM::UndefOp::create(b, loc, type);
  for (auto [n, value] : llvm::enumerate(floats))
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, i32(static_cast<int64_t>(n)));
  LLVM::StoreOp::create(b, loc, vector, address, static_cast<unsigned>(floats.size() * sizeof(float)));
}

SmallVector<Value> Ptx::loadFloats(Value address, int64_t count) {
  Value vector = LLVM::LoadOp::create(b, loc, VectorType::get(count, b.getF32Type()), address,
                                      static_cast<unsigned>(count * sizeof(float)));
  SmallVector<Value> floats;
  for (int64_t n = 0; n < count; ++n)
    floats.push_back(LLVM::ExtractElementOp::create(b, loc, vector, i32(n)));
  return floats;
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

void Ptx::initBarrier(Value address, int64_t arrivals) {
  assembly("initBarrier", {}, "mbarrier.init.shared::cta.b64 [$0], $1;", "rr", {address, i32(arrivals)});
}

void Ptx::fenceBarrierInit() { NVVM::FenceMbarrierInitOp::create(b, loc); }

void Ptx::expectBytes(Value barrier, int64_t bytes) {
  assembly("expectBytes", {}, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "rr", {barrier, i32(bytes)});
}

void Ptx::arrive(Value barrier) { assembly("arrive", {}, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r", barrier); }

void Ptx::arriveIf(Value barrier, Value condition) {
  Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), condition);
  assembly("arriveIf", {}, "{\n.reg .pred p;\nsetp.ne.b32 p, $1, 0;\n@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
           "rr", {barrier, word});
}

void Ptx::waitBarrier(Value barrier, Value parity) {
  assembly("waitBarrier", {},
           "{\n.reg .pred p;\nattnc_wait_${:uid}:\n"
           "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
           "@p bra attnc_done_${:uid};\nbra attnc_wait_${:uid};\nattnc_done_${:uid}:\n}",
           "rr", {barrier, parity});
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value Ptx::loadShared(Value address) {
  return assembly("loadShared", b.getI32Type(), "ld.shared.b32 $0, [$1];", "rr", address);
}

void Ptx::storeMatrices(Value address, ValueRange words) {
  SmallVector<Value> operands{address};
  operands.append(words.begin(), words.end());
  bool four = words.size() == 4;
  assembly(four ? "storeMatrices4" : "storeMatrices2", {},
           four ? "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};"
                : "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$0], {$1, $2};",
           four ? "rrrrr" : "rrr", operands);
}

void Ptx::fenceAsync() {
  NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Tensor copies
//===----------------------------------------------------------------------===//

/// "{$first, $first+1, ...}" for `count` coordinates.
static std::string coordinateList(int64_t first, int64_t count) {
  std::string list = "{";
  for (int64_t n = 0; n < count; ++n)
    list += (n ? ", $" : "$") + std::to_string(first + n);
  return list + "}";
}

void Ptx::loadTensor(Value shared, Value map, Value barrier, ValueRange coordinates) {
  SmallVector<Value> operands{shared, map, barrier};
  operands.append(coordinates.begin(), coordinates.end());
  std::string rank = std::to_string(coordinates.size());
  assembly("loadTensor" + rank + "d", {},
           "cp.async.bulk.tensor." + rank + "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, " +
               coordinateList(3, coordinates.size()) + "], [$2];",
           "rlr" + std::string(coordinates.size(), 'r'), operands);
}

void Ptx::storeTensor(Value shared, Value map, ValueRange coordinates) {
  SmallVector<Value> operands{shared, map};
  operands.append(coordinates.begin(), coordinates.end());
  std::string rank = std::to_string(coordinates.size());
  assembly("storeTensor" + rank + "d", {},
           "cp.async.bulk.tensor." + rank + "d.global.shared::cta.bulk_group [$1, " +
               coordinateList(2, coordinates.size()) + "], [$0];",
           "rl" + std::string(coordinates.size(), 'r'), operands);
}

void Ptx::commitStores() { NVVM::CpAsyncBulkCommitGroupOp::create(b, loc); }

void Ptx::waitStores(bool readOnly) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, /*group=*/0, readOnly ? b.getUnitAttr() : UnitAttr());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Ptx::fenceProducts() { NVVM::WgmmaFenceAlignedOp::create(b, loc); }

void Ptx::commitProducts() { NVVM::WgmmaGroupSyncAlignedOp::create(b, loc); }

/// The results of an instruction with several f32 results.
static SmallVector<Value> unpack(OpBuilder &b, Location loc, LLVM::InlineAsmOp op, size_t count) {
  SmallVector<Value> values;
  for (size_t n = 0; n < count; ++n)
    values.push_back(LLVM::ExtractValueOp::create(b, loc, op.getResult(0), static_cast<int64_t>(n)));
  return values;
}

/// An LLVM structure of `count` f32.
static Type floats(OpBuilder &b, size_t count) {
  return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, b.getF32Type()));
}

SmallVector<Value> Ptx::loadSharedPair(Value address, int64_t offset) {
  std::string text = "ld.shared.v2.f32 {$0, $1}, [$2";
  auto op = LLVM::InlineAsmOp::create(b, loc, TypeRange(floats(b, 2)), address,
                                      text + (offset ? "+" + std::to_string(offset) : "") + "];", "=f,=f,r,~{memory}",
                                      /*has_side_effects=*/true, false, LLVM::tailcallkind::TailCallKind::None,
                                      LLVM::AsmDialectAttr(), ArrayAttr());
  setName(op, "loadSharedPair");
  return unpack(b, loc, op, 2);
}

SmallVector<Value> Ptx::waitProducts(int64_t pending, ValueRange written) {
  std::string constraints;
  for (size_t n = 0; n < written.size(); ++n)
    constraints += "=f,";
  for (size_t n = 0; n < written.size(); ++n)
    constraints += std::to_string(n) + ",";
  auto op = LLVM::InlineAsmOp::create(
      b, loc, TypeRange(floats(b, written.size())), written,
      "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", constraints + "~{memory}",
      /*has_side_effects=*/true, false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  setName(op, "waitProducts" + std::to_string(pending));
  return unpack(b, loc, op, written.size());
}

namespace {

/// Collects operands of a piece of assembly: their constraints, and the numbers that its text calls them by.
struct AssemblyOperands {
  SmallVector<Value> values;
  std::string constraints;
  size_t next = 0;

  /// The name of `value` in the text, the same each time.
  std::string add(Value value) {
    auto [place, isNew] = names.try_emplace(value, next);
    if (isNew) {
      values.push_back(value);
      constraints += "r,";
      ++next;
    }
    return "$" + std::to_string(place->second);
  }

private:
  llvm::SmallDenseMap<Value, size_t> names;
};

} // namespace

SmallVector<Value> Ptx::product(int64_t n, Type element, ArrayRef<ProductStep> steps, ValueRange acc, bool transposed,
                                bool leftTransposed) {
  // The high words of descriptors are constant: 128-byte swizzle, 1024 bytes between groups of eight rows (9.7.15.5.1).
  constexpr const char *high = "0x40000040";
  size_t count = n / 2;
  std::string type = element.isBF16() ? "bf16" : "f16", registers;
  AssemblyOperands operands;
  for (size_t i = 0; i < count; ++i) {
    // Written while operands of later steps are still to be read.
    operands.constraints += "=&f,";
    registers += (i ? ", $" : "$") + std::to_string(i);
  }
  for (auto [number, value] : llvm::enumerate(acc)) {
    operands.constraints += std::to_string(number) + ",";
    operands.values.push_back(value);
  }
  operands.next = count + acc.size();
  std::string text = "{\n.reg .pred p;\n.reg .b32 word;\n.reg .b64 da, db;\nsetp.ne.b32 p, " +
                     std::string(acc.empty() ? "0" : "1") + ", 0;\n";
  auto descriptor = [&](StringRef name, Value word, int64_t offset) {
    std::string low = operands.add(word);
    if (offset) {
      text += "add.s32 word, " + low + ", " + std::to_string(offset) + ";\n";
      low = "word";
    }
    text += ("mov.b64 " + name + ", {" + low + ", " + high + "};\n").str();
  };
  for (auto [number, step] : llvm::enumerate(steps)) {
    std::string left = "da";
    if (step.a.size() == 4) {
      left = "{";
      for (auto [part, value] : llvm::enumerate(step.a))
        left += (part ? ", " : "") + operands.add(value);
      left += "}";
    } else {
      descriptor("da", step.a.front(), step.aOffset);
    }
    descriptor("db", step.b, step.bOffset);
    if (number == 1 && acc.empty())
      text += "setp.ne.b32 p, 1, 0;\n";
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k16.f32." + type + "." + type + " {" +
            registers + "}, " + left + ", db, p, 1, 1" +
            (step.a.size() == 4 ? ""
             : leftTransposed   ? ", 1"
                                : ", 0") +
            (transposed ? ", 1" : ", 0") + ";\n";
  }
  auto op = LLVM::InlineAsmOp::create(b, loc, TypeRange(floats(b, count)), operands.values, text + "}",
                                      operands.constraints + "~{memory}", /*has_side_effects=*/true, false,
                                      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  setName(op, "wgmmaM64N" + std::to_string(n) + (element.isBF16() ? "Bf16" : "F16"));
  return unpack(b, loc, op, count);
}

void Ptx::pin(Value argument) {
  assembly("pin", {},
           "{\n.reg .pred p;\nsetp.ne.b32 p, $0, -1${:uid};\n@p bra attnc_pinned_${:uid};\n"
           "attnc_never_${:uid}:\nnanosleep.u32 64;\nbra attnc_never_${:uid};\nattnc_pinned_${:uid}:\n}",
           "r", argument);
}

Value Ptx::packFinite(Value low, Value high) {
  return assembly("packBf16Finite", b.getI32Type(), "cvt.rn.satfinite.bf16x2.f32 $0, $1, $2;", "rff", {high, low},
                  /*sideEffects=*/false);
}

Value Ptx::pack(Type element, Value low, Value high) {
  return assembly(element.isBF16() ? "packBf16" : "packF16", b.getI32Type(),
                  element.isBF16() ? "cvt.rn.bf16x2.f32 $0, $1, $2;" : "cvt.rn.f16x2.f32 $0, $1, $2;", "rff",
                  {high, low}, /*sideEffects=*/false);
}
