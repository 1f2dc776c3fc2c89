//===- AssemblerTest.cpp - PTX to machine code ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs an assembler of the CUDA toolkit, and is skipped where there is none.
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/CudaTools.h"
#include "codegen/nvptx/NvJitLink.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>
#include <set>

using namespace attnc;
using namespace attnc::nvptx;
using image::Result;

static PtxModule makePtx(llvm::StringRef body) {
  std::string text = (".version 8.3\n.target sm_90a\n.address_size 64\n"
                      ".visible .entry kernel(.param .u64 out)\n.reqntid 128\n.minnctapersm 1\n{\n.reg .b64 %rd<3>;\n"
                      "ld.param.u64 %rd1, [out];\n" +
                      body + "\nst.global.u64 [%rd1], %rd1;\nret;\n}\n")
                         .str();
  return {std::move(text), /*kernels=*/1, /*exchangesRegisters=*/body.contains("setmaxnreg")};
}

static bool isElf(const std::vector<uint8_t> &bytes) {
  return bytes.size() > 4 && bytes[0] == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F';
}

TEST(Assembler, Ptxas) {
  if (findCudaProgram("ptxas").empty())
    GTEST_SKIP() << "no ptxas";
  AssemblerOptions options;
  options.assembler = Assembler::Ptxas;
  Result<AssembledKernel> kernel = assemble(makePtx("setmaxnreg.dec.sync.aligned.u32 24;"), "sm_90a", options);
  ASSERT_TRUE(kernel) << kernel.message();
  EXPECT_TRUE(isElf(kernel->cubin));
  EXPECT_EQ(kernel->by, "ptxas");
  ASSERT_TRUE(kernel->report.find("kernel"));
  EXPECT_GT(kernel->report.find("kernel")->registers, 0);
  EXPECT_TRUE(kernel->report.performanceLosses().empty());
}

// Where many registers were spilled, ptxas has computed values again in registers that held others.
TEST(Assembler, SpillsAreOptimizedLess) {
  if (findCudaProgram("ptxas").empty())
    GTEST_SKIP() << "no ptxas";
  auto makeSum = [](int count) {
    std::string loads, stores;
    for (int number = 0; number < count; ++number) {
      std::string name = "%f" + std::to_string(number), place = "[%rd1+" + std::to_string(4 * number) + "]";
      loads += "ld.volatile.global.f32 " + name + ", " + place + ";\n";
      stores += "st.volatile.global.f32 " + place + ", " + name + ";\n";
    }
    return makePtx(".reg .f32 %f<" + std::to_string(count) + ">;\n" + loads + stores);
  };
  AssemblerOptions options;
  options.assembler = Assembler::Ptxas;
  Result<AssembledKernel> kernel = assemble(makeSum(200), "sm_90a", options);
  ASSERT_TRUE(kernel) << kernel.message();
  EXPECT_EQ(kernel->report.findMostSpilled(), 0);
  EXPECT_EQ(kernel->level, mostOptimized);
  kernel = assemble(makeSum(800), "sm_90a", options);
  ASSERT_TRUE(kernel) << kernel.message();
  EXPECT_GT(kernel->report.findMostSpilled(), mostSpilled);
  EXPECT_EQ(kernel->level, leastOptimized);
}

TEST(Assembler, NvJitLink) {
  if (!hasNvJitLink())
    GTEST_SKIP() << "no libnvJitLink";
  AssemblerOptions options;
  options.assembler = Assembler::NvJitLink;
  Result<AssembledKernel> kernel = assemble(makePtx(""), "sm_90a", options);
  ASSERT_TRUE(kernel) << kernel.message();
  EXPECT_TRUE(isElf(kernel->cubin));
  EXPECT_EQ(kernel->by, "nvJitLink");
  ASSERT_TRUE(kernel->report.find("kernel"));
  EXPECT_GT(kernel->report.find("kernel")->registers, 0);

  // It cannot change register counts, and says so.
  kernel = assemble(makePtx("setmaxnreg.dec.sync.aligned.u32 24;"), "sm_90a", options);
  ASSERT_TRUE(kernel) << kernel.message();
  ASSERT_EQ(kernel->report.performanceLosses().size(), 1u);
  EXPECT_EQ(kernel->report.performanceLosses()[0].code, "C7504");

  kernel = assemble(makePtx("wrong.one;"), "sm_90a", options);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.message().find("nvJitLink: line 10: "), 0u) << kernel.message();

  // The library would end the process.
  EXPECT_FALSE(assemble(makePtx(""), "sm_1", options));
  EXPECT_FALSE(assemble(makePtx(""), "sm_999", options));
  EXPECT_FALSE(assemble({".version 99.9\n.target sm_90a\n"}, "sm_90a", options));
}

TEST(Assembler, RefusesAndKeeps) {
  AssemblerOptions options;
  options.required = true;
  options.keepRefused = true;
  Result<AssembledKernel> kernel = assemble(makePtx("wrong.one;"), "sm_90a", options);
  ASSERT_FALSE(kernel);
  if (findCudaProgram("ptxas").empty() && !hasNvJitLink())
    GTEST_SKIP() << "nothing assembles";
  EXPECT_NE(kernel.message().find("line 10: "), std::string::npos) << kernel.message();
  size_t at = kernel.message().find("the PTX is in ");
  ASSERT_NE(at, std::string::npos) << kernel.message();
  std::string path = kernel.message().substr(at + 14);
  EXPECT_TRUE(llvm::sys::fs::exists(path));
  EXPECT_FALSE(llvm::sys::fs::remove(path));
}

TEST(Assembler, LeavesWhatItIsTooOldForToTheDriver) {
  if (findCudaProgram("ptxas").empty())
    GTEST_SKIP() << "there is no ptxas";
  const PtxModule newer = {".version 99.9\n.target sm_90a\n.address_size 64\n"};
  for (const auto &[ptx, arch] : {std::pair(makePtx(""), "sm_999"), std::pair(newer, "sm_90a")}) {
    AssemblerOptions options;
    Result<AssembledKernel> kernel = assemble(ptx, arch, options);
    ASSERT_TRUE(kernel) << kernel.message();
    EXPECT_TRUE(kernel->cubin.empty());
    options.required = true;
    EXPECT_EQ(assemble(ptx, arch, options).message(),
              "the assembler is too old for " + std::string(arch) + " or for this version of PTX");
  }
}

TEST(Assembler, LeavesKernelsToTheDriver) {
  AssemblerOptions options;
  options.assembler = Assembler::None;
  Result<AssembledKernel> kernel = assemble(makePtx(""), "sm_90a", options);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->cubin.empty());
  EXPECT_TRUE(kernel->by.empty());
  options.required = true;
  EXPECT_FALSE(assemble(makePtx(""), "sm_90a", options));
}

TEST(Assembler, IsToldFromOtherVersions) {
  llvm::SmallString<64> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("attnc-ptxas", folder));
  const std::string program = (folder + "/ptxas").str(), before = getenv("PATH") ? getenv("PATH") : "";
  setenv("PATH", folder.c_str(), 1);
  std::set<std::string> described;
  for (const char *text : {"#!/bin/sh\n", "#!/bin/sh\nexit 1\n"}) {
    std::ofstream(program) << text;
    ASSERT_FALSE(llvm::sys::fs::setPermissions(program, llvm::sys::fs::all_all));
    EXPECT_EQ(describeAssembler().find(program + " "), 0u) << describeAssembler();
    EXPECT_EQ(describeAssembler(), describeAssembler());
    described.insert(describeAssembler());
  }
  EXPECT_EQ(described.size(), 2u);
  setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(llvm::sys::fs::remove(program));
  EXPECT_FALSE(llvm::sys::fs::remove(folder));
}

TEST(CudaTools, SaysWhatCannotRun) { EXPECT_EQ(findCudaProgram("no-such-program-of-cuda"), ""); }
