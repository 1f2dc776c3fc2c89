//===- ChoiceTest.cpp - Tests of which schedules are chosen -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Choice.h"
#include "TuneTestSupport.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/CompileTarget.h"
#include <set>

using namespace attnc;
using namespace attnc::test;
using attn::ScheduleAttr;
using image::Result;
using tune::Choice;
using tune::Policy;
using tune::Record;
using tune::SizeRange;
using tune::Source;

namespace {

using Steps = std::vector<std::pair<int64_t, int64_t>>;

/// Sequences from so many queries on, and the keys of a step for them, where `schedules` ask for queries alone.
Steps stepsOf(llvm::ArrayRef<ScheduleAttr> schedules) {
  std::set<int64_t> changes{0};
  for (ScheduleAttr schedule : schedules) {
    attn::SizeRange range = schedule.getWhen().getRange(attn::Size::Queries);
    changes.insert(range.min);
    if (range.max != attn::unlimited)
      changes.insert(range.max + 1);
  }
  Steps steps;
  for (int64_t queries : changes) {
    const ScheduleAttr *first = llvm::find_if(schedules, [&](ScheduleAttr schedule) {
      attn::SizeRange range = schedule.getWhen().getRange(attn::Size::Queries);
      return range.min <= queries && queries <= range.max;
    });
    int64_t keys = first == schedules.end() ? 0 : first->getKeyTile();
    if (!schedules.empty() && (steps.empty() || steps.back().second != keys))
      steps.emplace_back(queries, keys);
  }
  return steps;
}

/// A spec for a CPU with registers of eight lanes, and the records that are asked. Of its own, it has a schedule for up
/// to four queries of two heads, in steps of 32 keys, and one of 64 for more.
struct ChoiceFixture : testing::Test {
  TemporaryDirectory folder;
  Remarks remarks;
  tune::RecordBook book{folder.path(), "", remarks.sink()};
  OpenSpec spec{paddedSpec()};
  mlir::Attribute target = mlir::parseAttribute(
      R"(#attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16,
                   l1_bytes = 32768, l2_bytes = 524288>)",
      &spec.session.context());
  tune::ChoiceRequest request{&book, "here", Policy(), std::nullopt, nullptr, remarks.sink()};

  /// A record of the spec for that CPU.
  Record record(const tune::ShapeClass &shape, int64_t keys) {
    Record made = makeRecord(shape, 1, cpuSchedule(&spec.session.context(), keys));
    made.kernel = tune::digestOf(spec.kernel);
    made.target = jit::getTargetName(target);
    return made;
  }

  Result<Choice> choose() { return tune::chooseSchedules(spec.session, spec.kernel, target, request); }

  Steps chosen() { return stepsOf(spec.kernel.kernels[0].getSchedules()); }
};

TEST_F(ChoiceFixture, WithoutRecordsHeuristicsDecide) {
  Result<Choice> choice = choose();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->source, Source::Heuristics);
  EXPECT_EQ(choice->why.substr(0, 28), "no record of @kernel for her") << choice->why;
  EXPECT_EQ(chosen(), Steps());
  request.policy = *Policy::parse("records");
  Result<Choice> refused = choose();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.message().find("'attnc tune' makes one"), std::string::npos);
}

TEST_F(ChoiceFixture, ARecordIsForItsQueriesAndForMore) {
  book.keep("here", record(shapeOf(100), 16));
  Result<Choice> choice = choose();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->source, Source::Memory);
  ASSERT_EQ(choice->records.size(), 1u);
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 16}}));
  EXPECT_EQ(spec.diagnostics, "");
}

TEST_F(ChoiceFixture, ARecordIsOfWhatItBeat) {
  auto own = jit::lowerToAttn(spec.session, spec.kernel, target);
  ASSERT_TRUE(own);
  Record made = record(shapeOf(100), 16);
  (*own)->walk(
      [&](attn::KernelOpInterface op) { made.beaten = {{tune::print(op.getSchedules().back().forAllSizes())}}; });
  book.keep("here", made);
  ASSERT_TRUE(choose());
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 16}}));
  tune::clearSchedules(spec.kernel);

  // Of launches that have another of the target's own.
  Record other = made;
  other.shape = shapeOf(3);
  book.keep("here", other);
  ASSERT_TRUE(choose());
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 16}}));
  tune::clearSchedules(spec.kernel);

  // Of another version, whose heuristics said something else.
  Record old = made;
  old.shape = shapeOf(1000);
  old.beaten[0][0] = cpuSchedule(&spec.session.context(), 8);
  book.keep("here", old);
  ASSERT_TRUE(choose());
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 16}}));
  tune::clearSchedules(spec.kernel);

  made.beaten = old.beaten;
  book.keep("here", made);
  Result<Choice> choice = choose();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->source, Source::Heuristics);
  EXPECT_EQ(choice->why.substr(0, 28), "no record of @kernel for her") << choice->why;
  EXPECT_GE(remarks.count("is left aside: it was measured against schedules that are not the target's own any more"),
            2);
  EXPECT_EQ(chosen(), Steps());
}

TEST_F(ChoiceFixture, SeveralRecordsShareTheLengths) {
  book.keep("here", record(shapeOf(1000), 32));
  book.keep("here", record(shapeOf(100), 16));
  Record own = record(shapeOf(100000), 8);
  own.schedules = {{}};
  book.keep("here", own);
  ASSERT_TRUE(choose());
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 16}, {513, 32}, {65537, 64}}));
}

TEST_F(ChoiceFixture, TheSpecsOwnComesFirst) {
  book.keep("here", record(shapeOf(100), 16));
  ASSERT_TRUE(tune::setSchedules(spec.kernel, {{cpuSchedule(&spec.session.context(), 8)}}));
  Result<Choice> choice = choose();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->source, Source::Override);
  EXPECT_EQ(chosen(), (Steps{{0, 8}}));
}

TEST_F(ChoiceFixture, APolicyMayWantNoRecords) {
  book.keep("here", record(shapeOf(100), 16));
  request.policy = *Policy::parse("heuristics");
  Result<Choice> choice = choose();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->source, Source::Heuristics);
  EXPECT_EQ(chosen(), Steps());
  EXPECT_FALSE(Policy::parse("fastest"));
}

TEST_F(ChoiceFixture, ARecordThatTheMachineCannotHaveIsNotUsed) {
  for (const char *schedule :
       {"#attn.schedule<query_tile = 7, key_tile = 8, panel = 7>", "#attn.schedule<query_tile = 8>", "17 : i32", "((((",
        "#attn.schedule<query_tile = 8, key_tile = 8, panel = 8, program = dq>",
        "#attn.schedule<query_tile = 8, key_tile = 8, panel = 8> and more"}) {
    Record made = record(shapeOf(100), 16);
    made.schedules = {{schedule}};
    book.keep("here", made);
    Result<Choice> choice = choose();
    ASSERT_TRUE(choice) << schedule;
    EXPECT_EQ(choice->source, Source::Heuristics) << schedule;
    EXPECT_EQ(chosen(), Steps()) << schedule;
    EXPECT_EQ(spec.diagnostics, "") << schedule;
  }
  EXPECT_EQ(remarks.count("the record of @kernel cannot be used"), 6);
  // Nor is one of several kernels for a function of one.
  Record made = record(shapeOf(100), 16);
  made.schedules.emplace_back();
  book.keep("here", made);
  EXPECT_EQ(choose()->source, Source::Heuristics);
}

TEST_F(ChoiceFixture, AutotuneMakesTheRecordThatIsMissing) {
  int tuned = 0;
  request.policy = *Policy::parse("autotune");
  request.shape = shapeOf(100);
  request.tune = [&]() -> image::Status {
    ++tuned;
    book.keep("here", record(shapeOf(100), 24));
    return {};
  };
  // A record of other sizes does not stand for these.
  book.keep("here", record(shapeOf(1000), 32));
  EXPECT_EQ(choose()->source, Source::Autotune);
  EXPECT_EQ(chosen(), (Steps{{0, 32}, {5, 64}, {65, 24}, {513, 32}}));
  EXPECT_EQ(tuned, 1);
  spec.kernel.kernels[0].setSchedulesAttr({});
  EXPECT_EQ(choose()->source, Source::Memory);
  EXPECT_EQ(tuned, 1);
}

TEST_F(ChoiceFixture, WhereTuningFailsHeuristicsDecide) {
  request.policy = *Policy::parse("autotune");
  request.shape = shapeOf(100);
  request.tune = []() -> image::Status { return image::Error{"there is no memory"}; };
  EXPECT_EQ(choose()->source, Source::Heuristics);
  EXPECT_EQ(remarks.count("@kernel is not tuned: there is no memory"), 1);
  request.policy.heuristics = false;
  EXPECT_EQ(choose().message(), "there is no memory");
}

TEST_F(ChoiceFixture, NamesDoNotCountForRecords) {
  std::string text = paddedSpec();
  size_t place = text.find("@kernel");
  ASSERT_NE(place, std::string::npos);
  OpenSpec other(text.replace(place, 7, "@another"));
  EXPECT_EQ(tune::digestOf(other.kernel), tune::digestOf(spec.kernel));
  OpenSpec capped(paddedSpec("", "scale(2.0)"));
  EXPECT_NE(tune::digestOf(capped.kernel), tune::digestOf(spec.kernel));
  // What schedules it has is no part of what it computes.
  cache::Digest before = tune::digestOf(spec.kernel);
  ASSERT_TRUE(tune::setSchedules(spec.kernel, {{cpuSchedule(&spec.session.context(), 8)}}));
  EXPECT_EQ(tune::digestOf(spec.kernel), before);
}

TEST_F(ChoiceFixture, ARecordOfGradientsIsForEachProgram) {
  Result<attn::KernelFunction> gradients = spec.session.deriveBackward(spec.kernel);
  ASSERT_TRUE(gradients);
  spec.kernel = *gradients;
  // In another order than the programs', which run one after the other.
  Record made = record(shapeOf(100), 16);
  std::string &schedule = made.schedules[0][0];
  schedule = "#attn.schedule<query_tile = 16, key_tile = 48, panel = 16, program = dkdv>";
  made.schedules[0].emplace_back("#attn.schedule<query_tile = 48, key_tile = 24, panel = 16, program = dq>");
  book.keep("here", made);
  ASSERT_EQ(choose()->source, Source::Memory);
  Result<image::KernelImage> image = jit::compileToImage(spec.session, spec.kernel, target);
  ASSERT_TRUE(image) << spec.diagnostics;
  std::vector<std::string> symbols;
  for (const image::KernelEntry &entry : image->entries)
    symbols.push_back(entry.symbol);
  EXPECT_EQ(symbols,
            (std::vector<std::string>{"kernel_backward_dq_queries_from_65_entry", "kernel_backward_dq_entry",
                                      "kernel_backward_dkdv_queries_from_65_entry", "kernel_backward_dkdv_entry"}));
}

TEST_F(ChoiceFixture, MergingKeepsWhereDefaultsChange) {
  mlir::MLIRContext *context = &spec.session.context();
  auto schedule = [&](int64_t keys, int64_t least, int64_t most) {
    return ScheduleAttr::get(context, 8, keys, 8)
        .forSizes(attn::SizesAttr::get(context, attn::SizeRange{attn::Size::Queries, least, most}));
  };
  llvm::SmallVector<ScheduleAttr> defaults{schedule(8, 0, 1024), schedule(16, 1025, attn::unlimited)};
  auto merge = [&](llvm::ArrayRef<std::pair<SizeRange, ScheduleAttr>> records) {
    llvm::SmallVector<tune::RecordedSchedules> shaped;
    for (const auto &[queries, recorded] : records) {
      shaped.push_back({{queries, SizeRange::around(1000), SizeRange::around(2)}, {}});
      if (recorded)
        shaped.back().schedules.push_back(recorded);
    }
    return stepsOf(tune::mergeSchedules(defaults, shaped));
  };
  ScheduleAttr tuned = ScheduleAttr::get(context, 8, 32, 8);
  EXPECT_EQ(merge({}), (Steps{{0, 8}, {1025, 16}}));
  // Not beyond where the defaults change.
  EXPECT_EQ(merge({{{129, 256}, tuned}}), (Steps{{0, 8}, {129, 32}, {1025, 16}}));
  EXPECT_EQ(merge({{{0, 1}, tuned}}), (Steps{{0, 32}, {1025, 16}}));
  EXPECT_EQ(merge({{{1025, 2048}, tuned}}), (Steps{{0, 8}, {1025, 32}}));
  // A class in which they change is the record's as a whole.
  EXPECT_EQ(merge({{{1000, 1100}, tuned}}), (Steps{{0, 8}, {1000, 32}}));
  // Neighbours of one schedule are one.
  EXPECT_EQ(merge({{{129, 256}, tuned}, {{257, 512}, tuned}}), (Steps{{0, 8}, {129, 32}, {1025, 16}}));
  // Null is the default, which then is for more as well.
  EXPECT_EQ(merge({{{129, 256}, tuned}, {{513, 1024}, ScheduleAttr()}}),
            (Steps{{0, 8}, {129, 32}, {513, 8}, {1025, 16}}));
  // Of two that overlap, as only a file by hand has them, the first is taken.
  EXPECT_EQ(merge({{{129, 256}, tuned}, {{200, 300}, schedule(64, 0, attn::unlimited)}}),
            (Steps{{0, 8}, {129, 32}, {200, 64}, {1025, 16}}));
  int64_t last = attn::unlimited;
  EXPECT_EQ(merge({{{2000, last}, tuned}}), (Steps{{0, 8}, {1025, 16}, {2000, 32}}));
}

TEST_F(ChoiceFixture, ARecordIsForTheOtherSizesOfWhatItBeat) {
  mlir::MLIRContext *context = &spec.session.context();
  auto read = [&](llvm::StringRef text) {
    std::string schedule = ("#attn.schedule<query_tile = 8, panel = 8, " + text + ">").str();
    return mlir::cast<ScheduleAttr>(mlir::parseAttribute(schedule, context));
  };
  llvm::SmallVector<ScheduleAttr> defaults{read("key_tile = 8, when = <keys = to 512>"), read("key_tile = 16")};
  using Schedules = llvm::SmallVector<ScheduleAttr>;
  auto merge = [&](int64_t keys, const Schedules &tuned) {
    tune::RecordedSchedules record{{{129, 256}, SizeRange::around(keys), SizeRange::around(2)}, tuned};
    return tune::mergeSchedules(defaults, record);
  };
  EXPECT_EQ(merge(500, {read("key_tile = 32")}),
            (Schedules{read("key_tile = 32, when = <queries = from 129, keys = to 512>"), defaults[0], defaults[1]}));
  EXPECT_EQ(merge(5000, {read("key_tile = 32")}),
            (Schedules{defaults[0], read("key_tile = 32, when = <queries = from 129>"), defaults[1]}));
  // Conditions of its own stay.
  EXPECT_EQ(merge(5000, {read("key_tile = 32, when = <batch = 1>"), read("key_tile = 64, when = <queries = to 512>"),
                         read("key_tile = 16")}),
            (Schedules{defaults[0], read("key_tile = 32, when = <queries = from 129, batch = 1>"),
                       read("key_tile = 64, when = <queries = 129 to 512>"), read("key_tile = 16")}));
}

} // namespace
