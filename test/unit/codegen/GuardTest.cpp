//===- GuardTest.cpp - Tests of faults as values ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Guard.h"
#include "../runtime/Sanitizers.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace attnc;
using namespace attnc::test;

namespace {

TEST(Guard, LetsWorkThrough) {
  int done = 0;
  EXPECT_FALSE(codegen::isGuarded());
  EXPECT_TRUE(codegen::runGuarded([&] { done += codegen::isGuarded(); }));
  EXPECT_FALSE(codegen::isGuarded());
  EXPECT_EQ(done, 1);
}

TEST(Guard, MakesAFatalErrorAnError) {
  bool after = false;
  image::Status status = codegen::runGuarded([&] {
    llvm::report_fatal_error("cannot select");
    after = true;
  });
  EXPECT_EQ(status.message(), "the compiler gave up, which is a fault of attnc: cannot select");
  EXPECT_FALSE(after);
}

TEST(Guard, MakesALackOfMemoryAnError) {
  image::Status status = codegen::runGuarded([] { llvm::report_bad_alloc_error("Buffer allocation failed"); });
  EXPECT_EQ(status.message(), "the compiler was refused memory: Buffer allocation failed");
}

/// Asks for more memory than there is, by `operator new`; the size is nothing that a compiler looks at.
void askForMuch() {
  static volatile size_t much = SIZE_MAX / 4;
  ::operator delete(::operator new(much));
}

/// The same by `malloc`, and writes there without a look.
void writeIntoMuch() {
  static volatile size_t much = SIZE_MAX / 4;
  auto *place = static_cast<volatile char *>(std::malloc(much));
  *place = 1;
}

TEST(Guard, MakesARefusalOfNewAnError) {
  if (isThreadSanitized || isAddressSanitized)
    GTEST_SKIP() << "sanitizers end programs that ask for so much";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(codegen::runCompiler(askForMuch).message(),
              "the compiler was refused memory: the system has no more for this process");
  // In any other place it is what it was.
  EXPECT_DEATH((void)codegen::runGuarded(askForMuch), "");
  EXPECT_DEATH((void)codegen::runCompiler([] {
                 codegen::WithoutRecovery whileThreadsWork;
                 askForMuch();
               }),
               "");
  EXPECT_DEATH((void)codegen::runCompiler([] { std::thread(askForMuch).join(); }), "bad_alloc");
  EXPECT_EQ(codegen::runCompiler(askForMuch).message(),
            "the compiler was refused memory: the system has no more for this process");
}

TEST(Guard, MakesARefusalOfMallocAnError) {
  if (isThreadSanitized || isAddressSanitized)
    GTEST_SKIP() << "sanitizers end programs that ask for so much";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(codegen::runCompiler(writeIntoMuch).message(),
              "the compiler was refused memory: the system has no more for this process");
  EXPECT_DEATH((void)codegen::runGuarded(writeIntoMuch), "");
}

TEST(Guard, StandsInEachThreadAndInItself) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        image::Status inner,
            outer = codegen::runGuarded([&] {
              inner = codegen::runGuarded([&] { llvm::report_fatal_error(llvm::Twine("inner ") + llvm::Twine(t)); });
              llvm::report_fatal_error(llvm::Twine("outer ") + llvm::Twine(t));
            });
        EXPECT_NE(inner.message().find("inner " + std::to_string(t)), std::string::npos);
        EXPECT_NE(outer.message().find("outer " + std::to_string(t)), std::string::npos);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
