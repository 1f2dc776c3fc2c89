//===- Subject.h - What records are about -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_SUBJECT_H
#define ATTNC_RUNTIME_TUNE_SUBJECT_H

#include "runtime/cuda/Device.h"
#include "runtime/jit/Session.h"
#include "runtime/tune/Record.h"

namespace attnc::tune {

/// The digest of what `kernel` computes: its function without names, comments and schedules. Two specs that say the
/// same share their records.
cache::Digest digestOf(const attn::KernelFunction &kernel);

/// Whether a kernel of the function has schedules of its own.
bool hasOwnSchedules(const attn::KernelFunction &kernel);

/// Gives the kernels of a function the schedules that `texts` say, or none where their list is empty. A text that is no
/// schedule, or schedules that do not go together, are an error.
image::Status setSchedules(attn::KernelFunction &kernel, const ScheduleTexts &texts);

/// Takes the schedules of all kernels of the function away: the target's own are chosen then.
void clearSchedules(attn::KernelFunction &kernel);

/// The text of a schedule.
std::string print(attn::ScheduleAttr schedule);

/// What records call this CPU as the device of `target`, an image's: "cpu:znver3, 16 cores".
std::string nameOfCpu(llvm::StringRef target);

/// What records call a GPU: "NVIDIA H200".
inline std::string nameOfGpu(const cuda::DeviceFacts &gpu) { return gpu.name; }

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_SUBJECT_H
