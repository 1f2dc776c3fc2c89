//===- MaskMap.cpp - What a mask keeps, tile by tile ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/MaskMap.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/reference/ReferenceProblem.h"
#include "runtime/explain/RegionEvaluator.h"
#include "runtime/jit/ReferenceKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace attnc;
using namespace attnc::attn;
using namespace attnc::attn::reference;
using namespace attnc::explain;
using image::Result;

namespace {

/// Pairs that are evaluated one by one before rows are sampled: about a second.
constexpr int64_t maxEvaluations = int64_t(1) << 24;

/// Maps that are computed before sequences and heads are sampled.
constexpr int64_t maxMaps = 64;

/// The most tiles of a map.
constexpr int64_t mostTiles = int64_t(1) << 27;

/// Tile sizes where no schedule is attached.
constexpr int64_t defaultTile = 64;

/// The sizes of a launch of `op` with these arguments.
SizesAttr findSizes(KernelOpInterface op, const Arguments &arguments) {
  return getKnownSizes(op, [&](mlir::Value tensor, int64_t dim) {
    return mlir::getAffineConstantExpr(arguments.getArray(tensor)->shape[static_cast<size_t>(dim)], op.getContext());
  });
}

/// Looks at one kernel.
class Surveyor {
public:
  Surveyor(KernelOpInterface op, const Problem &problem, const Arguments &arguments)
      : op(op), problem(problem), schedule(op.getScheduleFor(findSizes(op, arguments))),
        bounds(op.getBounds(), arguments), blocks(op.getBlocks(), arguments) {}

  /// How many tiles a head has in `sequence`.
  double countTiles(const Sequence &sequence) {
    MaskMap map = layOut(sequence);
    return static_cast<double>(map.rows) * static_cast<double>(map.columns);
  }

  /// The tiles of `head` in `sequence`.
  MaskMap survey(const Sequence &sequence, int64_t head);

  /// The pairs that the mask keeps there, at most `budget` of them evaluated.
  double countKept(const Sequence &sequence, int64_t head, const MaskMap &map, int64_t budget, bool &estimated);

private:
  /// The map of `sequence` without its tiles.
  MaskMap layOut(const Sequence &sequence);
  TileClass classify(const Sequence &sequence, int64_t head, int64_t row, int64_t column, const MaskMap &map,
                     llvm::ArrayRef<int64_t> range);

  KernelOpInterface op;
  const Problem &problem;
  ScheduleAttr schedule; ///< that the launch has; null where none is attached
  RegionEvaluator bounds, blocks;
};

} // namespace

int64_t MaskMap::count(TileClass kind) const { return llvm::count(tiles, kind); }

/// `range` is what `bounds` says of the tile's queries; empty where nothing is known.
TileClass Surveyor::classify(const Sequence &sequence, int64_t head, int64_t row, int64_t column, const MaskMap &map,
                             llvm::ArrayRef<int64_t> range) {
  int64_t firstQuery = row * map.queryTile, lastQuery = std::min(firstQuery + map.queryTile, map.queries) - 1;
  int64_t firstKey = column * map.keyTile, lastKey = std::min(firstKey + map.keyTile, map.keys) - 1;
  if (firstQuery > lastQuery || firstKey > lastKey)
    return TileClass::Empty;
  if (op.getMask().empty())
    return TileClass::Full;
  if (range.size() == 4) {
    if (lastKey < range[0] || firstKey >= range[3])
      return TileClass::Empty;
    if (firstKey >= range[1] && lastKey < range[2])
      return TileClass::Full;
  }
  if (op.getBlocks().empty())
    return TileClass::Partial;
  auto query = [&](int64_t i) {
    return RegionEvaluator::Coordinate{i + sequence.positionOffset, sequence.queryStart + i};
  };
  auto key = [&](int64_t j) { return RegionEvaluator::Coordinate{j, sequence.keyStart + j}; };
  auto flags = blocks.run({{sequence.batch, sequence.batch},
                           {head, head},
                           query(firstQuery),
                           query(lastQuery),
                           key(firstKey),
                           key(lastKey)});
  if (!flags || flags->size() != 2)
    return TileClass::Partial;
  return !(*flags)[0] ? TileClass::Empty : (*flags)[1] ? TileClass::Full : TileClass::Partial;
}

MaskMap Surveyor::layOut(const Sequence &sequence) {
  MaskMap map;
  map.queryTile = schedule ? schedule.getQueries() : defaultTile;
  map.keyTile = schedule ? schedule.getKeyTile() : defaultTile;
  map.queries = sequence.queryLength;
  map.keys = sequence.keyLength;
  map.rows = llvm::divideCeil(map.queries, map.queryTile);
  map.columns = llvm::divideCeil(map.keys, map.keyTile);
  return map;
}

MaskMap Surveyor::survey(const Sequence &sequence, int64_t head) {
  MaskMap map = layOut(sequence);
  for (int64_t row = 0; row < map.rows; ++row) {
    int64_t first = row * map.queryTile, last = std::min(first + map.queryTile, map.queries) - 1;
    std::optional<llvm::SmallVector<int64_t>> range;
    if (!op.getBounds().empty())
      range = bounds.run({{sequence.batch, sequence.batch},
                          {head, head},
                          {first + sequence.positionOffset, sequence.queryStart + first},
                          {last + sequence.positionOffset, sequence.queryStart + last}});
    for (int64_t column = 0; column < map.columns; ++column)
      map.tiles.push_back(classify(sequence, head, row, column, map,
                                   range ? llvm::ArrayRef<int64_t>(*range) : llvm::ArrayRef<int64_t>()));
  }
  return map;
}

double Surveyor::countKept(const Sequence &sequence, int64_t head, const MaskMap &map, int64_t budget,
                           bool &estimated) {
  std::vector<Slot> slots;
  if (problem.mask)
    slots = problem.mask->makeSlots();
  int64_t partial = map.count(TileClass::Partial) * map.queryTile * map.keyTile;
  // A prime stride does not fall into step with tiles or with patterns in the mask.
  int64_t stride = 1;
  for (int64_t prime : {2, 3, 5, 7, 13, 31, 61, 127, 251, 509})
    if (partial / stride > budget)
      stride = prime;
  estimated |= stride > 1;
  double kept = 0;
  for (int64_t row = 0; row < map.rows; ++row) {
    int64_t firstQuery = row * map.queryTile, endQuery = std::min(firstQuery + map.queryTile, map.queries);
    for (int64_t column = 0; column < map.columns; ++column) {
      int64_t firstKey = column * map.keyTile, endKey = std::min(firstKey + map.keyTile, map.keys);
      TileClass kind = map.at(row, column);
      if (kind == TileClass::Full || !problem.mask)
        kept += static_cast<double>((endQuery - firstQuery) * (endKey - firstKey));
      if (kind != TileClass::Partial || !problem.mask)
        continue;
      int64_t evaluated = 0, hits = 0;
      for (int64_t i = firstQuery; i < endQuery; ++i)
        for (int64_t j = firstKey + (stride - (i * 7 + firstKey) % stride) % stride; j < endKey; j += stride) {
          slots[SlotB].i = sequence.batch;
          slots[SlotH].i = head;
          slots[SlotI].i = i + sequence.positionOffset;
          slots[SlotJ].i = j;
          slots[SlotRow].i = sequence.queryStart + i;
          slots[SlotColumn].i = sequence.keyStart + j;
          ++evaluated;
          hits += problem.mask->run(slots).i != 0;
        }
      if (evaluated)
        kept += static_cast<double>(hits) / static_cast<double>(evaluated) *
                static_cast<double>((endQuery - firstQuery) * (endKey - firstKey));
    }
  }
  return kept;
}

/// Looks at `lowered`, one operation of a kernel.
static Result<MaskWork> measureMask(KernelOpInterface lowered, const Arguments &arguments) {
  mlir::FailureOr<Problem> problem = Problem::get(lowered, arguments, Precision::Exact);
  if (failed(problem))
    return jit::reported();
  Surveyor surveyor(lowered, *problem, arguments);
  MaskWork work;
  mlir::Region &mask = lowered.getMask();
  bool everyHeadAlike = mask.empty() || mask.getArgument(1).use_empty();
  int64_t heads = everyHeadAlike ? 1 : problem->queryHeads;
  auto sequences = static_cast<int64_t>(problem->sequences.size());
  bool everySequenceAlike = mask.empty() || mask.getArgument(0).use_empty();
  int64_t maps = sequences * heads;
  int64_t step = std::max<int64_t>(1, llvm::divideCeil(maps, maxMaps));
  work.estimated = step > 1 && !everySequenceAlike;
  int64_t budget = maxEvaluations / std::max<int64_t>(1, llvm::divideCeil(maps, step));

  double sampledPairs = 0;
  int64_t mostPairs = -1;
  for (int64_t index = 0; index < maps; ++index) {
    const Sequence &sequence = problem->sequences[static_cast<size_t>(index / heads)];
    int64_t head = index % heads, pairs = sequence.queryLength * sequence.keyLength;
    work.allPairs += static_cast<double>(pairs);
    if (index % step != 0)
      continue;
    if (surveyor.countTiles(sequence) > static_cast<double>(mostTiles))
      return image::Error{"the mask has more than " + std::to_string(mostTiles) + " tiles at these sizes"};
    MaskMap map = surveyor.survey(sequence, head);
    sampledPairs += static_cast<double>(pairs);
    work.keptPairs += surveyor.countKept(sequence, head, map, budget, work.estimated);
    if (head == 0 && pairs > mostPairs) {
      mostPairs = pairs;
      work.map = std::move(map);
      work.mapBatch = sequence.batch;
    }
  }
  if (sampledPairs > 0)
    work.keptPairs *= work.allPairs / sampledPairs;
  double repeats = static_cast<double>(problem->queryHeads) / static_cast<double>(heads);
  work.keptPairs *= repeats;
  work.allPairs *= repeats;
  return work;
}

Result<std::vector<MaskWork>> explain::measureMasks(const KernelFunction &lowered,
                                                    image::Span<const runtime::ArgValue> inputs) {
  std::vector<ReferenceValue> values = jit::toReferenceValues(lowered, inputs);
  Arguments arguments(values);
  std::vector<MaskWork> masks;
  for (KernelOpInterface op : lowered.kernels) {
    Result<MaskWork> mask = measureMask(op, arguments);
    if (!mask)
      return mask.takeError();
    masks.push_back(std::move(*mask));
  }
  return masks;
}
