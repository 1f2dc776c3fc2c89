//===- MatrixTiles.cpp - Leave to use tile registers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/image/MatrixTiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attnc::image {

bool permitMatrixTiles() {
#if defined(__x86_64__) && defined(__linux__)
  // Linux, Documentation/arch/x86/xstate.rst. Older headers have no names for these.
  constexpr long requestPermission = 0x1023, tileData = 18;
  static const bool permitted = syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  return permitted;
#else
  return false;
#endif
}

} // namespace attnc::image
