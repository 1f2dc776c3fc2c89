//===- UserCache.cpp - The user's kernel cache ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/UserCache.h"
#include "runtime/cache/CacheEnvironment.h"
#include "runtime/jit/SpecDiagnostics.h"

using namespace attnc;

cache::CacheOptions cli::readUserCache() {
  cache::CacheOptions options = cache::readCacheEnvironment();
  options.remark = [](const std::string &text) { llvm::errs() << "attnc: remark: " + jit::makePrintable(text) + "\n"; };
  return options;
}
