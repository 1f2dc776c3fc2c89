//===- PhiloxEmitter.cpp - Random numbers for accumulators ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/PhiloxEmitter.h"
#include "dialect/tile/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Words of a call in the order of a thread's pairs: of eight columns the upper row's and the lower row's, then of the
/// next eight. They come by queries first.
PhiloxEmitter::Words PhiloxEmitter::ofQueryRows(const Words &words) { return {words[0], words[2], words[1], words[3]}; }

/// The same where rows are keys. A pair is of one key and two queries, of which this lane's call has one: the even
/// key's lane has called for the even query, and that of the odd key, four lanes on, for the odd one. Each gives away
/// the halves of its words that are of the other's key.
PhiloxEmitter::Words PhiloxEmitter::ofKeyRows(const Words &words, Value isOdd) {
  // Of eight bytes, those of the second operand are 4 to 7.
  auto permute = [&](Value x, Value y, int64_t even, int64_t odd) {
    return ptx.permuteBytes(x, y, ptx.select(isOdd, ptx.i32(odd), ptx.i32(even)));
  };
  constexpr int64_t partner = 4;
  Words pairs;
  for (size_t first : {0, 2}) {
    Value given = permute(words[first], words[first + 1], /*upper halves*/ 0x7632, /*lower halves*/ 0x5410);
    Value taken = ptx.shuffleInteger(given, partner);
    pairs[first] = permute(words[first], taken, 0x5410, 0x3254);
    pairs[first + 1] = permute(words[first + 1], taken, 0x7610, 0x3276);
  }
  return pairs;
}

void PhiloxEmitter::emit(tile::PhiloxOp op) {
  OpBuilder &b = ptx.b;
  Location loc = ptx.loc;
  auto type = cast<VectorType>(op.getType());
  int64_t columns = context.columnsOfWarp(type);
  assert(columns % tile::philoxBlock == 0 && "steps are whole blocks");
  bool transposed = op.getTransposed();
  // The rows and columns that a thread starts from are in the first half of a block.
  Value row = context.place.row, column = context.findColumn(type);
  Value query = ptx.add(context.scalar(op.getI()), transposed ? column : row);
  Value key = ptx.add(context.scalar(op.getJ()), transposed ? row : column);
  Value isOdd;
  if (transposed) {
    Value odd = ptx.bitAnd(context.place.row, 1);
    isOdd = ptx.equal(odd, 1);
    query = ptx.add(query, odd);
  }
  query = tile::buildPhiloxQuery(b, loc, query);
  key = tile::buildPhiloxKeyPair(b, loc, key);
  if (op.getAgain()) {
    query = ptx.afresh(query);
    key = ptx.afresh(key);
  }
  std::array<Value, 2> seed = tile::buildPhiloxKey(b, loc, context.scalar(op.getSeed()));
  Value batch = context.scalar(op.getB()), head = context.scalar(op.getH());
  Fragment fragment{/*packed=*/true, {}};
  for (int64_t block = 0; block < columns / tile::philoxBlock; ++block) {
    Value ofQuery = transposed ? ptx.add(query, block * tile::philoxDistance) : query;
    Value ofKey = transposed ? key : ptx.add(key, block * tile::philoxDistance / 2);
    // By group of columns and row, as all fragments: each band of sixteen rows is a block of its own.
    std::array<SmallVector<Value>, 2> ofGroups;
    for (int64_t band = 0; band < context.countBands(); ++band) {
      Value bandQuery = transposed ? ofQuery : ptx.add(ofQuery, band * tile::philoxDistance);
      Value bandKey = transposed ? ptx.add(ofKey, band * tile::philoxDistance / 2) : ofKey;
      Words words = tile::buildPhilox(b, loc, seed, {batch, head, bandQuery, bandKey});
      // Low words of products would be compared in 64 bits.
      for (Value &word : words)
        word = ptx.opaque(word);
      words = transposed ? ofKeyRows(words, isOdd) : ofQueryRows(words);
      for (size_t group : {0, 1})
        ofGroups[group].append({words[2 * group], words[2 * group + 1]});
    }
    for (const SmallVector<Value> &ofGroup : ofGroups)
      llvm::append_range(fragment.values, ofGroup);
  }
  context.tiles[op.getResult()] = std::move(fragment);
}
