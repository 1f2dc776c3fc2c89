//===- CacheArchive.cpp - Caches that travel -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheArchive.h"

#include <algorithm>

using namespace attnc;
using namespace attnc::cache;
using image::Error;
using image::Result;
using image::Span;
using image::Status;

/// Whether this version can read `file`.
static bool isReadable(const FileName &name, Span<const uint8_t> file) {
  if (name.kind == FileKind::Alias)
    return static_cast<bool>(unpackAlias(name.key, file));
  return static_cast<bool>(unpackEntry(name.key, file));
}

static void count(const FileName &name, ArchiveCounts &counts) {
  ++(name.kind == FileKind::Alias ? counts.aliases : counts.kernels);
}

Result<Bytes> cache::exportArchive(const CacheDirectory &directory, ArchiveCounts &counts) {
  Result<std::vector<StoredFile>> stored = directory.list();
  if (!stored)
    return stored.takeError();
  std::vector<ArchivedFile> files;
  for (const StoredFile &file : *stored) {
    Result<Bytes> content = directory.read(file.name);
    if (!content || !isReadable(file.name, *content)) {
      ++counts.leftOut;
      continue;
    }
    count(file.name, counts);
    files.push_back({file.name, std::move(*content)});
  }
  return packArchive(files);
}

/// The alias that says what `added` says, and after it what `known` does.
static Bytes joinAliases(const Digest &key, Span<const uint8_t> added, Span<const uint8_t> known) {
  std::vector<AliasTarget> targets;
  for (Span<const uint8_t> file : {added, known})
    if (Result<std::vector<AliasTarget>> more = unpackAlias(key, file))
      for (const AliasTarget &target : *more)
        if (std::none_of(targets.begin(), targets.end(),
                         [&](const AliasTarget &other) { return other.build == target.build; }))
          targets.push_back(target);
  targets.resize(std::min(targets.size(), mostBuilds));
  return packAlias(key, targets);
}

Result<ArchiveCounts> cache::importArchive(const CacheDirectory &directory, Span<const uint8_t> archive) {
  Result<std::vector<ArchivedFile>> files = unpackArchive(archive);
  if (!files)
    return files.takeError();
  if (Status status = directory.create(); !status)
    return Error{"'" + directory.path() + "': " + status.message()};
  ArchiveCounts counts;
  for (const ArchivedFile &file : *files) {
    if (!isReadable(file.name, file.content)) {
      ++counts.leftOut;
      continue;
    }
    Bytes content = file.content;
    if (file.name.kind == FileKind::Alias)
      if (Result<Bytes> known = directory.read(file.name))
        content = joinAliases(file.name.key, file.content, *known);
    if (Status status = directory.write(file.name, content); !status)
      return Error{"'" + directory.pathOf(file.name) + "': " + status.message()};
    count(file.name, counts);
    counts.written.push_back(file.name);
  }
  return counts;
}
