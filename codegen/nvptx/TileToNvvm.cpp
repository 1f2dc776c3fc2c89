//===- TileToNvvm.cpp - Tile programs to kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuScheduleParts.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/RoleEmitter.h"
#include "dialect/attn/AttnAttrs.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attnc::nvptx {
#define GEN_PASS_DEF_TILETONVVM
#include "codegen/nvptx/Passes.h.inc"
} // namespace attnc::nvptx

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// The name of what blocks are given as shared memory.
static constexpr llvm::StringLiteral sharedName = "attnc_shared";

/// Shared memory whose size a launch chooses.
static LLVM::GlobalOp getShared(ModuleOp module) {
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(sharedName))
    return global;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  return LLVM::GlobalOp::create(builder, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External,
                                sharedName, Attribute(), tile::SharedLayout::alignment, sharedSpace);
}

/// Where this thread stands; `firstWarpgroup` of the block's warpgroups is its role's first, and each has `rows` rows,
/// the same as others where they share them.
static Place findPlace(Ptx &ptx, Value threadId, Value warpgroup, int64_t firstWarpgroup, int64_t rows) {
  Place place;
  place.warpgroup = ptx.sub(warpgroup, ptx.i32(firstWarpgroup));
  place.thread = ptx.bitAnd(threadId, warpgroupThreads - 1);
  place.warp = ptx.shiftRight(place.thread, 5);
  place.lane = ptx.bitAnd(threadId, 31);
  Value rowOfWarp = ptx.add(ptx.mul(place.warp, rows / warpsOfWarpgroup), ptx.shiftRight(place.lane, 2));
  place.row = ptx.add(ptx.mul(place.warpgroup, rows), rowOfWarp);
  place.column = ptx.shiftLeft(ptx.bitAnd(place.lane, lanesOfRow - 1), 1);
  place.isLeader = ptx.equal(place.thread, 0);
  // What code that people read calls them.
  auto name = [&](Value value, StringRef text) {
    value.setLoc(NameLoc::get(ptx.b.getStringAttr(text), value.getLoc()));
  };
  name(place.warpgroup, "warpgroup");
  name(place.thread, "thread");
  name(place.warp, "warp");
  name(place.lane, "lane");
  name(place.row, "row");
  name(place.column, "column");
  name(place.isLeader, "is_leader");
  return place;
}

namespace {

/// Emits the kernel of one program.
class KernelEmitter {
public:
  KernelEmitter(tile::ProgramOp program, OpBuilder &builder)
      : program(program), abi(builder, program), ptx(builder, program.getLoc()) {}

  LogicalResult emit();

private:
  LogicalResult emitRoles();
  LogicalResult emitRoles(ArrayRef<tile::RoleOp> roles, int64_t firstWarpgroup);
  LogicalResult emitWithoutRoles();
  void awaitKernelBefore();
  void startKernelAfter();

  tile::ProgramOp program;
  KernelAbi abi;
  Ptx ptx;
  Value base, threadId, warpgroup;
};

} // namespace

/// Warpgroups that compute whose roles stand before `role`.
static int64_t countConsumersBefore(tile::RoleOp role) {
  int64_t warpgroups = 0;
  for (Operation *op = role->getPrevNode(); op; op = op->getPrevNode())
    if (auto before = dyn_cast<tile::RoleOp>(op); before && before.getKind() != tile::RoleKind::Producer)
      warpgroups += static_cast<int64_t>(before.getWarpgroups());
  return warpgroups;
}

/// Whether threads of `role` get registers that others give away: those of a reducer may have more than they start
/// with, or fewer.
static bool takesRegisters(tile::RoleOp role) {
  if (role.getKind() != tile::RoleKind::Reducer)
    return role.getKind() == tile::RoleKind::Consumer;
  auto program = role->getParentOfType<tile::ProgramOp>();
  auto target = role->getParentOfType<ModuleOp>()->getAttrOfType<attn::GpuTargetAttr>(attn::targetAttrName);
  return target && static_cast<int64_t>(role.getRegisters()) >
                       attnc::gpu::getRegistersAtStart(target, program.getPipelineAttr().countWarpgroups());
}

/// Emits what the warpgroups from `firstWarpgroup` on do: one role, or the producers that share one.
LogicalResult KernelEmitter::emitRoles(ArrayRef<tile::RoleOp> roles, int64_t firstWarpgroup) {
  OpBuilder &b = ptx.b;
  tile::RoleOp any = roles.front();
  bool produces = any.getKind() == tile::RoleKind::Producer;
  ptx.setRegisters(any.getRegisters(), takesRegisters(any));
  for (tile::RoleOp role : roles) {
    EmitContext context(b, ptx.loc, abi, program);
    context.firstConsumer = countConsumersBefore(role);
    context.place = findPlace(ptx, threadId, warpgroup, firstWarpgroup, context.warpgroupRows);
    OpBuilder::InsertionGuard guard(b);
    if (produces) {
      // One thread starts all copies; a warp shares the loads of what decides about them, pages among it, and clears
      // rows.
      context.wholeWarp = role.getWarp().has_value();
      role.walk([&](tile::MinMaxOp) { context.wholeWarp = true; });
      role.walk([&](tile::PutOp put) { context.wholeWarp |= put.getPages() || tile::mayClearRows(put); });
      Value runs = context.wholeWarp ? ptx.equal(context.place.warp, static_cast<int64_t>(role.getWarp().value_or(0)))
                                     : ptx.equal(threadId, firstWarpgroup * warpgroupThreads);
      auto some = scf::IfOp::create(b, ptx.loc, runs);
      b.setInsertionPoint(some.thenBlock()->getTerminator());
    }
    if (failed(RoleEmitter(context, base, role).emit()))
      return failure();
  }
  return success();
}

LogicalResult KernelEmitter::emit() {
  OpBuilder &b = ptx.b;
  LLVM::GlobalOp shared = getShared(program->getParentOfType<ModuleOp>());
  Value pointer = LLVM::AddressOfOp::create(b, ptx.loc, shared);
  base = LLVM::PtrToIntOp::create(b, NameLoc::get(b.getStringAttr("shared"), ptx.loc), b.getI32Type(), pointer);
  startKernelAfter();
  threadId = ptx.threadId();
  warpgroup = ptx.uniform(ptx.shiftRight(threadId, 7));
  if (program.getPipelineAttr().getStaging() == attn::Staging::Tma)
    return emitRoles();
  return emitWithoutRoles();
}

/// A kernel that starts early waits for the one before it in the launch, and sees what that has written
/// (PTX ISA 9.7.13.13). Launched in the plain way it goes on at once.
void KernelEmitter::awaitKernelBefore() {
  if (abi.startsEarly())
    ptx.assembly("awaitKernelBefore", {}, "griddepcontrol.wait;", "", {});
}

/// Blocks of the kernel after this one in the launch may take what room there is, once all of this one's have said so
/// (PTX ISA 9.7.13.13).
void KernelEmitter::startKernelAfter() {
  if (program->hasAttr(tile::startsNextAttrName))
    NVVM::GriddepcontrolOp::create(ptx.b, ptx.loc, NVVM::GridDepActionKind::launch_dependents);
}

/// All warpgroups do the same, on the tile that has the block's number.
LogicalResult KernelEmitter::emitWithoutRoles() {
  OpBuilder &b = ptx.b;
  awaitKernelBefore();
  EmitContext context(b, ptx.loc, abi, program);
  context.place = findPlace(ptx, threadId, warpgroup, /*firstWarpgroup=*/0, context.warpgroupRows);
  if (context.sharesRows())
    context.place.row = context.findSharedRow();
  context.scalars[program.getTile()] = ptx.blockId();
  if (failed(RoleEmitter(context, base, program).emitProgram(program)))
    return failure();
  b.setInsertionPointToEnd(&abi.getFunction().getBody().back());
  LLVM::ReturnOp::create(b, ptx.loc, ValueRange());
  abi.setLaunch(program.getPipelineAttr().getConsumers() * warpgroupThreads, *program.getSharedBytes(),
                /*persistent=*/false);
  return success();
}

LogicalResult KernelEmitter::emitRoles() {
  OpBuilder &b = ptx.b;
  abi.getFunction().setPassthroughAttr(b.getStrArrayAttr(nvptx::rolesAttrName));
  auto first = scf::IfOp::create(b, ptx.loc, ptx.equal(threadId, 0));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first.thenBlock()->getTerminator());
    RingEmitter::initBarriers(ptx, base, program);
  }
  awaitKernelBefore();
  ptx.blockSync();

  // Each warpgroup's role is one branch of a chain: registers move between warpgroups only so.
  SmallVector<tile::RoleOp> all(program.getBody().getOps<tile::RoleOp>());
  int64_t warpgroups = 0;
  OpBuilder::InsertionGuard guard(b);
  for (ArrayRef<tile::RoleOp> left = all; !left.empty();) {
    // Producers that share a warpgroup stand together.
    auto shares = [](tile::RoleOp role) { return role.getWarp().value_or(0) > 0; };
    ArrayRef<tile::RoleOp> roles = left.take_front(1 + left.drop_front().take_while(shares).size());
    left = left.drop_front(roles.size());
    tile::RoleOp any = roles.front();
    int64_t next = warpgroups + static_cast<int64_t>(any.getWarpgroups());
    scf::IfOp branch;
    if (!left.empty()) {
      branch = scf::IfOp::create(b, ptx.loc, ptx.less(warpgroup, ptx.i32(next)), /*withElseRegion=*/true);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    if (failed(emitRoles(roles, warpgroups)))
      return failure();
    if (branch)
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
    warpgroups = next;
  }
  b.setInsertionPointToEnd(&abi.getFunction().getBody().back());
  LLVM::ReturnOp::create(b, ptx.loc, ValueRange());
  abi.setLaunch(warpgroups * warpgroupThreads, *program.getSharedBytes(), /*persistent=*/true);
  return success();
}

namespace {
struct TileToNvvm : nvptx::impl::TileToNvvmBase<TileToNvvm> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      if (!program.getPipeline() || !program.getSharedBytes()) {
        program.emitOpError("expected a pipeline and shared memory laid out; run the tile passes for a GPU first");
        return signalPassFailure();
      }
      OpBuilder builder(program);
      if (failed(KernelEmitter(program, builder).emit()))
        return signalPassFailure();
      program.erase();
    }
  }
};
} // namespace
