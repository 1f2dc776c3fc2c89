//===- CacheFile.h - The content of a cache's files ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A cache has two kinds of files. An entry, "<key>.kernel", is a kernel image. An
// alias, "<key of a request>.alias", says which entries a spec that is written
// just so has, one for each build of the compiler. An archive holds files of both
// kinds, to be carried to another machine. All carry what they are, their key, and
// a hash of their content: what is truncated, damaged, or under a name that is not
// its own shows when it is read.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHEFILE_H
#define ATTNC_RUNTIME_CACHE_CACHEFILE_H

#include "codegen/image/KernelImage.h"
#include "runtime/cache/Blake3.h"

namespace attnc::cache {

using Bytes = std::vector<uint8_t>;

/// What a file is.
enum class FileKind : uint32_t { Entry = 1, Alias = 2, Archive = 3 };

/// What the name of a file says of it.
struct FileName {
  FileKind kind;
  Digest key;
};

/// The name of the file of `key`: "<64 digits>.kernel", or ".alias".
std::string nameOf(FileKind kind, const Digest &key);

/// What `name` says; nothing where the file is none of a cache.
std::optional<FileName> parseName(std::string_view name);

/// One entry of an alias.
struct AliasTarget {
  Digest build; ///< of the compiler
  Digest key;   ///< of the kernel that it made
};

/// The most builds that an alias remembers.
inline constexpr size_t mostBuilds = 8;

/// One file of an archive.
struct ArchivedFile {
  FileName name;
  Bytes content; ///< all of the file
};

/// The content of the file of an image, an alias or an archive.
Bytes packEntry(const Digest &key, const image::KernelImage &image);
Bytes packAlias(const Digest &key, image::Span<const AliasTarget> targets);
Bytes packArchive(image::Span<const ArchivedFile> files);

/// What a file holds that should be that of `key`. An error says what is wrong with
/// it. What is of another version of attnc but whole is an error as well.
image::Result<image::KernelImage> unpackEntry(const Digest &key, image::Span<const uint8_t> file);
image::Result<std::vector<AliasTarget>> unpackAlias(const Digest &key, image::Span<const uint8_t> file);
image::Result<std::vector<ArchivedFile>> unpackArchive(image::Span<const uint8_t> file);

/// Whether `file` is whole: of that kind and key, be it of this version or another.
image::Status checkWhole(const FileName &name, image::Span<const uint8_t> file);

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHEFILE_H
