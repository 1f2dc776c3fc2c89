//===- ApiThreadsTest.cpp - Tests of compiling in the background *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "../runtime/Sanitizers.h"
#include "ApiTestSupport.h"
#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

/// A context of `threads` threads, without files.
ContextHandle makeContextOf(int32_t threads) {
  attnc_context_options options = {};
  options.struct_size = sizeof(options);
  options.use_cache = -1;
  options.threads = threads;
  attnc_context *context = nullptr;
  EXPECT_EQ(take(attnc_context_create(&options, &context)), "");
  return {context, attnc_context_destroy};
}

/// What callbacks need to compile, and what came of it.
struct Nested {
  const ContextHandle &context;
  std::atomic<int> number = 100, compiled = 0, ended = 0;
};

TEST(ApiThreads, ACallbackMayCompile) {
  for (int32_t threads : {1, 2}) {
    ContextHandle context = makeContextOf(threads);
    Nested nested{context};
    auto callback = [](void *data, attnc_compilation *) {
      Nested &nested = *static_cast<Nested *>(data);
      SpecHandle spec = makeSpec(nested.context, numbered(nested.number++));
      nested.compiled += compile(nested.context, spec) != nullptr;
      // Nor does it wait for a thread that there is not.
      CompilationHandle compilation = start(nested.context, makeSpec(nested.context, numbered(nested.number++)));
      attnc_kernel *kernel = nullptr;
      EXPECT_EQ(take(attnc_compilation_get(compilation.get(), &kernel)), "");
      nested.compiled += kernel != nullptr;
      attnc_kernel_destroy(kernel);
      ++nested.ended;
    };
    for (int number : {1, 2}) {
      CompilationHandle compilation = start(context, makeSpec(context, numbered(number)));
      EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), callback, &nested)), "");
    }
    while (nested.ended < 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(nested.compiled, 4);
  }
}

TEST(ApiThreads, ARemarkMayCompile) {
  TemporaryDirectory root;
  writeFile(root / "file", "");
  struct Told {
    attnc_context *context = nullptr;
    std::atomic<int> remarks = 0, compiled = 0;
  } told;
  auto remark = [](void *data, const char *) {
    Told &told = *static_cast<Told *>(data);
    if (told.remarks++ > 0)
      return;
    // The first is the one that the remark is of.
    for (int number : {1, 2}) {
      attnc_spec *spec = nullptr;
      EXPECT_EQ(take(readSpec(told.context, numbered(number), &spec)), "");
      attnc_compile_options options = forCpu();
      attnc_kernel *kernel = nullptr;
      EXPECT_EQ(take(attnc_compile(told.context, spec, &options, &kernel)),
                number == 2
                    ? ""
                    : "the kernel is being compiled by this very thread, which called back on the way: expected "
                      "another to wait for it");
      told.compiled += kernel != nullptr;
      attnc_kernel_destroy(kernel);
      attnc_spec_destroy(spec);
    }
  };
  attnc_context_options options = {};
  options.struct_size = sizeof(options);
  const std::string directory = root / "file/cache";
  options.cache_directory = directory.c_str();
  options.use_cache = 1;
  options.threads = 1;
  options.remark = remark;
  options.remark_data = &told;
  ASSERT_EQ(take(attnc_context_create(&options, &told.context)), "");
  ContextHandle context(told.context, attnc_context_destroy);
  EXPECT_TRUE(compile(context, makeSpec(context, numbered(1))));
  EXPECT_EQ(told.remarks, 1);
  EXPECT_EQ(told.compiled, 1);
}

TEST(ApiThreads, ACallbackDoesNotOwnItsHandle) {
  ContextHandle context = makeContextOf(1);
  std::atomic<int> called = 0;
  auto callback = [](void *data, attnc_compilation *compilation) {
    attnc_compilation_destroy(compilation);
    EXPECT_EQ(attnc_compilation_is_done(compilation), 1);
    ++*static_cast<std::atomic<int> *>(data);
  };
  CompilationHandle compilation = start(context, makeSpec(context, numbered(1)));
  EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), callback, &called)), "");
  while (called == 0)
    std::this_thread::yield();
  EXPECT_EQ(take(attnc_compilation_on_done(compilation.get(), callback, &called)), "");
  EXPECT_EQ(called, 2);
}

/// Forks a child that does `work`, which must end within some seconds; whether it did, and found nothing wrong.
template <typename Work>
bool isWellInAChild(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    work();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ApiThreads, AChildOfABusyContextIsToldSo) {
  ContextHandle context = makeContextOf(1);
  SpecHandle known = makeSpec(context, numbered(0)), unknown = makeSpec(context, numbered(100));
  KernelHandle kernel = compile(context, known);
  std::vector<CompilationHandle> compilations;
  for (int number = 1; number < 10; ++number)
    compilations.push_back(start(context, makeSpec(context, numbered(number))));
  const std::string message = "the context was in use when this process was forked, and its threads are in the parent: "
                              "expected a fork before the first context is made, or a context that the child makes";
  EXPECT_EQ(attnc_context_is_usable(context.get()), 1);
  EXPECT_TRUE(isWellInAChild([&] {
    EXPECT_EQ(attnc_context_is_usable(context.get()), 0);
    attnc_spec *read = nullptr;
    EXPECT_EQ(take(readSpec(context.get(), numbered(0), &read)), message);
    attnc_compile_options options = forCpu();
    for (const SpecHandle *spec : {&known, &unknown}) {
      attnc_kernel *made = nullptr;
      attnc_compilation *started = nullptr;
      attnc_explanation *explained = nullptr;
      EXPECT_EQ(take(attnc_compile(context.get(), spec->get(), &options, &made)), message);
      EXPECT_EQ(take(attnc_compile_start(context.get(), spec->get(), &options, &started)), message);
      EXPECT_EQ(take(attnc_explain(context.get(), spec->get(), &options, &explained)), message);
    }
    EXPECT_EQ(take(attnc_context_add_records(context.get(), "", 0)), message);
    attnc_kernel *made = nullptr;
    auto callback = [](void *, attnc_compilation *) {};
    const char *lost = "the kernel was being compiled when this process was forked, and is ready in the parent alone";
    EXPECT_EQ(attnc_compilation_is_done(compilations.back().get()), 0);
    EXPECT_EQ(take(attnc_compilation_get(compilations.back().get(), &made)), lost);
    EXPECT_EQ(take(attnc_compilation_on_done(compilations.back().get(), callback, nullptr)), lost);
    compilations.clear();
    context.reset();
  }));
  // The parent goes on.
  EXPECT_TRUE(compile(context, unknown));
}

TEST(ApiThreads, AChildOfAnIdleContextCompiles) {
  if (isThreadSanitized)
    GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  ContextHandle context = makeContextOf(1);
  EXPECT_TRUE(compile(context, makeSpec(context, numbered(1))));
  // The thread ends a moment after its kernel is there.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(isWellInAChild([&] {
    EXPECT_TRUE(compile(context, makeSpec(context, numbered(1))));
    EXPECT_TRUE(compile(context, makeSpec(context, numbered(2))));
    EXPECT_EQ(attnc_context_is_usable(context.get()), 1);
    context.reset();
  }));
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
  image::Result<std::vector<cache::StoredFile>> stored = cache::CacheDirectory(root.path()).list();
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
