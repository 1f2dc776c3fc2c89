//===- RaceTest.cpp - Tests of measuring in turns ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Race.h"
#include <gtest/gtest.h>

using namespace attnc;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using tune::Runner;

namespace {

/// What all kernels of a test share: a machine that gets slower with each run.
struct Machine {
  double slowdown = 1;
  double heating = 0; ///< by which each run slows it down
  int runs = 0;
};

/// A kernel that takes a given time on a machine, without taking any.
class FakeKernel : public jit::Executable {
public:
  FakeKernel(Machine &machine, double seconds, int mostRuns = 1 << 30)
      : Executable({}), machine(machine), seconds(seconds), mostRuns(mostRuns) {}

  Status run(Span<const ArgValue>) override { return {}; }

  Result<std::unique_ptr<jit::Measurement>> measure(Span<const ArgValue>) override {
    struct Fake : jit::Measurement {
      explicit Fake(FakeKernel &kernel) : kernel(kernel) {}
      Result<std::vector<double>> time(int runs) override { return kernel.time(runs); }
      FakeKernel &kernel;
    };
    return std::unique_ptr<jit::Measurement>(std::make_unique<Fake>(*this));
  }

  int runs = 0;

private:
  Result<std::vector<double>> time(int count) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      if (++runs > mostRuns)
        return image::Error{"the kernel is broken"};
      ++machine.runs;
      times.push_back(seconds * machine.slowdown);
      machine.slowdown += machine.heating;
    }
    return times;
  }

  Machine &machine;
  double seconds;
  int mostRuns;
};

/// Runners of so many milliseconds.
struct Field {
  explicit Field(std::initializer_list<double> milliseconds) {
    for (double time : milliseconds)
      kernels.push_back(std::make_unique<FakeKernel>(machine, time / 1000));
    runners.resize(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i)
      runners[i].kernel = kernels[i].get();
  }
  Machine machine;
  std::vector<std::unique_ptr<FakeKernel>> kernels;
  std::vector<Runner> runners;
};

constexpr auto ignore = [](double) {};

TEST(Race, RunsAllAsOftenAsIsSaid) {
  Field field{4, 2, 8};
  tune::race(field.runners, {}, {/*warmUps=*/5, /*iterations=*/100, /*seconds=*/10}, ignore);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(field.runners[i].runs, 100u);
    EXPECT_EQ(field.kernels[i]->runs, 105);
  }
  EXPECT_DOUBLE_EQ(field.runners[0].ratio, 1);
  EXPECT_DOUBLE_EQ(field.runners[1].ratio, 2);
  EXPECT_DOUBLE_EQ(field.runners[2].ratio, 0.5);
  EXPECT_DOUBLE_EQ(field.runners[1].seconds, 0.002);
}

TEST(Race, HeatDecidesNothing) {
  // From first to last run the machine becomes some ten times as slow, far more than the runners differ.
  Field field{4, 3.9, 4.1};
  field.machine.heating = 0.03;
  tune::race(field.runners, {}, {/*warmUps=*/5, /*iterations=*/100, /*seconds=*/10}, ignore);
  EXPECT_GT(field.machine.slowdown, 9);
  EXPECT_GT(field.runners[1].ratio, 1.0);
  EXPECT_LT(field.runners[2].ratio, 1.0);
}

TEST(Race, TheBrokenLeaves) {
  Field field{4, 4};
  field.kernels.push_back(std::make_unique<FakeKernel>(field.machine, 0.001, /*mostRuns=*/20));
  field.runners.emplace_back();
  field.runners[2].kernel = field.kernels[2].get();
  tune::race(field.runners, {}, {/*warmUps=*/5, /*iterations=*/100, /*seconds=*/10}, ignore);
  EXPECT_EQ(field.runners[2].fault, "the kernel is broken");
  EXPECT_EQ(field.runners[1].runs, 100u);
}

TEST(Race, TheSlowAreLeftOut) {
  Field field{4, 3.8, 8, 2, 2.1, 40, 3};
  std::vector<size_t> fastest = tune::selectFastest(
      field.runners, {}, {/*warmUps=*/5, /*iterations=*/100, /*seconds=*/10}, /*most=*/3, [](size_t) {}, ignore);
  EXPECT_EQ(fastest, (std::vector<size_t>{0, 3, 4}));
  EXPECT_DOUBLE_EQ(field.runners[2].ratio, 0.5);
  // What is hopeless is not looked at for long.
  EXPECT_LT(field.kernels[5]->runs, field.kernels[3]->runs);
}

TEST(Race, WhatIsNotReadyIsNotRun) {
  Field field{4, 2, 2};
  std::vector<size_t> fastest = tune::selectFastest(
      field.runners, {}, {/*warmUps=*/5, /*iterations=*/100, /*seconds=*/10}, /*most=*/8,
      [&](size_t number) {
        if (number == 1)
          field.runners[1].fault = "it gives other results";
      },
      ignore);
  EXPECT_EQ(fastest, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(field.kernels[1]->runs, 0);
}

} // namespace
