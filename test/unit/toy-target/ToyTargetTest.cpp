//===- ToyTargetTest.cpp - A target from outside ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/toy-target/ToyTarget.h"
#include "runtime/jit/Compile.h"
#include <gtest/gtest.h>

using namespace attnc;

static constexpr const char *spec = R"(
func.func @full(%q: tensor<1x16x2x8xf32> {attn.name = "q"}, %k: tensor<1x16x2x8xf32> {attn.name = "k"},
                %v: tensor<1x16x2x8xf32> {attn.name = "v"}) -> (tensor<1x16x2x8xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v SCHEDULE
    : (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>) -> tensor<1x16x2x8xf32>
  return %o : tensor<1x16x2x8xf32>
})";

namespace {

/// A spec with the schedule of its own that `schedule` writes, and what is said of it.
class ToyTarget : public testing::Test {
protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(jit::getBackends().size(), 3u);
    target::registerBackend(toy::getBackend());
  }

  image::Result<std::string> compile(const std::string &schedule, const char *stage) {
    std::string text = spec;
    text.replace(text.find("SCHEDULE"), 8, schedule);
    if (!session.openText(text, "spec.mlir"))
      return image::Error{"the spec does not parse"};
    auto kernel = session.findKernel("");
    auto machine = jit::parseTargetAttr(&session.context(), "toy");
    if (!kernel || !machine)
      return image::Error{"no kernel or no toy"};
    return jit::compileToStage(session, *kernel, stage, *machine);
  }

  std::string diagnostics;
  llvm::raw_string_ostream os{diagnostics};
  jit::Session session{os};
};

} // namespace

TEST_F(ToyTarget, MakesCodeOfTilePrograms) {
  auto listing = compile("", "listing");
  ASSERT_TRUE(static_cast<bool>(listing)) << diagnostics << listing.message();
  for (const char *line : {"tile.program\n", "tile.load\n", "tile.mma\n", "tile.reduce\n", "tile.store\n"})
    EXPECT_NE(listing->find(line), std::string::npos) << line;
}

TEST_F(ToyTarget, ChoosesTheSchedule) {
  auto attn = compile("", "attn");
  ASSERT_TRUE(static_cast<bool>(attn)) << diagnostics;
  EXPECT_NE(attn->find("#attn.schedule<query_tile = 4, key_tile = 8, panel = 4>"), std::string::npos) << *attn;
}

TEST_F(ToyTarget, ChecksASchedule) {
  auto listing = compile("schedule(#attn.schedule<query_tile = 8, key_tile = 8, panel = 4>)", "listing");
  EXPECT_FALSE(static_cast<bool>(listing));
  EXPECT_NE(diagnostics.find("query_tile to be at most 4 on a toy, got 8"), std::string::npos) << diagnostics;
}

TEST_F(ToyTarget, HasStagesOfItsOwn) {
  EXPECT_TRUE(jit::isStage("listing"));
  auto none = compile("", "ptx");
  EXPECT_EQ(none.message(), "there is no stage 'ptx' on the way to toy; there are attn, tile, listing, image");
}

TEST_F(ToyTarget, IsNamedWhereTargetsAre) {
  auto unknown = jit::parseTargetAttr(&session.context(), "gpu");
  EXPECT_EQ(unknown.message(), "unknown target 'gpu'; kernels are compiled for cpu, nvptx (sm_90a) or nvptx:ARCH, "
                               "nvrtc (sm_90a) or nvrtc:ARCH, toy");
}

TEST_F(ToyTarget, WritesAnImage) {
  auto bytes = compile("", "image");
  ASSERT_TRUE(static_cast<bool>(bytes)) << diagnostics;
  EXPECT_NE(bytes->find("tile.mma"), std::string::npos);
}
