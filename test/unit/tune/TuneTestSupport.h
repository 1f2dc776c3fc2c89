//===- TuneTestSupport.h - What tests of tuning share -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_TUNE_TUNETESTSUPPORT_H
#define ATTNC_TEST_UNIT_TUNE_TUNETESTSUPPORT_H

#include "../cache/CacheTestSupport.h"
#include "runtime/tune/RecordBook.h"
#include "test/unit/jit/JitTestSupport.h"

namespace attnc::test {

/// A class of so many queries and keys, and 2 heads.
tune::ShapeClass shapeOf(int64_t queries, int64_t keys = 64);

/// A record that is told from others by `number`, of the kernel with that digest.
tune::Record makeRecord(const tune::ShapeClass &shape, int number = 1, const std::string &schedule = "");

/// The text of a file of records.
std::string makeFile(const std::string &device, const std::vector<tune::Record> &records);

/// The digest of the kernel that `makeRecord` makes records of.
cache::Digest recordedKernel();

/// A schedule for CPUs with registers of any width: one panel a tile.
std::string cpuSchedule(mlir::MLIRContext *context, int64_t keys);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_TUNE_TUNETESTSUPPORT_H
