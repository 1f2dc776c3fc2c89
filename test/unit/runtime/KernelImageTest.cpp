//===- KernelImageTest.cpp - Tests of kernel images ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "SampleImage.h"
#include "codegen/image/Hash.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::test;

namespace {

using Op = GridRule::Op;

TEST(GridRule, Evaluates) {
  EXPECT_EQ(sampleGrid().evaluate({3, 96}), 3);
  EXPECT_EQ(sampleGrid().evaluate({3, 97}), 6);
  EXPECT_EQ(sampleGrid().evaluate({3, 0}), 0);
  const auto both = [](Op op, int64_t a, int64_t b) {
    return GridRule::combine(op, GridRule::constant(a), GridRule::constant(b)).evaluate({});
  };
  EXPECT_EQ(both(Op::Add, 3, 4), 7);
  EXPECT_EQ(both(Op::Mul, 3, 4), 12);
  EXPECT_EQ(both(Op::CeilDiv, 9, 4), 3);
  EXPECT_EQ(both(Op::CeilDiv, INT64_MAX, 2), INT64_MAX / 2 + 1);
  EXPECT_EQ(both(Op::FloorDiv, 9, 4), 2);
  EXPECT_EQ(both(Op::FloorDiv, 3, 4), 0);
  EXPECT_EQ(both(Op::Sub, 9, 4), 5);
  EXPECT_EQ(both(Op::Sub, 3, 4), 0);
  EXPECT_EQ(both(Op::Sub, 0, INT64_MAX), 0);
  EXPECT_EQ(both(Op::Max, 3, 4), 4);
  EXPECT_EQ(both(Op::Min, 3, 4), 3);
}

TEST(GridRule, HasNoValueWhereThereIsNone) {
  const auto both = [](Op op, int64_t a, int64_t b) {
    return GridRule::combine(op, GridRule::constant(a), GridRule::constant(b)).evaluate({});
  };
  EXPECT_EQ(both(Op::CeilDiv, 1, 0), -1);
  EXPECT_EQ(both(Op::FloorDiv, 1, 0), -1);
  EXPECT_EQ(both(Op::Add, INT64_MAX, 1), -1);
  EXPECT_EQ(both(Op::Mul, INT64_MAX, 2), -1);
  EXPECT_EQ(GridRule().evaluate({}), -1);
  EXPECT_EQ(GridRule::symbol(2).evaluate({1, 2}), -1);
  EXPECT_EQ(GridRule::symbol(-1).evaluate({1, 2}), -1);
  EXPECT_EQ(GridRule::symbol(0).evaluate({-1}), -1);
  EXPECT_EQ((GridRule{{{Op::Add, 0}}}.evaluate({})), -1);
  EXPECT_EQ((GridRule{{{Op::Const, 1}, {Op::Const, 1}}}.evaluate({})), -1);
  EXPECT_FALSE(GridRule::constant(-1).verify(0));
  EXPECT_FALSE((GridRule{{{static_cast<Op>(9), 0}}}.verify(0)));
}

TEST(GridRule, PrintsAFormula) {
  const std::vector<std::string> symbols = {"B", "Sq"};
  EXPECT_EQ(sampleGrid().toString(symbols), "ceildiv(Sq, 96) * B");
  const GridRule sum = GridRule::combine(Op::Add, GridRule::symbol(0), GridRule::constant(1));
  EXPECT_EQ(GridRule::combine(Op::Mul, sum, sum).toString(symbols), "(B + 1) * (B + 1)");
  EXPECT_EQ(GridRule::combine(Op::Max, sum, sum).toString(symbols), "max(B + 1, B + 1)");
  const GridRule less = GridRule::combine(Op::Sub, sum, sum);
  EXPECT_EQ(GridRule::combine(Op::Mul, less, GridRule::symbol(1)).toString(symbols), "(B + 1 - (B + 1)) * Sq");
  EXPECT_EQ(GridRule().toString(symbols), "<malformed>");
}

TEST(KernelImage, RoundTrips) {
  const KernelImage image = makeSampleImage();
  ASSERT_TRUE(verify(image)) << verify(image).message();
  const std::vector<uint8_t> bytes = serialize(image);
  Result<KernelImage> read = deserialize(bytes);
  ASSERT_TRUE(read) << read.message();
  // Equal images have equal bytes, so equal bytes show that nothing was lost;
  // the fields below show that something was there to lose.
  EXPECT_EQ(serialize(*read), bytes);
  EXPECT_EQ(read->name, "gemma2_local");
  EXPECT_EQ(read->symbols, image.symbols);
  EXPECT_EQ(read->bytes, image.bytes);
  EXPECT_EQ(read->buildId, "attnc 0.1");
  ASSERT_EQ(read->args.size(), 7u);
  EXPECT_EQ(read->args[0].dims[2].size, 16);
  EXPECT_TRUE(read->args[0].dims[2].broadcast);
  EXPECT_EQ(read->args[0].dims[1].symbol, 1);
  EXPECT_EQ(read->args[1].content, ContentRule::CumulativeLengths);
  EXPECT_EQ(read->args[2].max, 1.0);
  EXPECT_FALSE(read->args[3].min);
  EXPECT_TRUE(read->args[3].isIndex);
  ASSERT_EQ(read->args[3].positions.size(), 1u);
  EXPECT_EQ(read->args[3].positions[0].max, 4096);
  EXPECT_EQ(read->args[4].role, ArgRole::Output);
  EXPECT_EQ(read->args[6].dims[1].unit, 16);
  ASSERT_EQ(read->args[6].pages.size(), 2u);
  EXPECT_EQ(read->args[6].pages[0].pages, 3);
  EXPECT_EQ(read->args[6].pages[0].rows, 16);
  EXPECT_EQ(read->args[6].pages[0].lengths, 5);
  EXPECT_EQ(read->args[6].pages[1].lengths, -1);
  EXPECT_EQ(read->entries[0].grid.evaluate({2, 100, 0, 0}), 4);
  EXPECT_EQ(read->entries[0].scratchBytes, 4096);
  EXPECT_EQ(read->entries[0].threads, 0);
  const KernelEntry &gpu = read->entries[2];
  EXPECT_TRUE(read->entries[0].launches.when.empty());
  EXPECT_TRUE(read->entries[0].launches.unless.empty());
  ASSERT_EQ(gpu.launches.when.size(), 1u);
  EXPECT_EQ(gpu.launches.when[0].size.toString(image.symbols),
            "ceildiv(" + image.symbols[1] + ", " + image.symbols[0] + ")");
  EXPECT_EQ(gpu.launches.when[0].min, 1024);
  EXPECT_EQ(gpu.launches.when[0].max, 4095);
  ASSERT_EQ(gpu.launches.unless.size(), 1u);
  ASSERT_EQ(gpu.launches.unless[0].size(), 2u);
  EXPECT_EQ(gpu.launches.unless[0][1].size.toString(image.symbols), image.symbols[0]);
  EXPECT_EQ(gpu.launches.unless[0][1].min, 3);
  EXPECT_EQ(gpu.launches.unless[0][1].max, 4);
  EXPECT_FALSE(read->entries[0].boxes);
  ASSERT_TRUE(gpu.boxes);
  EXPECT_FALSE(gpu.boxes->all);
  ASSERT_EQ(gpu.boxes->tensors.size(), 2u);
  EXPECT_EQ(gpu.boxes->tensors[0].arg, 0);
  EXPECT_EQ(gpu.boxes->tensors[0].rows, 1);
  EXPECT_EQ(gpu.boxes->tensors[1].arg, 6);
  EXPECT_EQ(gpu.threads, 384);
  EXPECT_EQ(gpu.sharedBytes, 230000);
  EXPECT_TRUE(gpu.persistent);
  EXPECT_EQ(gpu.blocksPerMultiprocessor, 2);
  EXPECT_TRUE(gpu.takesCounter);
  EXPECT_TRUE(gpu.early);
  ASSERT_EQ(gpu.tensorMaps.size(), 2u);
  EXPECT_EQ(gpu.tensorMaps[0].box, (std::vector<int64_t>{1, 128, 64}));
  EXPECT_EQ(gpu.tensorMaps[1].arg, 4);
  EXPECT_EQ(gpu.tensorMaps[1].swizzleBytes, 64);
  EXPECT_TRUE(gpu.tensorMaps[0].order.empty());
  EXPECT_EQ(gpu.tensorMaps[1].order, (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(gpu.registers, 168);
  EXPECT_EQ(gpu.spillBytes, 8);
  EXPECT_TRUE(deserialize(serialize(KernelImage())));
}

TEST(KernelImage, RefusesForeignAndDamagedBytes) {
  const std::vector<uint8_t> bytes = serialize(makeSampleImage());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(deserialize(Span<const uint8_t>(bytes.data(), length)));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= 1 << bit;
      EXPECT_FALSE(deserialize(damaged)) << "bit " << bit << " of byte " << i;
    }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(deserialize(longer));
  std::vector<uint8_t> other = bytes;
  other[8] = 99;
  EXPECT_EQ(deserialize(other).message(), "kernel image of version 99, expected 15");
  other[0] = 'X';
  EXPECT_EQ(deserialize(other).message(), "not a kernel image: wrong magic number");
}

TEST(KernelImage, SurvivesForgedContent) {
  // With a fitting hash every byte reaches the reader. Most changes are errors,
  // some are other images; none may crash, hang or allocate without bound.
  const std::vector<uint8_t> bytes = serialize(makeSampleImage());
  for (size_t i = 32; i < bytes.size(); ++i)
    for (int value : {0, 1, 0x7F, 0xFF}) {
      std::vector<uint8_t> forged = bytes;
      forged[i] = static_cast<uint8_t>(value);
      Result<KernelImage> image = deserialize(refit(forged));
      if (image)
        EXPECT_EQ(serialize(*image), refit(forged)) << i;
    }
  for (size_t length = 32; length < bytes.size(); ++length) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(length));
    EXPECT_FALSE(deserialize(refit(cut)));
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(deserialize(refit(longer)));
}

TEST(KernelImage, VerifiesItself) {
  const auto broken = [](auto change) {
    KernelImage image = makeSampleImage();
    change(image);
    const bool refused = !verify(image);
    EXPECT_EQ(refused, !deserialize(serialize(image)));
    return refused;
  };
  EXPECT_FALSE(broken([](KernelImage &) {}));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].dims[0].symbol = 4; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].dims[0].symbol = -2; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].dims[0].extra = -1; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].dims[0] = {-1, -1, false, 1}; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].dims[0].size = -2; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[0].min = 1; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[1].dtype = DType::F32; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[1].dims.push_back({}); }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[1].contentSymbols = {4}; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[2].dims.push_back({}); }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[2].max = std::nan(""); }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[2].role = ArgRole::Output; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.args[3].dtype = DType::I32; }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.entries[0].grid.steps.pop_back(); }));
  EXPECT_TRUE(broken([](KernelImage &image) { image.entries[1].scratchBytes = -1; }));
}

TEST(KernelImage, VerifiesPages) {
  enum { KeyLengths = 5, Table = 6 };
  const auto refused = [](auto change) {
    KernelImage image = makeSampleImage();
    change(image);
    return verify(image).message();
  };
  const std::string prefix = "image 'gemma2_local', argument 'table': unexpected ";
  const auto ofTable = [&](auto change) { return refused([&](KernelImage &image) { change(image.args[Table]); }); };
  EXPECT_EQ(ofTable([](ArgSpec &) {}), "");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dtype = DType::F32; }),
            prefix + "pages that are no matrix of i32 or i64");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims.pop_back(); }), prefix + "pages that are no matrix of i32 or i64");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].pages = 4; }), prefix + "pages of unknown symbol 4");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].rows = 0; }), prefix + "pages of unknown symbol 3");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[1].unit = 0; }), prefix + "dimension in units of 0");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[1].symbol = -1; }), prefix + "dimension in units of 16");
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[1].broadcast = true; }), prefix + "dimension in units of 16");
  // Sizes times units would not be numbers of 64 bits.
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[1].maxSize = INT64_MAX / 15; }),
            prefix + "dimension in units of 16");
  // Lengths that have fewer elements than the table has rows would be read past their end.
  const std::string noLengths = prefix + "pages without a length for each of their rows";
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].lengths = -2; }), noLengths);
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].lengths = 7; }), noLengths);
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].lengths = 3; }), noLengths);
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.pages[0].lengths = 1; }), noLengths);
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[0].broadcast = true; }), noLengths);
  EXPECT_EQ(ofTable([](ArgSpec &table) { table.dims[0].extra = 1; }), noLengths);
  EXPECT_EQ(refused([](KernelImage &image) { image.args[KeyLengths].dims[0].symbol = 1; }), noLengths);
  EXPECT_EQ(refused([](KernelImage &image) { image.args[KeyLengths].dims[0].extra = 1; }), noLengths);
}

TEST(KernelImage, CountsTilesOfItsSizes) {
  KernelEntry entry = {"forward", sampleGrid()};
  EXPECT_EQ(entry.countTiles({2, 100}), 4);
  entry.launches.when = {{GridRule::symbol(1), 100}};
  EXPECT_EQ(entry.countTiles({2, 99}), 0);
  EXPECT_EQ(entry.countTiles({2, 100}), 4);
  entry.launches.when = {{GridRule::symbol(0), 0, 1}};
  EXPECT_EQ(entry.countTiles({1, 100}), 2);
  EXPECT_EQ(entry.countTiles({2, 100}), 0);
}

TEST(LaunchRule, AsksForAllRangesAndNoneOfTheConditionsBefore) {
  const GridRule first = GridRule::symbol(0), second = GridRule::symbol(1);
  LaunchRule rule;
  EXPECT_TRUE(rule.holds({0, 0}));
  rule.when = {{first, 1, 8}, {second, 100}};
  EXPECT_TRUE(rule.holds({1, 100}));
  EXPECT_TRUE(rule.holds({8, INT64_MAX}));
  EXPECT_FALSE(rule.holds({0, 100}));
  EXPECT_FALSE(rule.holds({9, 100}));
  EXPECT_FALSE(rule.holds({1, 99}));
  rule.unless = {{{first, 2, 2}, {second, 0, 200}}, {{first, 7, 9}}};
  EXPECT_TRUE(rule.holds({1, 100}));
  EXPECT_FALSE(rule.holds({2, 200}));
  EXPECT_TRUE(rule.holds({2, 201}));
  EXPECT_FALSE(rule.holds({7, 1000}));
  // A size of any rule, here the mean of a packed sequence; one that has no value is in no range.
  rule = {{{GridRule::combine(Op::CeilDiv, second, first), 1, 8}}};
  EXPECT_FALSE(rule.holds({4, 0}));
  EXPECT_TRUE(rule.holds({100, 1}));
  EXPECT_TRUE(rule.holds({100, 800}));
  EXPECT_FALSE(rule.holds({100, 801}));
  EXPECT_FALSE(rule.holds({0, 8}));
}

TEST(KernelImage, LaysOutItsWorkspaces) {
  KernelImage image = makeSampleImage();
  image.entries[2].launches = {{{GridRule::symbol(1), 1024, 4095}}};
  EXPECT_EQ(placeWorkspaces(image, {2, 1023}).bytes, 0) << "for other sizes";
  const int64_t tiles = image.entries[2].grid.evaluate({2, 1024});
  WorkspacePlaces places = placeWorkspaces(image, {2, 1024});
  EXPECT_EQ(places.offsets, (std::vector<int64_t>{0, 128})) << "6 numbers, in a whole line";
  EXPECT_EQ(places.bytes, 128 + (tiles * 7 * 4 + 127) / 128 * 128);
  // As large as whoever wants most of it.
  KernelEntry other = image.entries[2];
  other.workspaces = {{0, GridRule::constant(100), GridRule::constant(2)}};
  image.entries.push_back(other);
  places = placeWorkspaces(image, {2, 1024});
  EXPECT_EQ(places.offsets, (std::vector<int64_t>{0, 896}));
  image.entries[2].workspaces[0].rows = GridRule::constant(INT64_MAX);
  EXPECT_EQ(placeWorkspaces(image, {2, 1024}).bytes, -1);
  image.entries[2].workspaces[0].rows = GridRule::constant(INT64_MAX / 28);
  EXPECT_EQ(placeWorkspaces(image, {2, 1024}).bytes, -1) << "together too much";
}

TEST(KernelImage, VerifiesWhatGpusAreTold) {
  const auto message = [](auto change) {
    KernelImage image = makeSampleImage();
    change(image, image.entries[2]);
    EXPECT_FALSE(deserialize(serialize(image)));
    const std::string text = verify(image).message(), prefix = "image 'gemma2_local', entry 'forward_gpu': ";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(std::min(text.size(), prefix.size()));
  };
  using Image = KernelImage;
  using Entry = KernelEntry;
  EXPECT_EQ(message([](Image &, Entry &e) { e.threads = 0; }), "GPU facts without threads");
  EXPECT_EQ(message([](Image &, Entry &e) { e.workspaces[1].columns = GridRule::symbol(9); }),
            "workspace 'statistics': grid rule has the unknown symbol 9");
  EXPECT_EQ(message([](Image &, Entry &e) { e.workspaces[1].workspace = 2; }), "workspace 2 of 2");
  EXPECT_EQ(message([](Image &, Entry &e) { e.workspaces[1].workspace = -1; }), "workspace -1 of 2");
  EXPECT_EQ(message([](Image &, Entry &e) { e.workspaces.resize(65, e.workspaces[0]); }),
            "expected at most 64 workspaces, got 65");
  EXPECT_EQ(message([](Image &, Entry &e) { e.threads = 1025; }), "expected blocks of at most 1024 threads, got 1025");
  EXPECT_EQ(message([](Image &, Entry &e) { e.launches.when[0].size = GridRule::symbol(4); }),
            "size of a launch: grid rule has the unknown symbol 4");
  EXPECT_EQ(message([](Image &, Entry &e) { e.launches.when[0].min = -1; }), "sizes from -1 to 4095");
  EXPECT_EQ(message([](Image &, Entry &e) { e.launches.when[0].max = 1023; }), "sizes from 1024 to 1023");
  EXPECT_EQ(message([](Image &, Entry &e) { e.launches.unless[0][1].max = 2; }), "sizes from 3 to 2");
  EXPECT_EQ(message([](Image &, Entry &e) { e.boxes->tensors.clear(); }), "boxes of no tensor");
  EXPECT_EQ(message([](Image &, Entry &e) { e.boxes->tensors[1].arg = 2; }), "boxes of argument 2, which is no tensor");
  EXPECT_EQ(message([](Image &, Entry &e) { e.boxes->tensors[1].arg = 7; }), "boxes of argument 7, which is no tensor");
  EXPECT_EQ(message([](Image &, Entry &e) { e.boxes->tensors[0].rows = 2; }),
            "boxes of argument 'q': expected a dimension of rows below 2, got 2");
  EXPECT_EQ(message([](Image &, Entry &e) { e.sharedBytes = -1; }), "shared memory of -1 bytes");
  EXPECT_EQ(message([](Image &, Entry &e) { e.blocksPerMultiprocessor = 0; }),
            "expected at least 1 block for each multiprocessor, got 0");
  EXPECT_EQ(message([](Image &, Entry &e) { e.spillBytes = -4; }), "negative use of registers");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].arg = 2; }),
            "tensor map of argument 2, which is no tensor");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].arg = 1; }),
            "tensor map of argument 'cu': expected rank 2 to 5, got 1");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].box.pop_back(); }),
            "tensor map of argument 'q': expected a box of rank 3, got 2");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].box[1] = 257; }),
            "tensor map of argument 'q': expected box sizes from 1 to 256, got 257");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].swizzleBytes = 16; }),
            "tensor map of argument 'q': expected a swizzle of 0, 32, 64 or 128 bytes, got 16");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].box[2] = 4; }),
            "tensor map of argument 'q': expected box rows of a multiple of 16 bytes, got 8");
  EXPECT_EQ(message([](Image &, Entry &e) { e.tensorMaps[0].box[2] = 128; }),
            "tensor map of argument 'q': expected box rows within the swizzle of 128 bytes, got 256");
  for (const std::vector<int64_t> &order : {std::vector<int64_t>{0, 2}, {0, 2, 1}, {0, 0, 2}, {-1, 1, 2}, {0, 3, 2}})
    EXPECT_EQ(message([&](Image &, Entry &e) { e.tensorMaps[0].order = order; }),
              "tensor map of argument 'q': expected an order of all 3 dimensions that keeps the last");
}

} // namespace
