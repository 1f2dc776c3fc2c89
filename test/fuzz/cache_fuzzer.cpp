//===- cache_fuzzer.cpp - Fuzzes the files of a kernel cache ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The first byte of the input says of which kind the file is (n: an entry, a: an alias, else an archive), the rest how
// it comes about (EditedFile.h). What is read must be written and read again as it is.
//===----------------------------------------------------------------------===//

#include "EditedFile.h"
#include "Require.h"
#include "runtime/cache/CacheFile.h"

using namespace attnc;
using namespace attnc::cache;
using image::Result;
using image::Span;

/// Bytes of the preamble of each file of a cache.
static constexpr size_t preambleBytes = 64;

static Digest makeKey() {
  Digest key = {};
  key[0] = 7;
  return key;
}

static void readEntry(Span<const uint8_t> input) {
  const Bytes file = test::makeFile(input, packEntry(makeKey(), test::makeSampleImage()), preambleBytes);
  Result<image::KernelImage> image = unpackEntry(makeKey(), file);
  test::require(image ? bool(unpackEntry(makeKey(), packEntry(makeKey(), *image))) : !image.message().empty());
}

static void readAlias(Span<const uint8_t> input) {
  const AliasTarget target = {makeKey(), makeKey()};
  const Bytes file = test::makeFile(input, packAlias(makeKey(), {&target, 1}), preambleBytes);
  Result<std::vector<AliasTarget>> targets = unpackAlias(makeKey(), file);
  test::require(targets ? unpackAlias(makeKey(), packAlias(makeKey(), *targets))->size() == targets->size()
                        : !targets.message().empty());
}

static void readArchive(Span<const uint8_t> input) {
  const AliasTarget target = {makeKey(), makeKey()};
  const std::vector<ArchivedFile> held = {{{FileKind::Entry, makeKey()}, packEntry(makeKey(), test::makeSampleImage())},
                                          {{FileKind::Alias, makeKey()}, packAlias(makeKey(), {&target, 1})}};
  const Bytes file = test::makeFile(input, packArchive(held), preambleBytes);
  Result<std::vector<ArchivedFile>> files = unpackArchive(file);
  if (!files)
    return test::require(!files.message().empty());
  // What an archive brings goes where its name says, and so must be a name of the cache's own.
  for (const ArchivedFile &found : *files)
    test::require(parseName(nameOf(found.name.kind, found.name.key)).has_value());
  test::require(unpackArchive(packArchive(*files))->size() == files->size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const Span<const uint8_t> input(data + 1, size - 1);
  if (*data == 'n')
    readEntry(input);
  else if (*data == 'a')
    readAlias(input);
  else
    readArchive(input);
  return 0;
}
