//===- Memory.h - Aligned, untouched host memory ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The one allocator of the runtime, for tensors and for scratch memory.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_MEMORY_H
#define ATTNC_RUNTIME_MEMORY_H

#include <cstdint>
#include <memory>

namespace attnc::runtime {

/// The alignment of owned memory, in bytes: a cache line and an AVX-512 vector.
inline constexpr int64_t memoryAlignment = 64;

/// `bytes` of aligned memory with unspecified content, freed with its last
/// owner; null where there is not so much. An address even for 0 bytes. Nothing
/// is written to it, so that large blocks take pages only as they are used, near
/// the core that first writes them.
std::shared_ptr<void> allocateMemory(int64_t bytes);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_MEMORY_H
