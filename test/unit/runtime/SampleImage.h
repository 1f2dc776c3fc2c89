//===- SampleImage.h - An image for tests ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_RUNTIME_SAMPLEIMAGE_H
#define ATTNC_TEST_UNIT_RUNTIME_SAMPLEIMAGE_H

#include "codegen/image/KernelImage.h"

namespace attnc::test {

/// ceildiv(Sq, 96) * B over the symbols B, Sq.
image::GridRule sampleGrid();

/// An image that uses every field. Its code is no code.
image::KernelImage makeSampleImage();

/// The bytes of a file with the length and the hash that fit what follows its preamble, so that this is read. Images
/// have a preamble of 32 bytes, a cache's files one of 64, with both numbers at the same place. Files that have no
/// whole preamble stay as they are.
std::vector<uint8_t> refit(std::vector<uint8_t> file, size_t preambleBytes = 32);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_RUNTIME_SAMPLEIMAGE_H
