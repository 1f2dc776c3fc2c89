//===- RequiredThreadsTest.cpp - How many threads blocks have ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/RequiredThreads.h"
#include "gtest/gtest.h"

using namespace attnc;

namespace {

/// An entry as NVRTC prints it.
std::string printEntry(const std::string &name, const std::string &directive) {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0\n)\n" + directive + "{\n\tret;\n}\n";
}

image::KernelEntry entryOf(const std::string &name, int threads) {
  image::KernelEntry entry;
  entry.symbol = name;
  entry.threads = threads;
  return entry;
}

TEST(RequiredThreads, SaysWhatLaunchesGive) {
  std::string ptx =
      printEntry("f", ".maxntid 384, 1, 1\n.minnctapersm 1\n") + printEntry("f_two", ".maxntid 128, 1, 1\n");
  nvrtc::requireThreads(ptx, {entryOf("f", 384), entryOf("f_two", 128)});
  EXPECT_EQ(ptx,
            printEntry("f", ".reqntid 384, 1, 1\n.minnctapersm 1\n") + printEntry("f_two", ".reqntid 128, 1, 1\n"));
}

TEST(RequiredThreads, LeavesOtherBounds) {
  // Edited sources bound their kernels as they like, or not at all, and may have others.
  const std::string given = printEntry("f", ".maxntid 512, 1, 1\n") + printEntry("g", "") +
                            printEntry("other", ".maxntid 384, 1, 1\n") + printEntry("h", ".maxntid 1284, 1, 1\n");
  std::string ptx = given;
  nvrtc::requireThreads(ptx, {entryOf("f", 384), entryOf("g", 384), entryOf("h", 128), entryOf("missing", 384)});
  EXPECT_EQ(ptx, given);
}

} // namespace
