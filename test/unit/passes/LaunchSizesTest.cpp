//===- LaunchSizesTest.cpp - Conditions as sets of launches -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What is computed with conditions on sizes, against all launches of a few sizes, one by one.
//===----------------------------------------------------------------------===//

#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/AttnDialect.h"
#include "gtest/gtest.h"
#include <random>

using namespace attnc::attn;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Queries, keys and batch of launches are below this; conditions speak of no others.
constexpr int64_t end = 6;

class LaunchSizes : public testing::Test {
protected:
  explicit LaunchSizes(uint64_t seed = 7) : random(seed) { context.loadDialect<AttnDialect>(); }

  SizesAttr get(ArrayRef<SizeRange> ranges) { return SizesAttr::get(&context, ranges); }

  int64_t below(int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); }

  /// A condition on some of the sizes.
  SizesAttr draw() {
    SmallVector<SizeRange> ranges;
    for (Size size : {Size::Queries, Size::Keys, Size::Batch}) {
      if (below(3) == 0)
        continue;
      int64_t least = below(end), most = least + below(end - least);
      ranges.push_back({size, below(3) == 0 ? 0 : least, below(3) == 0 ? unlimited : most});
    }
    return get(ranges);
  }

  /// All launches, each as a condition that holds for it alone, and some that are larger than any range's end.
  SmallVector<SizesAttr> listLaunches() {
    SmallVector<SizesAttr> launches;
    for (int64_t queries = 0; queries <= end; ++queries)
      for (int64_t keys = 0; keys <= end; ++keys)
        for (int64_t batch = 0; batch <= end; ++batch)
          launches.push_back(
              get({{Size::Batch, batch, batch}, {Size::Queries, queries, queries}, {Size::Keys, keys, keys}}));
    return launches;
  }

  mlir::MLIRContext context;
  std::mt19937_64 random;
};

} // namespace

TEST_F(LaunchSizes, AreSetsOfLaunches) {
  const SmallVector<SizesAttr> launches = listLaunches();
  int64_t united = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    SizesAttr a = draw(), b = draw(), both = a.intersect(b), one = a.unite(b);
    SmallVector<SizesAttr> rest;
    a.subtract(b, rest);
    united += one && one != a && one != b;
    bool isWithin = true;
    for (SizesAttr launch : launches) {
      bool inA = a.contains(launch), inB = b.contains(launch);
      isWithin &= inA || !inB;
      EXPECT_EQ(both && both.contains(launch), inA && inB);
      if (one)
        EXPECT_EQ(one.contains(launch), inA || inB);
      EXPECT_EQ(llvm::count_if(rest, [&](SizesAttr piece) { return piece.contains(launch); }), inA && !inB);
    }
    EXPECT_EQ(a.contains(b), isWithin) << a.toString() << "; " << b.toString();
  }
  EXPECT_GT(united, 5);
}

TEST_F(LaunchSizes, UniteWhereOneConditionSaysBoth) {
  SizesAttr few = get({{Size::Queries, 0, 9}, {Size::Keys, 5}}), many = get({{Size::Queries, 10}, {Size::Keys, 5}});
  EXPECT_EQ(few.unite(many), get({{Size::Keys, 5}}));
  EXPECT_EQ(many.unite(few), get({{Size::Keys, 5}}));
  EXPECT_FALSE(few.unite(get({{Size::Queries, 11}, {Size::Keys, 5}}))) << "a gap";
  EXPECT_FALSE(few.unite(get({{Size::Queries, 10}, {Size::Keys, 6}}))) << "a corner";
}

TEST_F(LaunchSizes, SchedulesServeAsBeforeWhereSizesAreKnown) {
  const SmallVector<SizesAttr> launches = listLaunches();
  for (int trial = 0; trial < 100; ++trial) {
    SmallVector<ScheduleAttr> schedules;
    for (int64_t n = 1; n <= 6; ++n) {
      Program program = below(3) == 0 ? Program::Dq : Program::Forward;
      // Some are alike.
      schedules.push_back(ScheduleAttr::get(&context, 8, 8 * (1 + below(3)), 8, {}, 1, program).forSizes(draw()));
    }
    int64_t batch = below(end);
    SizesAttr known = trial % 2 == 0 ? get({}) : get({{Size::Batch, batch, batch}});
    SmallVector<ScheduleAttr> kept = keepServing(schedules, known);
    auto find = [&](ArrayRef<ScheduleAttr> list, Program program, SizesAttr launch) {
      const ScheduleAttr *first = llvm::find_if(
          list, [&](ScheduleAttr one) { return one.getProgram() == program && one.getWhen().contains(launch); });
      return first == list.end() ? ScheduleAttr() : first->forAllSizes();
    };
    for (Program program : {Program::Forward, Program::Dq}) {
      SmallVector<ScheduleAttr> joined;
      llvm::copy_if(kept, std::back_inserter(joined), [&](ScheduleAttr one) { return one.getProgram() == program; });
      joined = joinAlike(joined);
      for (SizesAttr launch : launches) {
        if (!known.contains(launch))
          continue;
        ScheduleAttr wanted = find(schedules, program, launch);
        EXPECT_EQ(find(kept, program, launch), wanted);
        EXPECT_EQ(find(joined, program, launch), wanted);
      }
      for (ScheduleAttr schedule : joined)
        EXPECT_EQ(schedule.getWhen(), schedule.getWhen().without(known));
    }
  }
}
