//===- ProgressBar.cpp - How far a command is -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/ProgressBar.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <string>

using namespace attnc::cli;

void ProgressBar::show(double share, llvm::StringRef label) {
  bool isEarly = std::chrono::steady_clock::now() - start < std::chrono::seconds(1);
  if (isEarly || !llvm::sys::Process::StandardErrIsDisplayed())
    return;
  constexpr int width = 40;
  share = std::clamp(share, 0.0, 1.0);
  auto done = static_cast<size_t>(share * width);
  llvm::errs() << "\r[" << std::string(done, '#') << std::string(width - done, ' ')
               << llvm::format("] %3.0f%% ", 100 * share) << label << "\033[K";
  isShown = true;
}

void ProgressBar::clear() {
  if (isShown)
    llvm::errs() << "\r\033[K";
  isShown = false;
}
