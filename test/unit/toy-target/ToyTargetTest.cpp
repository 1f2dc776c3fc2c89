//===- ToyTargetTest.cpp - A target from outside ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/toy-target/ToyTarget.h"
#include "runtime/jit/Compile.h"
#include "tools/attnc/Commands.h"
#include "llvm/Support/FileSystem.h"
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
    toy::registerAll();
  }

  /// What `attnc` prints to standard output for `command` and its arguments; the whole error where it fails.
  static std::string runTool(const cli::Command &command, std::vector<const char *> args) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    cli::ExitCode code = cli::runCommand(command, args);
    llvm::outs().flush();
    std::string out = testing::internal::GetCapturedStdout(), error = testing::internal::GetCapturedStderr();
    return code == cli::Success ? out : "failed: " + error;
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

namespace {

/// A file that holds the spec, for as long as this lives.
class SpecFile {
public:
  SpecFile() {
    int descriptor = -1;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("toy", "mlir", descriptor, path));
    std::string text = spec;
    text.replace(text.find("SCHEDULE"), 8, "");
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  }
  ~SpecFile() { EXPECT_FALSE(llvm::sys::fs::remove(path)); }
  SpecFile(const SpecFile &) = delete;
  SpecFile &operator=(const SpecFile &) = delete;

  const char *name() { return path.c_str(); }

private:
  llvm::SmallString<128> path;
};

} // namespace

TEST_F(ToyTarget, IsCompiledForByTheTool) {
  SpecFile file;
  std::string listing = runTool(cli::compileCommand, {file.name(), "--target", "toy", "--emit", "listing"});
  EXPECT_NE(listing.find("tile.mma\n"), std::string::npos) << listing;
}

TEST_F(ToyTarget, IsExplained) {
  SpecFile file;
  std::string text = runTool(cli::explainCommand, {file.name(), "--target", "toy"});
  EXPECT_NE(text.find("target toy"), std::string::npos) << text;
  EXPECT_NE(text.find("query tile 4, key tile 8"), std::string::npos) << text;
  EXPECT_NE(text.find("4 of 4 building blocks hold rows"), std::string::npos) << text;
}

TEST_F(ToyTarget, IsListed) {
  std::string text = runTool(cli::targetsCommand, {});
  EXPECT_NE(text.find("toy           lists what it would do (not here: toys run nothing)"), std::string::npos) << text;
  EXPECT_EQ(jit::findTarget("toy").message(), "target 'toy' cannot be used here: toys run nothing");
  EXPECT_NE(jit::findTarget("gpu").message().find(", toy"), std::string::npos);
}

TEST_F(ToyTarget, IsInTheHelp) {
  std::string text = runTool(cli::compileCommand, {"--help"});
  EXPECT_NE(text.find("  listing of a toy: the operations that it would carry out\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nvrtc:ARCH, toy."), std::string::npos) << text;
}

TEST_F(ToyTarget, TakesNoSourceByHand) {
  SpecFile file;
  std::string text = runTool(cli::compileCommand, {file.name(), "--target", "toy", "--cuda", file.name()});
  EXPECT_NE(text.find("expected --target nvrtc (sm_90a) or nvrtc:ARCH with --cuda, got 'toy'"), std::string::npos)
      << text;
}

/// A module may come with its target, as those that attnc-opt reads: contexts know the dialect by the backend alone.
TEST_F(ToyTarget, IsKnownToContexts) {
  mlir::DialectRegistry registry;
  jit::registerMachines(registry);
  EXPECT_TRUE(llvm::is_contained(registry.getDialectNames(), "toy"));
  mlir::MLIRContext context(registry);
  EXPECT_TRUE(context.getOrLoadDialect("toy"));
}

/// What asks a machine for its shared memory asks this one too, which has none.
TEST_F(ToyTarget, HasNoSharedMemory) {
  auto listing = compile("schedule(#attn.schedule<query_tile = 4, key_tile = 16, panel = 4, pipeline = "
                         "#attn.warps<consumers = 1, stages = 1>>)",
                         "listing");
  EXPECT_FALSE(static_cast<bool>(listing));
  EXPECT_NE(diagnostics.find(", but a toy has none: choose a schedule without a pipeline"), std::string::npos)
      << diagnostics;
}
