//===- ErrorTest.cpp - Tests of errors as values and of views --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "codegen/image/Error.h"
#include "codegen/image/Span.h"

#include <gtest/gtest.h>

using namespace attnc::image;

namespace {

Result<std::unique_ptr<int>> parse(bool good) {
  if (!good)
    return Error{"not good"};
  return std::make_unique<int>(7);
}

TEST(Error, StatusCarriesItsMessage) {
  Status success;
  EXPECT_TRUE(success);
  EXPECT_EQ(success.message(), "");
  Status failure = Error{"reason"};
  EXPECT_FALSE(failure);
  EXPECT_EQ(failure.message(), "reason");
  EXPECT_EQ(failure.takeError().message, "reason");
}

TEST(Error, ResultHoldsValueOrError) {
  auto success = parse(true);
  ASSERT_TRUE(success);
  EXPECT_EQ(**success, 7);
  EXPECT_EQ(*std::move(*success), 7);
  auto failure = parse(false);
  EXPECT_FALSE(failure);
  EXPECT_EQ(failure.message(), "not good");
}

TEST(Span, ViewsContainersArraysAndLists) {
  std::vector<int> values = {1, 2, 3};
  Span<int> view = values;
  view[1] = 9;
  EXPECT_EQ(values[1], 9);
  Span<const int> constant = view;
  EXPECT_EQ(constant.data(), values.data());
  const std::vector<int> fixed = {4, 5};
  EXPECT_EQ(Span<const int>(fixed).size(), 2u);
  int array[] = {6, 7, 8, 9};
  EXPECT_EQ(Span<const int>(array).slice(1, 2).toVector(), (std::vector<int>{7, 8}));
  EXPECT_TRUE(Span<const int>().empty());
  const auto sum = [](Span<const int> items) {
    int total = 0;
    for (int item : items)
      total += item;
    return total;
  };
  EXPECT_EQ(sum({1, 2, 3, 4}), 10);
}

TEST(FunctionRef, CallsWithoutCopying) {
  int calls = 0;
  auto count = [&calls](int by) { return calls += by; };
  FunctionRef<int(int)> reference = count;
  FunctionRef<int(int)> copy = reference;
  EXPECT_EQ(reference(2), 2);
  EXPECT_EQ(copy(3), 5);
  EXPECT_EQ(calls, 5);
}

} // namespace
