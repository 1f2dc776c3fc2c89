//===- CompileTest.cpp - From a kernel of a spec to its image ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "test/unit/jit/JitTestSupport.h"

using namespace attnc;
using namespace attnc::test;

using testing::Test;

static const char *causal = R"(mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    })";

/// What `spec` is at `stage`.
static std::string compiled(OpenSpec &spec, const char *stage) {
  auto text = jit::compileToStage(spec.session, spec.kernel, stage);
  EXPECT_TRUE(static_cast<bool>(text)) << spec.diagnostics;
  return text ? std::move(*text) : "";
}

/// `module` as text.
static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

TEST(Compile, KnowsTheNamesOfStages) {
  for (const char *stage : {"attn", "tile", "llvm", "asm", "nvvm", "ptx", "cubin", "sass", "image"}) {
    EXPECT_TRUE(jit::isStage(stage)) << stage;
    EXPECT_NE((", " + jit::getStageNames() + ",").find(std::string(", ") + stage + ","), std::string::npos) << stage;
  }
  EXPECT_FALSE(jit::isStage("pdf"));
  EXPECT_FALSE(jit::isStage(""));
  EXPECT_TRUE(jit::isBinary("image"));
  EXPECT_TRUE(jit::isBinary("cubin"));
  EXPECT_FALSE(jit::isBinary("sass"));
}

TEST(Compile, KnowsTheNamesOfMachines) {
  OpenSpec spec(paddedSpec("", causal));
  mlir::MLIRContext *context = &spec.session.context();
  auto name = [&](const char *machine) {
    image::Result<mlir::Attribute> target = jit::parseTargetAttr(context, machine);
    return target ? jit::getTargetName(*target) : target.message();
  };
  EXPECT_EQ(name("cpu").find("cpu:"), 0u);
  EXPECT_EQ(name("auto"), name("cpu"));
  EXPECT_EQ(name("nvptx"), "nvptx:sm_90a");
  EXPECT_EQ(name("nvptx:sm_80"), "nvptx:sm_80");
  EXPECT_NE(name("nvptx:sm_1").find("unknown architecture 'sm_1'"), std::string::npos);
  EXPECT_NE(name("gpu").find("unknown target 'gpu'"), std::string::npos);
}

TEST(Compile, ShowsEachStage) {
  OpenSpec spec(paddedSpec("", causal));
  std::string attn = compiled(spec, "attn"), tile = compiled(spec, "tile");
  for (const char *part : {"attn.target", "attn.forward", "#attn.schedule<", "bounds"})
    EXPECT_NE(attn.find(part), std::string::npos) << part << " in\n" << attn;
  EXPECT_EQ(attn.find("attn.causal"), std::string::npos) << "sugar is expanded";
  EXPECT_NE(tile.find("tile.program"), std::string::npos);
  EXPECT_EQ(tile.find("attn.forward"), std::string::npos);
  EXPECT_NE(compiled(spec, "llvm").find("define"), std::string::npos);
  EXPECT_NE(compiled(spec, "asm").find(".globl\t"), std::string::npos);
}

TEST(Compile, LeavesTheSpecAsItIs) {
  OpenSpec spec(paddedSpec("", causal));
  std::string before = print(spec.session.spec());
  for (const char *stage : {"attn", "tile", "llvm", "asm", "image"})
    compiled(spec, stage);
  EXPECT_EQ(print(spec.session.spec()), before);
}

TEST(Compile, GivesTheSameImageEachTime) {
  OpenSpec first(paddedSpec("", causal)), second(paddedSpec("", causal));
  std::string bytes = compiled(first, "image");
  EXPECT_EQ(compiled(first, "image"), bytes);
  EXPECT_EQ(compiled(second, "image"), bytes);
  auto image = jit::compileToImage(first.session, first.kernel);
  ASSERT_TRUE(static_cast<bool>(image));
  std::vector<uint8_t> serialized = image::serialize(*image);
  EXPECT_EQ(std::string(serialized.begin(), serialized.end()), bytes);
}

TEST(Compile, DescribesAKernelWithoutItsCode) {
  OpenSpec spec(packedSpec("%n: tensor<?xi32>, %p: f32, %seed: i64", R"(dropout(%p, %seed) mask (%b, %h, %i, %j) {
      %keep = attn.prefix %j, %n[%b] : tensor<?xi32>
      attn.yield %keep : i1
    })"));
  auto described = jit::describeKernel(spec.session, spec.kernel);
  ASSERT_TRUE(static_cast<bool>(described)) << spec.diagnostics;
  auto image = jit::compileToImage(spec.session, spec.kernel);
  ASSERT_TRUE(static_cast<bool>(image)) << spec.diagnostics;
  EXPECT_TRUE(described->bytes.empty());
  EXPECT_FALSE(image->bytes.empty());
  image->bytes.clear();
  EXPECT_EQ(image::serialize(*described), image::serialize(*image));

  EXPECT_EQ(described->name, "kernel");
  EXPECT_EQ(described->symbols, (std::vector<std::string>{"Tq", "Tk", "B"}));
  ASSERT_EQ(described->args.size(), 10U);
  const image::ArgSpec &offsets = described->args[3], &lengths = described->args[5], &p = described->args[6];
  EXPECT_EQ(offsets.content, image::ContentRule::CumulativeLengths);
  EXPECT_EQ(offsets.dims[0].symbol, 2);
  EXPECT_EQ(offsets.dims[0].extra, 1);
  EXPECT_EQ(lengths.dims[0].symbol, 2);
  EXPECT_EQ(lengths.dims[0].extra, 0);
  EXPECT_EQ(p.kind, image::ArgKind::Scalar);
  EXPECT_EQ(p.min, 0.0);
  EXPECT_EQ(p.max, 1.0);
  EXPECT_EQ(described->args[8].role, image::ArgRole::Output);
  EXPECT_TRUE(described->args[8].unitInnerStride);
  ASSERT_FALSE(described->entries.empty());
  EXPECT_GT(described->entries[0].scratchBytes, 0);
  EXPECT_GT(described->entries[0].grid.evaluate({100, 100, 3}), 0);
}

TEST(Compile, LimitsAnArgumentByEachOfItsUses) {
  OpenSpec spec(
      paddedSpec("%l: tensor<?xi32>, %n: index", R"(lengths(query = %l : tensor<?xi32>, key = %l : tensor<?xi32>)
    q_offset(%n) mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(%n)
      attn.yield %keep : i1
    })"));
  auto image = jit::describeKernel(spec.session, spec.kernel);
  ASSERT_TRUE(static_cast<bool>(image)) << spec.diagnostics;
  const image::ArgSpec &lengths = image->args[3], &n = image->args[4];
  EXPECT_EQ(lengths.content, image::ContentRule::Lengths);
  ASSERT_EQ(lengths.contentSymbols.size(), 2U);
  EXPECT_EQ(image->symbols[static_cast<size_t>(lengths.contentSymbols[0])], "Sq");
  EXPECT_EQ(image->symbols[static_cast<size_t>(lengths.contentSymbols[1])], "Sk");
  EXPECT_EQ(n.min, 0.0);
  EXPECT_FALSE(n.max) << "a window may be as wide as anything";
  ASSERT_EQ(n.positions.size(), 1U);
  EXPECT_EQ(n.positions[0].max, (int64_t(1) << 31) - 1);
  EXPECT_EQ(image->symbols[static_cast<size_t>(n.positions[0].queries)], "Sq");
  EXPECT_EQ(image->symbols[static_cast<size_t>(n.positions[0].keys)], "Sk");
}

TEST(Compile, RefusesSizesThatNoLaunchCanHave) {
  OpenSpec spec(paddedSpec("%t: tensor<536870913xf32>", R"(score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.load %t[%d] : tensor<536870913xf32>
      attn.yield %x : f32
    })"));
  EXPECT_FALSE(static_cast<bool>(jit::describeKernel(spec.session, spec.kernel)));
  EXPECT_NE(spec.diagnostics.find("expected dimension 0 of 't' to be at most 536870912, got 536870913 [S18]"),
            std::string::npos)
      << spec.diagnostics;
}

/// A condition as text: "Sq 0 to 99, Sk 512 to inf".
std::string textOf(const image::KernelImage &image, const image::SizeCondition &condition) {
  std::string text;
  for (const image::SizeRange &range : condition)
    text += (text.empty() ? "" : ", ") + range.size.toString(image.symbols) + " " + std::to_string(range.min) + " to " +
            (range.max == attn::unlimited ? "inf" : std::to_string(range.max));
  return text;
}

/// The same with what it excludes: "B 4 to 4 unless Sq 0 to 99 unless Sk 0 to 9".
std::string textOf(const image::KernelImage &image, const image::LaunchRule &rule) {
  std::string text = textOf(image, rule.when);
  for (const image::SizeCondition &condition : rule.unless)
    text += " unless " + textOf(image, condition);
  return text;
}

TEST(Compile, GivesEachScheduleAnEntryForItsSizes) {
  // Panels of 16 rows suit registers of 256 and of 512 bits.
  constexpr const char *schedules =
      R"(schedule(#attn.schedule<query_tile = 16, key_tile = 64, panel = 16, when = <queries = to 99>>,
      #attn.schedule<query_tile = 32, key_tile = 64, panel = 16, when = <queries = from 100>>))";
  OpenSpec spec(paddedSpec("", schedules));
  auto image = jit::compileToImage(spec.session, spec.kernel);
  ASSERT_TRUE(static_cast<bool>(image)) << spec.diagnostics;
  ASSERT_EQ(image->entries.size(), 2U);
  const image::KernelEntry &first = image->entries[0], &second = image->entries[1];
  EXPECT_EQ(textOf(*image, first.launches), "Sq 0 to 99");
  EXPECT_EQ(textOf(*image, second.launches), "Sq 100 to inf");
  EXPECT_NE(first.symbol, second.symbol);

  OpenSpec packed(packedSpec("", schedules));
  auto ofMean = jit::describeKernel(packed.session, packed.kernel);
  ASSERT_TRUE(static_cast<bool>(ofMean)) << packed.diagnostics;
  ASSERT_EQ(ofMean->entries.size(), 2U);
  // Without sequences, the mean is of one.
  const image::LaunchRule &longer = ofMean->entries[1].launches;
  ASSERT_EQ(longer.when.size(), 1U);
  auto getMean = [&](std::vector<int64_t> tqAndTkAndB) { return longer.when[0].size.evaluate(tqAndTkAndB); };
  EXPECT_EQ(ofMean->symbols, (std::vector<std::string>{"Tq", "Tk", "B"}));
  EXPECT_EQ(getMean({60, 9, 4}), 15);
  EXPECT_EQ(getMean({61, 9, 4}), 16);
  EXPECT_EQ(getMean({0, 0, 0}), 0);

  // Of several sizes the first that holds; what types fix is not asked at launch.
  OpenSpec several(paddedSpec("", R"(schedule(
      #attn.schedule<query_tile = 16, key_tile = 16, panel = 16, when = <queries = to 99, keys = from 512, query_heads = 2>>,
      #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, when = <queries = to 99, query_heads = from 3>>,
      #attn.schedule<query_tile = 16, key_tile = 64, panel = 16, when = <batch = 4 to 8, all_heads = to 8>>,
      #attn.schedule<query_tile = 32, key_tile = 64, panel = 16>))"));
  auto ofSeveral = jit::describeKernel(several.session, several.kernel);
  ASSERT_TRUE(static_cast<bool>(ofSeveral)) << several.diagnostics;
  std::vector<std::string> rules;
  for (const image::KernelEntry &entry : ofSeveral->entries)
    rules.push_back(textOf(*ofSeveral, entry.launches));
  EXPECT_EQ(rules, (std::vector<std::string>{"Sq 0 to 99, Sk 512 to inf",
                                             "B 4 to 8, B * 2 0 to 8 unless Sq 0 to 99, Sk 512 to inf",
                                             " unless Sq 0 to 99, Sk 512 to inf unless B 4 to 8, B * 2 0 to 8"}));

  OpenSpec one(paddedSpec("", "schedule(#attn.schedule<query_tile = 16, key_tile = 64, panel = 16>)"));
  auto plain = jit::describeKernel(one.session, one.kernel);
  ASSERT_TRUE(static_cast<bool>(plain)) << one.diagnostics;
  ASSERT_EQ(plain->entries.size(), 1U);
  EXPECT_EQ(textOf(*plain, plain->entries[0].launches), "");

  // A CPU's own: one for few queries, and one for more.
  OpenSpec open(paddedSpec());
  auto own = jit::describeKernel(open.session, open.kernel);
  ASSERT_TRUE(static_cast<bool>(own)) << open.diagnostics;
  ASSERT_EQ(own->entries.size(), 2U);
  std::string few = textOf(*own, own->entries[0].launches);
  EXPECT_EQ(few.substr(0, 8), "Sq 0 to ");
  EXPECT_EQ(textOf(*own, own->entries[1].launches), " unless " + few);
}

TEST(Compile, ReportsAScheduleThatDoesNotFit) {
  OpenSpec spec(paddedSpec("", "schedule(#attn.schedule<query_tile = 14, key_tile = 64, panel = 7>)"));
  auto text = jit::compileToStage(spec.session, spec.kernel, "attn");
  EXPECT_FALSE(static_cast<bool>(text));
  EXPECT_EQ(text.message(), "");
  EXPECT_NE(spec.diagnostics.find("expected the schedule's panel"), std::string::npos) << spec.diagnostics;
}

TEST(Compile, ReportsAnArgumentThatCannotBePassed) {
  OpenSpec spec(paddedSpec("%x: f64"));
  auto image = jit::compileToImage(spec.session, spec.kernel);
  EXPECT_FALSE(static_cast<bool>(image));
  EXPECT_NE(spec.diagnostics.find("element type 'f64', which cannot be passed [S13]"), std::string::npos)
      << spec.diagnostics;
}
