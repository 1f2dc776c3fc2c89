//===- AttnToTile.cpp - Tile programs of kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Online softmax over tiles of keys: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao,
// Fu, Ermon, Rudra and Re, "FlashAttention" (2022), section 3.1.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/attn-to-tile/BackwardPrograms.h"
#include "passes/attn-to-tile/Passes.h"
#include "passes/attn-to-tile/TileBuilder.h"
#include "passes/attn/ScoreRange.h"
#include <cmath>
#include <limits>

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNTOTILE
#include "passes/attn-to-tile/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Writes the program of one kernel by one of its schedules.
class ProgramWriter {
public:
  ProgramWriter(ModuleOp module, const KernelFunction &function, KernelOpInterface kernel, ScheduleAttr schedule,
                StringRef name)
      : b(module, function, kernel, schedule, name), kernel(kernel), builder(b.builder), loc(b.loc),
        listed(hasBlockMask(kernel, schedule)) {}

  void write();

private:
  /// Carried from tile to tile of keys: accumulated output (absent where none is returned), row maxima (absent where
  /// weights are taken relative to one number), row sums.
  struct State {
    Value out, max, sum;
    SmallVector<Value> values() const {
      return llvm::to_vector(llvm::make_filter_range(ArrayRef{out, max, sum}, [](Value value) { return !!value; }));
    }
    /// The state of the form of this one that holds `values`.
    State with(ValueRange values) const {
      State state;
      for (auto [from, to] : {std::pair(out, &state.out), std::pair(max, &state.max), std::pair(sum, &state.sum)})
        if (from) {
          *to = values.front();
          values = values.drop_front();
        }
      return state;
    }
  };

  void chooseUnit();
  void chooseReference();
  State initialState();
  std::pair<Value, Value> sinkState();
  Value logits(Value query, Value j, const ColumnBounds &bounds, bool masked);
  bool rescalesOnGrowth() { return b.getPipeline() && b.getPipeline().getRescaling() == Rescaling::OnGrowth; }
  State step(Value query, Value j, State state, const ColumnBounds &bounds, bool masked);
  void writeForward(ForwardOp op, State state);
  void writeWeights(WeightsOp op, Value query, State state);
  tile::SoftmaxEndOp finish(State state);
  Value divideRows(Value tile, Value factors, Type element);

  /// The values, where what comes of them is wanted.
  Value valueOrNull() {
    auto forward = dyn_cast<ForwardOp>(kernel.getOperation());
    return forward && b.isReturned(forward.getOut()) ? forward.getValue() : Value();
  }
  /// Of queries, keys and values.
  Type elementType() { return cast<RankedTensorType>(kernel.getQuery().getType()).getElementType(); }
  Value constant(float value) { return b.splat(b.rowType(builder.getF32Type()), value); }
  Value equals(Value x, float value) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, constant(value));
  }

  TileBuilder b;
  KernelOpInterface kernel;
  OpBuilder &builder;
  Location loc;
  ExponentUnit unit;
  /// Whether raw products serve as logits: no score region, and a positive scale that `factor` takes in.
  bool rawLogits = false;
  /// What all weights are taken relative to, in place of row maxima, where scores have limits that allow it.
  std::optional<float> reference;
  Value greatestSink; ///< of each row, where it may be beyond f32 in the unit of logits
  bool listed;        ///< whether a block mask lists the steps
};

} // namespace

/// f32 is exact first; narrower types lose more in their inputs than in a rounded log2(e).
void ProgramWriter::chooseUnit() {
  unit.octaves = !elementType().isF32();
  unit.factor = b.getScoreUnit() * unit.perNatural();
  if (b.getPipeline() && isa<ForwardOp>(kernel.getOperation()))
    unit.headroom = b.getPipeline().getHeadroom();
  if (!kernel.getScore().empty() || kernel.getScale())
    return;
  float scale = kernel.getLiteralScale();
  // A scale of 0 or below would turn maxima into minima.
  if (!(scale > 1e-20f))
    return;
  rawLogits = true;
  unit.factor = scale * unit.perNatural();
}

/// Row maxima keep weights in range. Scores with limits need none, and their weights leave no room for more headroom,
/// whatever the schedule says.
void ProgramWriter::chooseReference() {
  constexpr double place = 0.75;
  std::optional<ScoreRange> range = findNarrowRange(kernel);
  if (!b.getPipeline() || !range)
    return;
  reference = static_cast<float>((range->low + place * (range->high - range->low)) / b.getScoreUnit());
  unit.headroom = 0;
}

/// Maximum and sum of a row that has seen its sinks only (S6): they are logits in natural units.
std::pair<Value, Value> ProgramWriter::sinkState() {
  Value view = b.lookup(kernel.getSinks());
  auto type = cast<MemRefType>(view.getType());
  bool ofHeads = type.getRank() == 2;
  auto load = [&](int64_t n) -> Value {
    auto loadOf = [&](Value head) -> Value {
      SmallVector<Value> indices{b.index(n)};
      if (ofHeads)
        indices.insert(indices.begin(), head);
      Value sink = memref::LoadOp::create(builder, loc, view, indices);
      return sink.getType().isF32() ? sink
                                    : arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink).getResult();
    };
    return ofHeads ? b.gatherHeads(loadOf) : loadOf({});
  };
  // One number for the tile, or one for each of its rows.
  bool inRows = ofHeads && b.getHeads() > 1;
  auto number = [&](float value) { return inRows ? constant(value) : b.f32(value); };
  int64_t count = type.getShape().back();
  SmallVector<Value> sinks;
  for (int64_t n = 0; n < count; ++n)
    sinks.push_back(load(n));
  Value max = number(-infinity), sum = number(0);
  for (Value sink : sinks)
    max = arith::MaximumFOp::create(builder, loc, max, sink);
  // Sinks of -inf take nothing away; their differences from a maximum of -inf would be NaN (S7).
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, max, number(-infinity));
  Value finite = arith::SelectOp::create(builder, loc, none, number(0), max);
  for (Value sink : sinks) {
    Value distance = arith::SubFOp::create(builder, loc, sink, finite);
    Value exponent = arith::MulFOp::create(builder, loc, distance, number(unit.perNatural()));
    sum = arith::AddFOp::create(builder, loc, sum, unit.power(builder, loc, exponent));
  }
  if (unit.headroom)
    sum = arith::MulFOp::create(builder, loc, sum, number(std::exp2(-static_cast<float>(unit.headroom))));
  Value inUnits = arith::MulFOp::create(builder, loc, max, number(unit.perNatural() / unit.factor));
  // In a small unit, a large sink may be beyond f32: it still outweighs all logits, or none.
  if (unit.factor < unit.perNatural()) {
    constexpr float greatest = std::numeric_limits<float>::max();
    inUnits = arith::MinimumFOp::create(builder, loc, inUnits, number(greatest));
    inUnits = arith::MaximumFOp::create(builder, loc, inUnits, number(-greatest));
    inUnits = arith::SelectOp::create(builder, loc, none, max, inUnits);
    greatestSink = inRows ? max : b.broadcast(max);
  }
  return inRows ? std::pair(inUnits, sum) : std::pair(b.broadcast(inUnits), b.broadcast(sum));
}

ProgramWriter::State ProgramWriter::initialState() {
  State state;
  if (Value value = valueOrNull()) {
    int64_t dim = cast<RankedTensorType>(value.getType()).getShape().back();
    state.out = b.splat(b.tileType(dim, builder.getF32Type()), 0);
  }
  state.sum = constant(0);
  if (kernel.getSinks())
    std::tie(state.max, state.sum) = sinkState();
  else if (!reference)
    state.max = constant(-infinity);
  return state;
}

/// Logits of the query tile and the keys from j on.
Value ProgramWriter::logits(Value query, Value j, const ColumnBounds &bounds, bool masked) {
  Value keys = b.loadColumns(kernel.getKey(), j, /*masked=*/true);
  Value zero = b.splat(b.tileType(b.getColumns(), builder.getF32Type()), 0);
  Value scores = tile::MmaOp::create(builder, loc, query, keys, zero, /*transposed=*/true);
  if (!rawLogits)
    scores = b.buildScore(scores, j);
  return masked ? b.buildMask(scores, j, bounds) : scores;
}

ProgramWriter::State ProgramWriter::step(Value query, Value j, State state, const ColumnBounds &bounds, bool masked) {
  Value scores = logits(query, j, bounds, masked);
  Value max = reference ? constant(*reference) : state.max;
  tile::SoftmaxOp softmax = b.buildSoftmax(scores, max, state.sum, unit, j, elementType());
  softmax.setFixed(reference.has_value());
  softmax.setRescaleOnGrowth(!reference && rescalesOnGrowth());
  if (!reference)
    state.max = softmax.getNewMax();
  state.sum = softmax.getNewSum();
  if (state.out) {
    Value values = b.loadColumns(valueOrNull(), j, /*masked=*/false);
    if (!reference)
      state.out = b.scaleRows(state.out, softmax.getShrink(), builder.getF32Type(), rescalesOnGrowth());
    state.out = tile::MmaOp::create(builder, loc, softmax.getWeights(), values, state.out, /*transposed=*/false);
  }
  return state;
}

/// Reciprocal row sums and LSE. Rows past the queries of a padded sequence are empty (S11).
tile::SoftmaxEndOp ProgramWriter::finish(State state) {
  Value padding;
  if (kernel.getQueryLengths()) {
    Value one = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(b.rowType(builder.getI1Type()), true));
    padding = arith::XOrIOp::create(builder, loc, b.buildRowExists(), one);
  }
  Value max = reference ? constant(*reference) : state.max;
  auto end = tile::SoftmaxEndOp::create(builder, loc, max, state.sum, padding, greatestSink, unit);
  end.setApproximate(!elementType().isF32());
  return end;
}

/// Multiplies by reciprocal row sums. Rows past the queries of a padded sequence may hold anything.
Value ProgramWriter::divideRows(Value tile, Value factors, Type element) {
  bool hasPadding = static_cast<bool>(kernel.getQueryLengths());
  return b.scaleRows(tile, factors, element, /*mostlyOne=*/false, /*zeroDrops=*/hasPadding);
}

void ProgramWriter::writeForward(ForwardOp op, State state) {
  OpBuilder::InsertionGuard guard(builder);
  // A tile without rows has no keys either. On a GPU its results would take as long as others.
  if (Value holds = b.getGeometry().holds; holds && b.getPipeline()) {
    auto branch = scf::IfOp::create(builder, loc, holds);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  tile::SoftmaxEndOp end = finish(state);
  Type element = cast<RankedTensorType>(op.getOut().getType()).getElementType();
  if (state.out)
    b.storeRows(divideRows(state.out, end.getFactors(), element), op.getOut());
  if (b.isReturned(op.getLse()))
    b.storeRowVector(end.getLse(), op.getLse());
}

/// A second walk over the keys, now that maxima and sums are known; it visits all, since every weight is stored.
void ProgramWriter::writeWeights(WeightsOp op, Value query, State state) {
  Value factors = finish(state).getFactors(), max;
  if (reference) {
    max = constant(*reference);
  } else {
    // Rows that have kept nothing keep nothing here.
    max = arith::SelectOp::create(builder, loc, equals(state.max, -infinity), constant(0), state.max);
  }
  Type element = cast<RankedTensorType>(op.getWeights().getType()).getElementType();
  Value end = memref::DimOp::create(builder, loc, b.lookup(op.getKey()), 1);
  auto loop = scf::ForOp::create(builder, loc, b.index(0), end, b.index(b.getColumns()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value j = loop.getInductionVar(), zero = b.index(0);
  Value scores = logits(query, j, {zero, zero, zero, end}, /*masked=*/true);
  tile::SoftmaxOp softmax = b.buildSoftmax(scores, max, constant(0), unit, j, builder.getF32Type());
  softmax.setFixed(true);
  b.storeWeights(divideRows(softmax.getWeights(), factors, element), op.getWeights(), j);
}

void ProgramWriter::write() {
  chooseUnit();
  chooseReference();
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.buildBounds();
  Value query = b.loadRows(kernel.getQuery());
  State initial = initialState();
  auto loop = scf::ForOp::create(builder, loc, bounds.low, bounds.high, b.buildColumnStep(), initial.values());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value iv = loop.getInductionVar();
    if (listed)
      bounds.position = iv;
    State before = initial.with(loop.getRegionIterArgs());
    Value j = b.buildColumn(iv);
    scf::YieldOp::create(builder, loc, b.buildStep(j, before.values(), [&](bool masked) {
      return step(query, j, before, bounds, masked).values();
    }));
  }
  State state = initial.with(loop.getResults());
  if (auto forward = dyn_cast<ForwardOp>(kernel.getOperation()))
    writeForward(forward, state);
  else
    writeWeights(cast<WeightsOp>(kernel.getOperation()), query, state);
  tile::ReturnOp::create(builder, loc);
}

/// The program that runs before that of `kernel`, where its schedule wants one.
static void writeBlockMask(ModuleOp module, const KernelFunction &function, KernelOpInterface kernel,
                           ScheduleAttr schedule, StringRef name) {
  if (!hasBlockMask(kernel, schedule))
    return;
  TileBuilder b(module, function, kernel, schedule, name, ProgramKind::BlockMask);
  b.buildGeometry();
  b.buildBlockMask();
  tile::ReturnOp::create(b.builder, b.loc);
}

/// The programs of captured tensors that `schedule` is of, one for each.
static void writeCapturedGradients(ModuleOp module, const KernelFunction &function, BackwardOp op,
                                   ScheduleAttr schedule, StringRef name, StringRef from) {
  SmallVector<CapturedForm> forms;
  switch (schedule.getProgram()) {
  case Program::Dbias:
    forms = {CapturedForm::SharedTiles};
    break;
  case Program::Dbuckets:
    forms = {CapturedForm::Buckets};
    break;
  default:
    forms = {CapturedForm::QuerySums, CapturedForm::KeySums, CapturedForm::Sums, CapturedForm::Buckets};
  }
  for (const CapturedGradient &captured : getCapturedGradients(op, forms)) {
    std::string program =
        (name + "_" + stringifyProgram(schedule.getProgram()) + "_" + Twine(captured.number) + from).str();
    TileBuilder b(module, function, op, schedule, program, ProgramKind::Kernel, captured);
    writeCapturedGradient(b, op, captured);
  }
}

/// The programs of a backward that `schedule` is of; `from` ends their names.
static void writeGradient(ModuleOp module, const KernelFunction &function, BackwardOp op, ScheduleAttr schedule,
                          StringRef name, StringRef from) {
  if (llvm::is_contained({Program::Dbias, Program::Dbuckets, Program::Dsums}, schedule.getProgram()))
    return writeCapturedGradients(module, function, op, schedule, name, from);
  TileBuilder b(module, function, op, schedule, (name + "_" + stringifyProgram(schedule.getProgram()) + from).str());
  switch (schedule.getProgram()) {
  case Program::Dq:
    return writeQueryGradient(b, op);
  case Program::Dkdv:
    return writeKeyGradients(b, op, /*ofKeys=*/true, /*ofValues=*/true);
  case Program::Dk:
    return writeKeyGradients(b, op, /*ofKeys=*/true, /*ofValues=*/false);
  case Program::Dv:
    return writeKeyGradients(b, op, /*ofKeys=*/false, /*ofValues=*/true);
  case Program::Dsinks:
    return writeSinkGradients(b, op);
  case Program::Forward:
  case Program::Dbias:
  case Program::Dbuckets:
  case Program::Dsums:
    llvm_unreachable("programs of forward and of captured tensors are written elsewhere");
  }
}

namespace {
struct ToTile : attnc::attn::impl::AttnToTileBase<ToTile> {
  void runOnOperation() override {
    for (auto spec : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<KernelFunction> function = KernelFunction::get(spec);
      if (failed(function))
        return signalPassFailure();
      for (auto [number, kernel] : llvm::enumerate(function->kernels)) {
        // A kernel whose results nobody wants is none.
        if (kernel->use_empty())
          continue;
        SmallVector<ScheduleAttr> schedules = kernel.getSchedules();
        if (schedules.empty()) {
          kernel.emitError("expected a schedule; run attn-select-schedule first");
          return signalPassFailure();
        }
        std::string name = spec.getName().str();
        if (function->kernels.size() > 1)
          name += "_" + std::to_string(number);
        for (ScheduleAttr schedule : schedules) {
          std::string from = schedule.isUniversal() ? "" : "_from_" + std::to_string(schedule.getLeastQueries());
          if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation())) {
            writeGradient(getOperation(), *function, backward, schedule, name, from);
            continue;
          }
          writeBlockMask(getOperation(), *function, kernel, schedule, name + "_block_mask" + from);
          ProgramWriter(getOperation(), *function, kernel, schedule, name + "_tile" + from).write();
        }
      }
      spec.erase();
    }
  }
};
} // namespace
