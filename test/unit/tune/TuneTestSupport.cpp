//===- TuneTestSupport.cpp - What tests of tuning share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "TuneTestSupport.h"
#include "runtime/jit/CompileTarget.h"

using namespace attnc;
using namespace attnc::test;

tune::ShapeClass test::shapeOf(int64_t queries, int64_t keys) {
  return {tune::SizeRange::around(queries), tune::SizeRange::around(keys), tune::SizeRange::around(2)};
}

cache::Digest test::recordedKernel() { return makeKey(1); }

tune::Record test::makeRecord(const tune::ShapeClass &shape, int number, const std::string &schedule) {
  tune::Record record;
  record.kernel = recordedKernel();
  record.target = "cpu:test";
  record.shape = shape;
  record.schedules = {schedule.empty() ? std::vector<std::string>() : std::vector<std::string>{schedule}};
  record.name = "number" + std::to_string(number);
  record.sizes = "Sq=" + std::to_string(number);
  record.defaultSeconds = 0.002;
  record.bestSeconds = 0.001;
  record.candidates = number;
  record.build = "test";
  return record;
}

std::string test::makeFile(const std::string &device, const std::vector<tune::Record> &records) {
  return tune::writeRecords({device, records});
}

std::string test::cpuSchedule(mlir::MLIRContext *context, int64_t keys) {
  auto cpu = mlir::cast<attn::CpuTargetAttr>(jit::targetOrHost(context, {}));
  std::string panel = std::to_string(cpu.getVectorBits() / 32);
  return "#attn.schedule<query_tile = " + panel + ", key_tile = " + std::to_string(keys) + ", panel = " + panel + ">";
}
