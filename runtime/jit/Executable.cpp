//===- Executable.cpp - A kernel that is ready to run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Executable.h"
#include <chrono>

using namespace attnc;
using namespace attnc::jit;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;

namespace {

/// Runs and looks at the clock of the host.
class HostMeasurement : public Measurement {
public:
  HostMeasurement(Executable &kernel, std::vector<ArgValue> values) : kernel(kernel), values(std::move(values)) {}

  Result<std::vector<double>> time(int runs) override {
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      Clock::time_point begin = Clock::now();
      if (Status status = kernel.run(values); !status)
        return status.takeError();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return seconds;
  }

private:
  Executable &kernel;
  std::vector<ArgValue> values;
};

} // namespace

Result<std::unique_ptr<Measurement>> Executable::measure(Span<const ArgValue> values) {
  return std::unique_ptr<Measurement>(std::make_unique<HostMeasurement>(*this, values.toVector()));
}
