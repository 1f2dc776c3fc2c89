//===- ProgressBar.h - How far a command is ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_PROGRESSBAR_H
#define ATTNC_TOOLS_ATTNC_PROGRESSBAR_H

#include "llvm/ADT/StringRef.h"
#include <chrono>

namespace attnc::cli {

/// A line on standard error that shows how far a command is: on a terminal, from the second second on. It goes when its
/// object does.
class ProgressBar {
public:
  ~ProgressBar() { clear(); }

  /// Draws that `share` of all is done; `label` says of what.
  void show(double share, llvm::StringRef label = "");

  /// Takes the line away, for other lines to be printed.
  void clear();

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool isShown = false;
};

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_PROGRESSBAR_H
