//===- PlaceTest.cpp - Tests of where kernels of a target run ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/Place.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/Session.h"
#include <gtest/gtest.h>

using namespace attnc;
using runtime::Place;

// The runtime has a list of its own, since it launches without the compiler.
TEST(Place, EveryBackendOfOursHasOne) {
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  jit::Session session(os);
  for (const target::Backend *backend : jit::getBackends()) {
    const std::string names = backend->describeNames(), kind = names.substr(0, names.find_first_of(" ,:"));
    SCOPED_TRACE(kind);
    auto machine = backend->parse(&session.context(), kind);
    ASSERT_TRUE(machine && *machine) << "the first name that a backend tells of is its kind";
    std::optional<Place> place = runtime::findPlace(backend->getName(**machine));
    ASSERT_TRUE(place) << "the C API compiles for it, and cannot launch it";
    EXPECT_EQ(*place == Place::Host, backend->getHostFeatures(**machine).has_value());
    EXPECT_NE(runtime::describePlaces().find(kind), std::string::npos);
  }
}

TEST(Place, OthersHaveNone) {
  EXPECT_FALSE(runtime::findPlace("sim:sm_90a"));
  EXPECT_FALSE(runtime::findPlace("nvptxx:sm_90a"));
  EXPECT_FALSE(runtime::findPlace(""));
}
