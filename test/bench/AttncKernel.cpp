//===- AttncKernel.cpp - A workload compiled by attnc -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/AttncKernel.h"
#include "runtime/jit/Compile.h"
#include <chrono>

using namespace attnc;
using namespace attnc::bench;
using image::Result;
using image::Status;

Result<AttncKernel> AttncKernel::make(const Workload &workload) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  jit::Session session;
  if (Status status = session.openText(workload.spec(), workload.name()); !status)
    return status.takeError();
  auto function = session.findKernel();
  if (!function)
    return function.takeError();
  auto image = jit::compileToImage(session, *function);
  if (!image)
    return image.takeError();
  auto loaded = jit::LoadedKernel::load(std::move(*image));
  if (!loaded)
    return loaded.takeError();
  AttncKernel made;
  made.kernel = std::move(*loaded);
  made.compileSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  return made;
}

Status AttncKernel::run(const Operands &operands) const {
  return kernel->run({operands.query, operands.key, operands.value, operands.out});
}
