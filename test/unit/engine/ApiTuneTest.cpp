//===- ApiTuneTest.cpp - Tests of tuning through the C API ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ApiTestSupport.h"
#include "attnc/attnc.hpp"
#include "dialect/attn/AttnDialect.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/tune/Record.h"

using namespace attnc;
using namespace attnc::test;

namespace {

/// How to tune within a moment, and without chance: one candidate at least is measured.
attnc_tune_options quickly(const char *shape) {
  attnc_tune_options options = {};
  options.struct_size = sizeof(options);
  options.target = "cpu";
  options.shape = shape;
  options.seconds = 20; // so that few runs, and not the time, end it
  options.warm_ups = -1;
  options.iterations = 2;
  options.candidates = 2;
  return options;
}

struct Tuned {
  std::string fault, device, records;
  double defaultSeconds = 0, bestSeconds = 0;
  int64_t candidates = 0;
};

Tuned tuneSpec(const ContextHandle &context, const SpecHandle &spec, const attnc_tune_options &options) {
  attnc_tuning *tuning = nullptr;
  Tuned tuned;
  tuned.fault = take(attnc_tune(context.get(), spec.get(), &options, &tuning));
  if (!tuning)
    return tuned;
  attnc_tuning_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(take(attnc_tuning_get_info(tuning, &info)), "");
  tuned.device = info.device;
  tuned.records = info.records;
  tuned.defaultSeconds = info.default_seconds;
  tuned.bestSeconds = info.best_seconds;
  tuned.candidates = info.candidates;
  attnc_tuning_destroy(tuning);
  return tuned;
}

/// What compiling by `options` gives: an error, or where the kernel came from.
std::string compileBy(const ContextHandle &context, const SpecHandle &spec, const attnc_compile_options &options) {
  attnc_kernel *kernel = nullptr;
  if (std::string fault = take(attnc_compile(context.get(), spec.get(), &options, &kernel)); !fault.empty())
    return fault;
  const char *origins[] = {"image", "compiler", "disk", "memory"};
  std::string origin = origins[originOf({kernel, [](attnc_kernel *) {}})];
  attnc_kernel_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(take(attnc_kernel_get_info(kernel, &info)), "");
  attnc_kernel_destroy(kernel);
  return origin + ", entries " + std::to_string(info.num_entries);
}

attnc_compile_options byPolicy(int32_t policy, const char *shape = nullptr) {
  attnc_compile_options options = forCpu();
  options.policy = policy;
  options.shape = shape;
  return options;
}

/// The record that tuning gave, with a schedule that is not the target's own.
std::string withSchedule(const std::string &records) {
  tune::RecordList list = *tune::readRecords(records);
  // One panel of one register, whatever the machine's registers are: half as wide as four of their lanes.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect>();
  auto cpu = mlir::cast<attn::CpuTargetAttr>(jit::targetOrHost(&context, {}));
  std::string panel = std::to_string(cpu.getVectorBits() / 32);
  list.records[0].schedules = {{"#attn.schedule<query_tile = " + panel + ", key_tile = 16, panel = " + panel + ">"}};
  return tune::writeRecords(list);
}

TEST(ApiTune, TunesAndUsesTheRecord) {
  TemporaryDirectory folder;
  ContextHandle context = makeContext(folder.path());
  SpecHandle spec = makeSpec(context, paddedSpec());
  EXPECT_EQ(compileBy(context, spec, byPolicy(ATTNC_POLICY_RECORDS)).substr(0, 20), "no record of @kernel");
  EXPECT_EQ(compileBy(context, spec, forCpu()), "compiler, entries 2");
  EXPECT_EQ(compileBy(context, spec, forCpu()), "memory, entries 2");
  Tuned tuned = tuneSpec(context, spec, quickly("B=1,Sq=20,Sk=30"));
  ASSERT_EQ(tuned.fault, "");
  EXPECT_EQ(tuned.candidates, 2);
  EXPECT_GT(tuned.bestSeconds, 0);
  EXPECT_LE(tuned.bestSeconds, tuned.defaultSeconds);
  EXPECT_EQ(tuned.device.substr(0, 4), "cpu:");
  // What is there now is the record's, which another process finds in the files.
  EXPECT_EQ(compileBy(context, spec, byPolicy(ATTNC_POLICY_RECORDS)).substr(0, 3) == "no ", false);
  ContextHandle other = makeContext(folder.path());
  EXPECT_EQ(compileBy(other, spec, byPolicy(ATTNC_POLICY_RECORDS)).substr(0, 3) == "no ", false);
}

TEST(ApiTune, RecordsMayBeGiven) {
  TemporaryDirectory folder;
  ContextHandle context = makeContext(folder.path());
  SpecHandle spec = makeSpec(context, paddedSpec());
  std::string records = withSchedule(tuneSpec(context, spec, quickly("B=1,Sq=20,Sk=30")).records);
  // One for few queries, and one for more.
  EXPECT_EQ(compileBy(context, spec, byPolicy(ATTNC_POLICY_HEURISTICS)), "compiler, entries 2");
  ASSERT_EQ(take(attnc_context_add_records(context.get(), records.data(), records.size())), "");
  // From 17 queries on it is the record's schedule: a program more, and another kernel.
  EXPECT_EQ(compileBy(context, spec, forCpu()), "compiler, entries 3");
  EXPECT_EQ(compileBy(context, spec, forCpu()), "memory, entries 3");
  EXPECT_EQ(compileBy(context, spec, byPolicy(ATTNC_POLICY_HEURISTICS)).substr(8), "entries 2");
  // Those of a context are its own; what it made of them lies in the cache, under a key that holds the schedules.
  ContextHandle other = makeContext(folder.path());
  EXPECT_EQ(compileBy(other, spec, byPolicy(ATTNC_POLICY_HEURISTICS)), "disk, entries 2");
  ASSERT_EQ(take(attnc_context_add_records(other.get(), records.data(), records.size())), "");
  EXPECT_EQ(compileBy(other, spec, forCpu()), "disk, entries 3");
  // A schedule that is given goes before all records.
  attnc_compile_options own = forCpu();
  own.schedule = "#attn.schedule<query_tile = 32, key_tile = 8, panel = 16>";
  EXPECT_EQ(compileBy(other, spec, own), "compiler, entries 1");

  records[records.find("\"sizes\"") + 10] = 'X';
  EXPECT_EQ(take(attnc_context_add_records(context.get(), records.data(), records.size())).substr(0, 17),
            "damaged or edited");
  EXPECT_EQ(take(attnc_context_add_records(context.get(), nullptr, 0)), "expected a context and records, got null");
}

TEST(ApiTune, AutotuneTunesOnce) {
  TemporaryDirectory folder;
  Remarks remarks;
  ContextHandle context = makeContext(folder.path(), &remarks);
  SpecHandle spec = makeSpec(context, paddedSpec());
  auto wish = byPolicy(ATTNC_POLICY_AUTOTUNE, "B=1,Sq=1,Sk=1");
  std::string first = compileBy(context, spec, wish);
  EXPECT_EQ(first.substr(0, 8), "compiler") << first;
  EXPECT_EQ(compileBy(context, spec, wish).substr(0, 6), "memory");
  ContextHandle other = makeContext(folder.path());
  EXPECT_EQ(compileBy(other, spec, wish).substr(0, 4), "disk");
  EXPECT_EQ(compileBy(other, spec, byPolicy(ATTNC_POLICY_RECORDS)).substr(0, 3) == "no ", false);
}

TEST(ApiTune, SaysWhatIsWrong) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, paddedSpec());
  EXPECT_EQ(tuneSpec(context, spec, quickly(nullptr)).fault.substr(0, 27), "the spec leaves sizes open:");
  EXPECT_EQ(tuneSpec(context, spec, quickly("B=x")).fault.substr(0, 5), "shape");
  EXPECT_EQ(tuneSpec(context, spec, quickly("B=0,Sq=4,Sk=4")).fault,
            "expected sizes of 1 or more to tune at, got B=0, Sq=4, Sk=4");
  attnc_tune_options options = quickly("B=1,Sq=4,Sk=4");
  options.seconds = -1;
  EXPECT_EQ(tuneSpec(context, spec, options).fault,
            "expected seconds, iterations and candidates of 0 or more, and warm_ups of -1 or more");
  options = quickly("B=1,Sq=4,Sk=4");
  options.validate_backward = 2;
  EXPECT_EQ(tuneSpec(context, spec, options).fault, "expected validate_backward to be 0 or 1, got 2");
  options = quickly("B=1,Sq=4,Sk=4");
  options.target = "toaster";
  EXPECT_EQ(tuneSpec(context, spec, options).fault.substr(0, 24), "unknown target 'toaster'");
  EXPECT_EQ(take(attnc_tune(context.get(), nullptr, &options, nullptr)), "expected a context and a spec, got null");
  EXPECT_EQ(compileBy(context, spec, byPolicy(7)), "expected policy to be an attnc_policy, got 7");
  EXPECT_EQ(compileBy(context, spec, byPolicy(ATTNC_POLICY_AUTOTUNE)),
            "expected a shape, whose sizes are tuned for, with ATTNC_POLICY_AUTOTUNE; got null");
}

TEST(ApiTune, WorksFromCpp) {
  TemporaryDirectory folder;
  auto options = makeStruct<attnc_context_options>();
  options.cache_directory = folder.path().c_str();
  options.use_cache = 1;
  Result<Context> context = Context::create(&options);
  ASSERT_TRUE(context);
  Result<Spec> spec = context->readSpec(paddedSpec());
  ASSERT_TRUE(spec);
  attnc_tune_options quick = quickly("B=1,Sq=20,Sk=30");
  int told = 0;
  quick.progress = [](void *data, double, const char *) { ++*static_cast<int *>(data); };
  quick.progress_data = &told;
  Result<Tuning> tuning = context->tune(*spec, quick);
  ASSERT_TRUE(tuning) << tuning.error().message();
  EXPECT_GT(told, 0);
  EXPECT_TRUE(context->addRecords(tuning->info().records));
}

} // namespace
