//===- CandidatesTest.cpp - Tests of the schedules to try -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/Candidates.h"
#include "TuneTestSupport.h"
#include "dialect/attn/TargetInterface.h"
#include "runtime/jit/Compile.h"
#include "llvm/ADT/DenseSet.h"

using namespace attnc;
using namespace attnc::test;
using attn::ScheduleAttr;

namespace {

/// A causal spec with grouped queries.
std::string causal(llvm::StringRef element, int64_t dim) {
  std::string q = "tensor<?x?x8x" + std::to_string(dim) + "x" + element.str() + ">",
              k = "tensor<?x?x2x" + std::to_string(dim) + "x" + element.str() + ">";
  return "func.func @causal(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q +
         " { %o = attn.forward %q, %k, %v mask (%b, %h, %i, %j) { %keep = attn.causal %i, %j attn.yield %keep : i1 }"
         " : (" +
         q + ", " + k + ", " + k + ") -> " + q + " return %o : " + q + " }";
}

/// The fewest candidates that there must be for a program, where most have `least`: some take no products, and one has
/// little to choose.
static size_t leastOf(attn::Program program, size_t least) {
  if (program == attn::Program::Dsinks || program == attn::Program::Delta || program == attn::Program::ConvertDq)
    return 1;
  return program == attn::Program::Dqdkdv ? 4 : least;
}

/// Checks what is listed for each schedule of a spec on a target: the base first, then others that the target allows,
/// each once, and nothing is reported. The fewest that there must be are `least`.
void check(const std::string &text, llvm::StringRef name, bool backward, size_t least) {
  OpenSpec spec(text);
  attn::KernelFunction kernel = spec.kernel;
  if (backward)
    kernel = *spec.session.deriveBackward(spec.kernel);
  mlir::Attribute machine = *jit::parseTargetAttr(&spec.session.context(), name);
  auto module = jit::lowerToAttn(spec.session, kernel, machine);
  ASSERT_TRUE(module) << spec.diagnostics;
  size_t kernels = 0;
  (*module)->walk([&](attn::KernelOpInterface op) {
    ++kernels;
    auto target = mlir::cast<attn::TargetInterface>(machine);
    for (ScheduleAttr base : op.getSchedules()) {
      llvm::SmallVector<ScheduleAttr> candidates = attn::listCandidates(op, base);
      ASSERT_FALSE(candidates.empty());
      EXPECT_EQ(candidates.front(), base.forAllSizes());
      EXPECT_GE(candidates.size(), leastOf(base.getProgram(), least)) << name.str();
      llvm::DenseSet<ScheduleAttr> distinct;
      for (ScheduleAttr candidate : candidates) {
        EXPECT_TRUE(distinct.insert(candidate).second);
        EXPECT_EQ(candidate.getProgram(), base.getProgram());
        EXPECT_TRUE(candidate.isUniversal());
        EXPECT_TRUE(succeeded(target.checkSchedule(op, candidate)));
      }
    }
  });
  EXPECT_EQ(kernels, 1u);
  EXPECT_EQ(spec.diagnostics, "");
}

TEST(Candidates, OfForward) {
  check(causal("f32", 64), "cpu", /*backward=*/false, 200);
  check(causal("bf16", 64), "nvptx:sm_90a", /*backward=*/false, 200);
  check(causal("bf16", 128), "nvptx:sm_90a", /*backward=*/false, 100);
  check(causal("f16", 256), "nvptx:sm_90a", /*backward=*/false, 10);
  check(causal("f32", 64), "nvptx:sm_90a", /*backward=*/false, 30);
  check(causal("bf16", 128), "nvptx:sm_80", /*backward=*/false, 30);
}

TEST(Candidates, OfGradients) {
  check(causal("f32", 64), "cpu", /*backward=*/true, 200);
  check(causal("bf16", 64), "nvptx:sm_90a", /*backward=*/true, 100);
  check(causal("bf16", 256), "nvptx:sm_90a", /*backward=*/true, 2);
  check(causal("bf16", 64), "nvptx:sm_80", /*backward=*/true, 5);
  check(causal("bf16", 128), "nvptx:sm_80", /*backward=*/true, 5);
  check(causal("bf16", 96), "nvptx:sm_80", /*backward=*/true, 5);
}

TEST(Candidates, TheNearestComeFirst) {
  OpenSpec spec(causal("f32", 64));
  auto module = jit::lowerToAttn(spec.session, spec.kernel, *jit::parseTargetAttr(&spec.session.context(), "cpu"));
  (*module)->walk([&](attn::KernelOpInterface op) {
    llvm::SmallVector<ScheduleAttr> candidates = attn::listCandidates(op, op.getSchedules().back());
    ScheduleAttr base = candidates[0], second = candidates[1], last = candidates.back();
    auto countChanges = [&](ScheduleAttr other) {
      return (other.getQueryTile() != base.getQueryTile()) + (other.getKeyTile() != base.getKeyTile()) +
             (other.getPanel() != base.getPanel());
    };
    EXPECT_EQ(countChanges(second), 1);
    EXPECT_EQ(countChanges(last), 3);
  });
}

} // namespace
