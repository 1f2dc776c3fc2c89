//===- AssemblerReportTest.cpp - Reading what assemblers say ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/AssemblerReport.h"
#include "gtest/gtest.h"

using namespace attnc::nvptx;

TEST(AssemblerReport, ReadsPtxas) {
  AssemblerReport report = parseAssemblerLog(
      R"(ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'f'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'f' for 'sm_90a'
ptxas info    : Function properties for f
    48 bytes stack frame, 120 bytes spill stores, 128 bytes spill loads
ptxas info    : Used 168 registers, used 5 barriers, 48 bytes cumulative stack size, 1024 bytes smem, 544 bytes cmem[0]
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'g' for 'sm_90a'
ptxas info    : Function properties for g
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas warning : Unresolved extern variable 'x' in whole program compilation, ignoring extern qualifier
ptxas info    : Compile time = 9.393 ms
)");
  ASSERT_EQ(report.entries.size(), 2u);
  const EntryReport *f = report.find("f");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->registers, 168);
  EXPECT_EQ(f->barriers, 5);
  EXPECT_EQ(f->stackBytes, 48);
  EXPECT_EQ(f->spillStoreBytes, 120);
  EXPECT_EQ(f->spillLoadBytes, 128);
  EXPECT_EQ(f->sharedBytes, 1024);
  EXPECT_EQ(report.find("g")->registers, 24);
  EXPECT_FALSE(report.find("helper"));

  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_EQ(report.warnings[0].code, "C7510");
  EXPECT_EQ(report.warnings[0].text.find("Potential Performance Loss: wgmma"), 0u);
  EXPECT_EQ(report.warnings[1].code, "");
  EXPECT_EQ(report.warnings[1].text.find("Unresolved extern"), 0u);
  ASSERT_EQ(report.performanceLosses().size(), 1u);
}

TEST(AssemblerReport, ReadsNvJitLink) {
  AssemblerReport report = parseAssemblerLog(
      R"(ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 512 bytes smem
info    : 0 bytes gmem
info    : Function properties for 'k':
info    : used 30 registers, used 2 barriers, 0 stack, 0 bytes smem, 544 bytes cmem[0], 0 bytes lmem
)");
  ASSERT_EQ(report.entries.size(), 1u);
  EXPECT_EQ(report.entries[0].registers, 24);
  EXPECT_EQ(report.entries[0].spillStoreBytes, 4);
  EXPECT_EQ(report.entries[0].spillLoadBytes, 8);
  EXPECT_EQ(report.entries[0].sharedBytes, 512);
  EXPECT_EQ(report.performanceLosses().at(0).code, "C7504");
}

TEST(AssemblerReport, SaysItself) {
  AssemblerReport report;
  report.entries.push_back({"k", 24, 1, 0, 4, 8, 512});
  report.warnings.push_back({"C7504", "something"});
  EXPECT_EQ(toString(report),
            "k: 24 registers, 1 barriers, 4 bytes of spill stores, 8 bytes of spill loads, 0 bytes of "
            "stack, 512 bytes of static shared memory\nC7504: something\n");
}

TEST(AssemblerReport, SummarizesErrors) {
  EXPECT_EQ(summarizeAssemblerErrors("ptxas /tmp/a b.ptx, line 31; error   : Unknown modifier '.xx'\n"
                                     "ptxas /tmp/a b.ptx, line 40; error   : Type mismatch.\n"
                                     "ptxas fatal   : Ptx assembly aborted due to errors\n"),
            "line 31: unknown modifier '.xx'; line 40: type mismatch");
  EXPECT_EQ(summarizeAssemblerErrors("ptxas fatal   : Value 'sm_999' is not defined for option 'gpu-name'\n"),
            "value 'sm_999' is not defined for option 'gpu-name'");
  EXPECT_EQ(summarizeAssemblerErrors("strange\n"), "strange");
  std::string many;
  for (int i = 0; i < 6; ++i)
    many += "ptxas x.ptx, line 1; error   : A\n";
  EXPECT_EQ(summarizeAssemblerErrors(many), "line 1: a; line 1: a; line 1: a; line 1: a; and 2 more");
}
