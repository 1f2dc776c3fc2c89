//===- NvidiaGpuTest.cpp - Facts about NVIDIA's GPUs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/target/NvidiaGpu.h"
#include "dialect/attn/AttnDialect.h"
#include "gtest/gtest.h"

using namespace attnc;

TEST(NvidiaGpu, KnowsHopper) {
  mlir::MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  attn::GpuTargetAttr gpu = target::getNvidiaGpu(&context, "sm_90a");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu.getSharedBytes(), 232448);
  EXPECT_EQ(gpu.getMultiprocessors(), 132);
  EXPECT_EQ(gpu.getL2Bytes(), 52428800);
  EXPECT_TRUE(gpu.getWarpgroupMma());
  EXPECT_TRUE(gpu.getTensorCopies());
  EXPECT_GE(gpu.getPtx(), 80);
}

TEST(NvidiaGpu, KnowsAmpere) {
  mlir::MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  attn::GpuTargetAttr gpu = target::getNvidiaGpu(&context, "sm_80");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu.getSharedBytes(), 166912);
  EXPECT_FALSE(gpu.getWarpgroupMma());
}

TEST(NvidiaGpu, GivesNothingForOthers) {
  mlir::MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  EXPECT_FALSE(target::getNvidiaGpu(&context, "sm_90"));
  EXPECT_FALSE(target::getNvidiaGpu(&context, ""));
  EXPECT_NE(target::getNvidiaGpuNames().find("sm_90a"), std::string::npos);
}

TEST(NvidiaGpu, ServesDevices) {
  EXPECT_EQ(target::findNvidiaGpu(9, 0), "sm_90a");
  EXPECT_EQ(target::findNvidiaGpu(8, 0), "sm_80");
  // Code for an earlier minor version runs on a later one.
  EXPECT_EQ(target::findNvidiaGpu(8, 7), "sm_86");
  EXPECT_EQ(target::findNvidiaGpu(12, 1), "sm_120");
  EXPECT_EQ(target::findNvidiaGpu(7, 5), "");
}
