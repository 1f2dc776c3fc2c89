//===- LaunchFactsTest.cpp - How kernels are launched -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxCodegen.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace attnc;

namespace {

class LaunchFacts : public testing::Test {
protected:
  LaunchFacts() {
    context.loadDialect<mlir::LLVM::LLVMDialect, tile::TileDialect>();
    image.entries.resize(1);
    image.entries[0].symbol = "kernel";
  }

  /// Reads the facts of a kernel with these attributes into `image`; the error, or "".
  std::string read(const std::string &attributes, const std::string &arguments = "") {
    std::string error;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "llvm.func @kernel(" + arguments + ") attributes {" + attributes + "} { llvm.return }", &context);
    if (!module)
      return "cannot be parsed: " + error;
    EXPECT_EQ(failed(nvptx::setLaunchFacts(image, *module)), !error.empty());
    return error;
  }

  mlir::MLIRContext context;
  image::KernelImage image;
};

} // namespace

TEST_F(LaunchFacts, AreRead) {
  ASSERT_EQ(read("tile.launch = #tile.launch<threads = 384, shared_bytes = 200000, persistent = true, "
                 "blocks_per_multiprocessor = 2, counter = true, tensor_maps = [#tile.tensor_map<arg = 1, "
                 "box = [1, 128, 1, 64], swizzle = 128>, #tile.tensor_map<arg = 0, box = [1, 8, 16]>]>"),
            "");
  const image::KernelEntry &entry = image.entries[0];
  EXPECT_EQ(entry.threads, 384);
  EXPECT_EQ(entry.sharedBytes, 200000);
  EXPECT_TRUE(entry.persistent);
  EXPECT_EQ(entry.blocksPerMultiprocessor, 2);
  EXPECT_TRUE(entry.takesCounter);
  ASSERT_EQ(entry.tensorMaps.size(), 2u);
  EXPECT_EQ(entry.tensorMaps[0].arg, 1);
  EXPECT_EQ(entry.tensorMaps[0].box, (std::vector<int64_t>{1, 128, 1, 64}));
  EXPECT_EQ(entry.tensorMaps[0].swizzleBytes, 128);
  EXPECT_EQ(entry.tensorMaps[1].swizzleBytes, 0);
}

TEST_F(LaunchFacts, HaveDefaults) {
  ASSERT_EQ(read("tile.launch = #tile.launch<threads = 128>"), "");
  EXPECT_FALSE(image.entries[0].persistent);
  EXPECT_FALSE(image.entries[0].takesCounter);
  EXPECT_EQ(image.entries[0].blocksPerMultiprocessor, 1);
  EXPECT_EQ(image.entries[0].sharedBytes, 0);
}

TEST_F(LaunchFacts, MustBeThere) {
  EXPECT_NE(read("").find("needs 'tile.launch'"), std::string::npos);
  EXPECT_NE(read("tile.launch = {threads = 128 : i64}").find("expected 'tile.launch' to be #tile.launch"),
            std::string::npos);
  EXPECT_NE(read("tile.launch = #tile.launch<persistent = true>").find("threads"), std::string::npos);
  EXPECT_NE(read("tile.launch = #tile.launch<threads = 0>").find("expected threads to be at least 1, got 0"),
            std::string::npos);
  EXPECT_NE(read("tile.launch = #tile.launch<threads = 32, tensor_maps = [1]>")
                .find("expected tensor_maps to be an array of #tile.tensor_map"),
            std::string::npos);
  image.entries[0].symbol = "other";
  EXPECT_NE(read("tile.launch = #tile.launch<threads = 128>").find("no kernel 'other'"), std::string::npos);
}

TEST_F(LaunchFacts, FitTheParameters) {
  const std::string threads = "tile.launch = #tile.launch<threads = 128>";
  // Two words behind it, the map at a multiple of 64: 32640 + 128 are too much, a map less is not.
  const auto block = [](int64_t words) {
    return "%args: !llvm.ptr {llvm.byval = !llvm.array<" + std::to_string(words) + " x i64>, llvm.align = 8 : i64}";
  };
  const std::string map = ", %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}";
  EXPECT_EQ(read(threads, block(4095)), "");
  EXPECT_EQ(read(threads, block(4073) + map + ", %tiles: i64"),
            "expected arguments that fit 32764 bytes of a GPU kernel's parameters, got 32776: a tensor of rank r takes "
            "8 + 16 r, a scalar 8");
  EXPECT_EQ(read(threads, block(4072) + map), "");
  std::string maps;
  for (int n = 0; n < 17; ++n)
    maps += std::string(n ? ", " : "") + "#tile.tensor_map<arg = 0, box = [1, 8, 16]>";
  EXPECT_EQ(read("tile.launch = #tile.launch<threads = 128, tensor_maps = [" + maps + "]>"),
            "expected at most 16 tensors for the copy unit in one kernel, got 17");
}

TEST(AssemblerFacts, AreEntered) {
  image::KernelImage image;
  image.entries.resize(2);
  image.entries[0].symbol = "a";
  image.entries[1].symbol = "b";
  nvptx::AssemblerReport report;
  report.entries.push_back({"b", 168, 5, 0, 120, 128, 0});
  nvptx::setAssemblerFacts(image, report);
  EXPECT_EQ(image.entries[0].registers, 0);
  EXPECT_EQ(image.entries[1].registers, 168);
  EXPECT_EQ(image.entries[1].spillBytes, 128);
}
