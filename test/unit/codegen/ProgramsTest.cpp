//===- ProgramsTest.cpp - Programs that the compiler calls ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Programs.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace attnc;
using namespace attnc::codegen;
using image::Result;

TEST(Programs, TemporaryFilesGo) {
  std::string path;
  {
    Result<TemporaryFile> file = TemporaryFile::create("attnc-test", "txt", "words");
    ASSERT_TRUE(file);
    path = file->path();
    EXPECT_EQ(*file->read(), "words");
  }
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}

TEST(Programs, SaysWhatCannotRun) { EXPECT_FALSE(runProgram("/no/such/program", {})); }
