//===- CachedCompileTest.cpp - Tests of keys of kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/engine/CachedCompile.h"
#include "runtime/engine/BuildId.h"
#include "runtime/jit/ScheduleText.h"
#include "test/unit/jit/JitTestSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace attnc;
using namespace attnc::test;
using cache::CachedImage;
using cache::Digest;
using cache::Origin;
using image::Result;

namespace {

/// The key of the kernel of `text` for `target`.
Digest keyOf(const std::string &text, const std::string &schedule = "", llvm::StringRef target = "cpu") {
  OpenSpec spec(text);
  if (!schedule.empty())
    EXPECT_TRUE(jit::setSchedule(schedule, "schedule", spec.stream, spec.kernel)) << spec.diagnostics;
  return engine::getKey(spec.kernel, *jit::parseTargetAttr(&spec.session.context(), target));
}

std::string replace(std::string text, const std::string &from, const std::string &to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(CachedCompile, HowASpecIsWrittenIsNoPartOfItsKey) {
  const std::string text = paddedSpec();
  const Digest key = keyOf(text);
  EXPECT_EQ(keyOf(text), key);
  EXPECT_EQ(keyOf("// A comment.\n\n\n" + text), key);
  EXPECT_EQ(keyOf(replace(text, "%o", "%renamed")), key);
}

TEST(CachedCompile, WhatItMeansIs) {
  const std::string text = paddedSpec();
  const Digest key = keyOf(text);
  EXPECT_NE(keyOf(paddedSpec("", "scale(0.25)")), key);
  EXPECT_NE(keyOf(paddedSpec("", "scale(0.25)")), keyOf(paddedSpec("", "scale(0.5)")));
  EXPECT_NE(keyOf(replace(text, "attn.name = \"out\"", "attn.name = \"result\"")), key);
}

TEST(CachedCompile, TargetsAndSchedulesArePartsOfIt) {
  const std::string text = paddedSpec();
  const std::string schedule = "#attn.schedule<query_tile = 16, key_tile = 64, panel = 16>";
  std::set<Digest> keys = {keyOf(text), keyOf(text, schedule), keyOf(text, "", "nvptx:sm_80"),
                           keyOf(text, "", "nvptx:sm_90a")};
  EXPECT_EQ(keys.size(), 4u);
}

TEST(CachedCompile, ABuildHasAnId) {
  llvm::StringRef id = engine::getBuildId();
  auto [version, code] = id.split('-');
  EXPECT_EQ(version.count('.'), 2u);
  EXPECT_EQ(code.size(), 64u);
  EXPECT_TRUE(llvm::all_of(code, llvm::isHexDigit));
}

TEST(CachedCompile, CompilesOnce) {
  cache::KernelCache cache({});
  OpenSpec first(paddedSpec()), second("// The same.\n" + paddedSpec());
  Result<CachedImage> made = engine::compileCached(first.session, first.kernel, {}, cache);
  ASSERT_TRUE(made) << made.message() << first.diagnostics;
  EXPECT_EQ(made->origin, Origin::Compiler);
  EXPECT_EQ(made->image->buildId, engine::getBuildId());
  Result<CachedImage> found = engine::compileCached(second.session, second.kernel, {}, cache);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, Origin::Memory);
  EXPECT_EQ(found->image, made->image);
}

TEST(CachedCompile, TheRuntimesDigestIsLlvms) {
  std::vector<uint8_t> bytes(9000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * i >> 3);
  for (size_t size : {0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 3072, 3073, 5000, 8192, 9000}) {
    llvm::BLAKE3Result<32> expected = llvm::BLAKE3::hash(llvm::ArrayRef(bytes.data(), size));
    EXPECT_EQ(cache::blake3({bytes.data(), size}), expected) << size;
  }
}

} // namespace
