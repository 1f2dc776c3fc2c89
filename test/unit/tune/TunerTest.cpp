//===- TunerTest.cpp - Tests of finding schedules by trying -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Tuner.h"
#include "TuneTestSupport.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/tune/Subject.h"
#include <chrono>
#include <thread>

using namespace attnc;
using namespace attnc::test;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// What a kernel does after a run: its number, and the arguments.
using Spoil = std::function<void(int number, Span<const ArgValue> values)>;

/// A kernel that does something else after each run, and takes its time.
class SpoiledKernel : public jit::Executable {
public:
  SpoiledKernel(std::unique_ptr<jit::Executable> kernel, Spoil spoil, int number)
      : Executable(kernel->image()), kernel(std::move(kernel)), spoil(std::move(spoil)), number(number) {}

  Status run(Span<const ArgValue> values) override {
    Status status = kernel->run(values);
    if (status)
      spoil(number, values);
    return status;
  }

private:
  std::unique_ptr<jit::Executable> kernel;
  Spoil spoil;
  int number;
};

struct TunerFixture : testing::Test {
  OpenSpec spec{paddedSpec()};
  Remarks remarks;
  tune::TuneOptions options;
  int loads = 0;

  TunerFixture() {
    options.warmUps = 1;
    options.iterations = 4;
    options.seconds = 20; // so that few runs, and not the time, end it
    options.mostCandidates = 4;
    options.remark = remarks.sink();
  }

  /// Tunes with kernels that are spoiled: number 0 is the target's own, candidates are numbered from 1 on.
  Result<tune::Tuning> tune(Spoil spoil = [](int, Span<const ArgValue>) {}) {
    tune::Loader load = [this, spoil](jit::Session &session, const attn::KernelFunction &kernel,
                                      jit::ImageSource source) -> Result<std::unique_ptr<jit::Executable>> {
      Result<KernelImage> image = source(session, kernel, {});
      if (!image)
        return image.takeError();
      Result<std::unique_ptr<jit::LoadedKernel>> loaded = jit::LoadedKernel::load(std::move(*image));
      if (!loaded)
        return loaded.takeError();
      return std::unique_ptr<jit::Executable>(std::make_unique<SpoiledKernel>(std::move(*loaded), spoil, loads++));
    };
    return tune::tune({spec.session, spec.kernel, spec.kernel.function.getName().str(), /*backward=*/false,
                       shapesOf(spec.kernel, "B=1,Sq=20,Sk=30"), load},
                      options);
  }
};

void sleepFor(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST_F(TunerFixture, TheFastestIsChosen) {
  double last = 0;
  options.progress = [&](double share, const std::string &) {
    EXPECT_GE(share, last);
    last = share;
  };
  Result<tune::Tuning> tuning = tune([](int number, Span<const ArgValue>) { sleepFor(number == 3 ? 1 : 4); });
  ASSERT_TRUE(tuning) << tuning.message();
  ASSERT_EQ(tuning->trials.size(), 4u);
  EXPECT_EQ(loads, 5); // and the target's own, as it is
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(tuning->trials[i].isChosen, i == 2) << i;
  const tune::Record &record = tuning->record;
  EXPECT_EQ(record.schedules, (tune::ScheduleTexts{{tuning->trials[2].schedule}}));
  EXPECT_GT(record.defaultSeconds, 2 * record.bestSeconds);
  EXPECT_EQ(record.kernel, tune::digestOf(spec.kernel));
  EXPECT_EQ(record.shape.toString(), "17 to 32 queries, 17 to 32 keys, 2 to 2 heads");
  EXPECT_EQ(record.sizes, "B=1, Sq=20, Sk=30");
  EXPECT_EQ(record.candidates, 4);
  EXPECT_GT(last, 0.5);
}

TEST_F(TunerFixture, TheTargetsOwnStaysWhereNothingIsFaster) {
  Result<tune::Tuning> tuning = tune([](int number, Span<const ArgValue>) { sleepFor(number < 2 ? 1 : 4); });
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_TRUE(tuning->record.isDefaultBest());
  EXPECT_EQ(tuning->record.defaultSeconds, tuning->record.bestSeconds);
}

TEST_F(TunerFixture, WhatGivesOtherResultsIsSkipped) {
  // The fastest by far, for it is wrong.
  Result<tune::Tuning> tuning = tune([](int number, Span<const ArgValue> values) {
    if (number == 3)
      std::get<Tensor>(values[3]).storeLinear(7, 100);
    sleepFor(number == 3 ? 0 : 3);
  });
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->trials[2].fault.substr(0, 22), "it gives other results");
  EXPECT_FALSE(tuning->trials[2].isChosen);
  EXPECT_EQ(tuning->record.candidates, 3);
  EXPECT_EQ(remarks.count("is skipped: it gives other results"), 1);
}

TEST_F(TunerFixture, GradientsOfWhatIsSavedMayBeCompared) {
  options.validateBackward = true;
  Result<tune::Tuning> tuning = tune([](int number, Span<const ArgValue>) { sleepFor(number == 3 ? 1 : 4); });
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_FALSE(tuning->record.isDefaultBest());
  // One kernel more is loaded: that of the gradients.
  EXPECT_EQ(loads, 6);
}

TEST_F(TunerFixture, ASpecsOwnScheduleIsNotTuned) {
  ASSERT_TRUE(tune::setSchedules(spec.kernel, {{cpuSchedule(&spec.session.context(), 8)}}));
  EXPECT_EQ(tune().message(),
            "the spec has a schedule of its own, which is what it is compiled with; remove it to tune");
}

} // namespace
