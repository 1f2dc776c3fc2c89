//===- safetensors_fuzzer.cpp - Fuzzes the header parser -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The input is a whole file. Headers that are accepted must keep what the reader
// relies on: tensors that cover the data, each with bytes that fit its shape.
//
//===----------------------------------------------------------------------===//

#include "Require.h"
#include "runtime/Safetensors.h"

using namespace attnc::image;
using namespace attnc::runtime;
using attnc::test::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Result<SafetensorsHeader> header = parseSafetensorsHeader({data, size}, "input");
  if (!header) {
    require(header.message().rfind("input: ", 0) == 0);
    require(header.message().find('\n') == std::string::npos);
    return 0;
  }
  uint64_t covered = 0;
  for (const SafetensorsEntry &entry : header->entries) {
    const auto count = countElements(entry.shape);
    require(count && entry.begin == covered && entry.begin <= entry.end);
    require(static_cast<uint64_t>(*count * byteSize(entry.dtype)) == entry.end - entry.begin);
    covered = entry.end;
  }
  require(header->dataOffset + covered == size);
  return 0;
}
