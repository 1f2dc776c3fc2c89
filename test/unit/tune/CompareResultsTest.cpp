//===- CompareResultsTest.cpp - Tests of comparing kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/CompareResults.h"
#include "TuneTestSupport.h"
#include "runtime/jit/RandomInputs.h"
#include <cmath>

using namespace attnc;
using namespace attnc::test;
using runtime::Tensor;

namespace {

/// Results of a padded spec: all outputs are 1, all LSEs 5.
struct Results {
  OpenSpec spec{paddedSpec()};
  std::vector<Tensor> want = make(), got = make();

  std::vector<Tensor> make() {
    std::vector<Tensor> made = *jit::allocateOutputs(spec.kernel, shapesOf(spec.kernel, "B=1,Sq=4,Sk=4"));
    made[0].fill(1);
    made[1].fill(5);
    return made;
  }
  std::string compare() { return tune::compareResults(spec.kernel, got, want); }
};

TEST(CompareResults, RoundingIsAllowedAndNothingBeyond) {
  Results results;
  EXPECT_EQ(results.compare(), "");
  results.got[0].storeLinear(3, 1 + 2e-5);
  EXPECT_EQ(results.compare(), "");
  results.got[0].storeLinear(3, 1 + 1e-4);
  EXPECT_EQ(results.compare().substr(0, 28), "an element of 'out' is 1.00,");
  results.got[0].storeLinear(3, 1);
  results.got[1].storeLinear(0, 5 + 1e-4);
  EXPECT_EQ(results.compare(), "");
  results.got[1].storeLinear(0, 5.001);
  EXPECT_NE(results.compare(), "");
}

TEST(CompareResults, ProductsThatRoundToTf32MayDifferByThat) {
  Results results;
  mlir::func::FuncOp function = results.spec.kernel.function;
  results.got[0].storeLinear(3, 1 + 1e-3);
  EXPECT_NE(results.compare(), "");
  function->setAttr(attn::tf32AttrName, mlir::UnitAttr::get(function.getContext()));
  EXPECT_EQ(results.compare(), "");
  results.got[0].storeLinear(3, 1.02);
  EXPECT_NE(results.compare(), "");
}

TEST(CompareResults, WhatIsNotFiniteMustBeTheSame) {
  Results results;
  results.want[1].storeLinear(2, -INFINITY); // a row without a key
  EXPECT_NE(results.compare(), "");
  results.got[1].storeLinear(2, -INFINITY);
  EXPECT_EQ(results.compare(), "");
  results.got[0].storeLinear(0, NAN); // a row that is not written
  EXPECT_EQ(results.compare(), "an element of 'out' is nan, expected 1.00");
}

} // namespace
