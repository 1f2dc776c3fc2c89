//===- ApiExplainTest.cpp - Tests of explaining through C -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ApiTestSupport.h"
#include "attnc/attnc.hpp"
#include "llvm/ADT/StringRef.h"

using namespace attnc;
using namespace attnc::test;
using llvm::StringRef;

namespace {

std::string causalSpec() {
  return paddedSpec("", "mask (%b, %h, %i, %j) {\n %keep = attn.causal %i, %j\n attn.yield %keep : i1\n }");
}

struct Explained {
  std::string fault, text, svg;
};

Explained explain(const ContextHandle &context, const SpecHandle &spec, attnc_compile_options options) {
  attnc_explanation *explanation = nullptr;
  Explained explained;
  explained.fault = take(attnc_explain(context.get(), spec.get(), &options, &explanation));
  EXPECT_EQ(explanation == nullptr, !explained.fault.empty());
  if (!explanation)
    return explained;
  attnc_explanation_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(take(attnc_explanation_get_info(explanation, &info)), "");
  explained.text = info.text;
  explained.svg = info.svg;
  attnc_explanation_destroy(explanation);
  return explained;
}

attnc_compile_options optionsFor(const char *target, const char *shape = nullptr) {
  attnc_compile_options options = forCpu();
  options.target = target;
  options.shape = shape;
  return options;
}

} // namespace

TEST(ApiExplain, TellsWhatBecomesOfASpec) {
  TemporaryDirectory folder;
  ContextHandle context = makeContext(folder.path());
  SpecHandle spec = makeSpec(context, causalSpec());
  Explained plain = explain(context, spec, optionsFor("cpu"));
  EXPECT_EQ(plain.fault, "");
  EXPECT_TRUE(StringRef(plain.text).contains("mask     j ≤ i")) << plain.text;
  EXPECT_TRUE(StringRef(plain.text).contains("expected B=…,Sq=…,Sk=… in the shape")) << plain.text;
  EXPECT_TRUE(StringRef(plain.text).contains("not compiled yet")) << plain.text;
  EXPECT_EQ(plain.svg, "");

  compile(context, spec);
  Explained sized = explain(context, spec, optionsFor("cpu", "B=1,Sq=64,Sk=64"));
  EXPECT_TRUE(StringRef(sized.text).contains("compiled before: runs take it from\n         " + folder.path()))
      << sized.text;
  EXPECT_TRUE(StringRef(sized.text).contains("kept ")) << sized.text;
  EXPECT_TRUE(StringRef(sized.svg).starts_with("<svg")) << sized.svg.substr(0, 40);
}

TEST(ApiExplain, TakesGpusThatAreNotHere) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, causalSpec());
  attnc_compile_options options = optionsFor("nvptx:sm_90a", "B=1,Sq=4096,Sk=4096");
  options.backward = 1;
  Explained explained = explain(context, spec, options);
  EXPECT_EQ(explained.fault, "");
  EXPECT_TRUE(StringRef(explained.text).contains("target nvptx:sm_90a")) << explained.text;
  EXPECT_TRUE(StringRef(explained.text).contains("kernel   attn.backward")) << explained.text;
}

TEST(ApiExplain, RefusesWhatItCannotExplain) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, causalSpec());
  EXPECT_EQ(explain(context, spec, optionsFor("cpu", "B=1,Sq=64")).fault,
            "the spec leaves sizes open: expected Sk=… in the shape");
  EXPECT_EQ(explain(context, spec, optionsFor("cpu", "B=4000000,Sq=64,Sk=64")).fault,
            "size 'B': expected at most 1048576, got 4000000");
  EXPECT_EQ(explain(context, spec, optionsFor("cpu", "B=1,Sq=1000000000,Sk=1000000000")).fault.substr(0, 30),
            "the arguments and results take");
  EXPECT_EQ(explain(context, spec, optionsFor("nvptx:sm_1")).fault.substr(0, 20), "unknown architecture");
  EXPECT_EQ(take(attnc_explain(context.get(), spec.get(), nullptr, nullptr)),
            "expected a place for the explanation, got null");
  EXPECT_EQ(take(attnc_explanation_get_info(nullptr, nullptr)), "expected an explanation, got null");
  attnc_explanation_destroy(nullptr);
}

TEST(ApiExplain, IsAnObjectInCpp) {
  Result<Context> context = Context::create();
  ASSERT_TRUE(context);
  Result<Spec> spec = context->readSpec(causalSpec());
  ASSERT_TRUE(spec);
  Result<Explanation> explanation = context->explain(*spec, "B=1,Sq=8,Sk=8", "cpu");
  ASSERT_TRUE(explanation);
  EXPECT_TRUE(StringRef(explanation->info().text).contains("B=1, Sq=8, Sk=8"));
  EXPECT_FALSE(context->explain(*spec, "B=1", "cpu"));
}
