//===- ApiThreadsTest.cpp - Tests of compiling in the background *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ApiTestSupport.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace attnc;
using namespace attnc::test;

namespace {

/// A spec whose kernel is told from others by `number`.
std::string numbered(int number) { return paddedSpec("", "scale(" + std::to_string(number) + ".5)"); }

CompilationHandle start(const ContextHandle &context, const SpecHandle &spec) {
  attnc_compile_options options = forCpu();
  attnc_compilation *compilation = nullptr;
  EXPECT_EQ(take(attnc_compile_start(context.get(), spec.get(), &options, &compilation)), "");
  return {compilation, attnc_compilation_destroy};
}

TEST(ApiThreads, CompilesInTheBackground) {
  ContextHandle context = makeContext("");
  CompilationHandle compilation = start(context, makeSpec(context, numbered(1)));
  attnc_kernel *kernel = nullptr;
  ASSERT_EQ(take(attnc_compilation_get(compilation.get(), &kernel)), "");
  EXPECT_EQ(attnc_compilation_is_done(compilation.get()), 1);
  attnc_kernel *again = nullptr;
  ASSERT_EQ(take(attnc_compilation_get(compilation.get(), &again)), "");
  EXPECT_NE(kernel, again);
  attnc_kernel_destroy(kernel);
  attnc_kernel_destroy(again);
}

TEST(ApiThreads, CallsBack) {
  ContextHandle context = makeContext("");
  std::atomic<int> called = 0;
  auto callback = [](void *data, attnc_compilation *compilation) {
    attnc_kernel *kernel = nullptr;
    EXPECT_EQ(attnc_compilation_is_done(compilation), 1);
    EXPECT_EQ(take(attnc_compilation_get(compilation, &kernel)), "");
    attnc_kernel_destroy(kernel);
    ++*static_cast<std::atomic<int> *>(data);
  };
  CompilationHandle compilation = start(context, makeSpec(context, numbered(1)));
  EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), callback, &called)), "");
  EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), nullptr, &called)),
            "expected a compilation and a callback, got null");
  // The handle may go before the end.
  compilation.reset();
  while (called == 0)
    std::this_thread::yield();
  // What has ended calls at once.
  compilation = start(context, makeSpec(context, numbered(1)));
  EXPECT_EQ(attnc_compilation_is_done(compilation.get()), 1);
  EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), callback, &called)), "");
  EXPECT_EQ(called, 2);
}

TEST(ApiThreads, ManyThreadsCompileOnce) {
  TemporaryDirectory root;
  Remarks remarks;
  ContextHandle context = makeContext(root.path(), &remarks);
  std::atomic<int> compiled = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int number = 0; number < 3; ++number) {
        // Half of them ask in other words.
        SpecHandle spec = makeSpec(context, (t % 2 ? "// The same.\n" : "") + numbered(number));
        KernelHandle kernel = compile(context, spec);
        if (kernel && originOf(kernel) == ATTNC_FROM_COMPILER)
          ++compiled;
        EXPECT_TRUE(kernel);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  // Those that waited for the one that compiled have its kernel, and its origin.
  EXPECT_GE(compiled, 3);
  runtime::Result<std::vector<cache::StoredFile>> stored = cache::CacheDirectory(root.path()).list();
  ASSERT_TRUE(stored);
  size_t files = 0;
  for (const cache::StoredFile &file : *stored)
    files += file.name.kind == cache::FileKind::Entry;
  EXPECT_EQ(files, 3u);
  EXPECT_EQ(remarks.all(), std::vector<std::string>());
}

TEST(ApiThreads, AContextWaitsForWhatIsUnderWay) {
  ContextHandle context = makeContext("");
  std::vector<CompilationHandle> compilations;
  compilations.reserve(20);
  for (int number = 0; number < 20; ++number)
    compilations.push_back(start(context, makeSpec(context, numbered(number))));
  context.reset();
  int ended = 0;
  for (const CompilationHandle &compilation : compilations) {
    EXPECT_EQ(attnc_compilation_is_done(compilation.get()), 1);
    attnc_kernel *kernel = nullptr;
    std::string message = take(attnc_compilation_get(compilation.get(), &kernel));
    ended += message == "the context ended before it was compiled";
    EXPECT_EQ(message.empty(), kernel != nullptr) << message;
    attnc_kernel_destroy(kernel);
  }
  EXPECT_GT(ended, 0);
}

} // namespace
