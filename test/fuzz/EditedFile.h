//===- EditedFile.h - Binary files from a fuzzer's input --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Files with a hash in front are refused by it whatever a fuzzer changes, and what reads them is never reached. So an
// input says how it becomes a file, by its first byte:
//
//   f   the rest is the file
//   p   the rest is what follows the preamble of a good file, whose length and hash are made to fit
//   e   the rest edits a good file, and length and hash are made to fit: three bytes an edit, the place and what is
//       XORed there; an edit that XORs 0 cuts the file off at its place
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_FUZZ_EDITEDFILE_H
#define ATTNC_TEST_FUZZ_EDITEDFILE_H

#include "../unit/runtime/SampleImage.h"

namespace attnc::test {

/// The file that `input` makes of `good`, which has a preamble of so many bytes.
inline std::vector<uint8_t> makeFile(image::Span<const uint8_t> input, std::vector<uint8_t> good,
                                     size_t preambleBytes) {
  if (input.empty())
    return {};
  const image::Span<const uint8_t> rest = input.slice(1, input.size() - 1);
  if (*input.begin() == 'f')
    return {rest.begin(), rest.end()};
  if (*input.begin() == 'p') {
    good.resize(preambleBytes);
    good.insert(good.end(), rest.begin(), rest.end());
    return refit(good, preambleBytes);
  }
  const uint8_t *edit = rest.begin();
  for (size_t left = rest.size() / 3; left > 0 && !good.empty(); --left, edit += 3) {
    const size_t place = (edit[0] + size_t(256) * edit[1]) % good.size();
    if (edit[2] == 0)
      good.resize(place);
    else
      good[place] ^= edit[2];
  }
  return refit(good, preambleBytes);
}

} // namespace attnc::test

#endif // ATTNC_TEST_FUZZ_EDITEDFILE_H
