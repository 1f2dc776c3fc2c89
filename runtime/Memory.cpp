//===- Memory.cpp - Aligned, untouched host memory -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Small blocks from the heap, large ones from fresh pages.
//
//===----------------------------------------------------------------------===//

#include "runtime/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace attnc::runtime {

/// From this size on, in bytes, memory comes from fresh pages, which the system
/// gives only when they are first written. Smaller blocks are cheaper from the
/// heap.
static constexpr int64_t mappedFrom = int64_t{1} << 20;

std::shared_ptr<void> allocateMemory(int64_t bytes) {
  if (bytes >= mappedFrom) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    return std::shared_ptr<void>(memory, [bytes](void *memory) { munmap(memory, bytes); });
  }
  const int64_t lines = std::max<int64_t>(1, (bytes + memoryAlignment - 1) / memoryAlignment);
  void *memory = std::aligned_alloc(memoryAlignment, lines * memoryAlignment);
  if (!memory)
    return nullptr;
  return std::shared_ptr<void>(memory, [](void *memory) { std::free(memory); });
}

} // namespace attnc::runtime
