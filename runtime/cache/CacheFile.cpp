//===- CacheFile.cpp - The content of a cache's files ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The layout, all little endian:
//
//   8 bytes   magic "ATTNCKC\n"    8 bytes   length of what follows the preamble
//   4 bytes   version              8 bytes   XXH64 of it
//   4 bytes   kind                32 bytes   key, of zeros for an archive
//
// An entry holds the image as `serialize` gives it, an alias pairs of a build and
// a key, 64 bytes each, and an archive whole files, one after another.
//
// The preamble is the same for all versions, so that each tells a damaged file
// from one of another.
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheFile.h"
#include "codegen/image/Hash.h"

#include <cstring>

using namespace attnc;
using namespace attnc::cache;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;

namespace {

constexpr char magic[8] = {'A', 'T', 'T', 'N', 'C', 'K', 'C', '\n'};

/// Changes with every change of what follows the preamble, images aside, which
/// have a version of their own.
constexpr uint32_t version = 1;

struct Preamble {
  char magic[8];
  uint32_t version;
  uint32_t kind;
  uint64_t length;
  uint64_t hash;
  Digest key;
};
static_assert(sizeof(Preamble) == 64, "the preamble has no padding");
static_assert(sizeof(AliasTarget) == 64, "pairs are written as they lie");

} // namespace

std::string cache::nameOf(FileKind kind, const Digest &key) {
  return toHex(key) + (kind == FileKind::Alias ? ".alias" : ".kernel");
}

std::optional<FileName> cache::parseName(std::string_view name) {
  for (FileKind kind : {FileKind::Entry, FileKind::Alias})
    if (std::optional<Digest> key = parseDigest(name.substr(0, name.find('.'))))
      if (nameOf(kind, *key) == name)
        return FileName{kind, *key};
  return std::nullopt;
}

static Bytes pack(FileKind kind, const Digest &key, Span<const uint8_t> content) {
  Preamble preamble = {};
  std::memcpy(preamble.magic, magic, sizeof(magic));
  preamble.version = version;
  preamble.kind = static_cast<uint32_t>(kind);
  preamble.length = content.size();
  preamble.hash = image::hash64(content);
  preamble.key = key;
  Bytes file(sizeof(preamble));
  std::memcpy(file.data(), &preamble, sizeof(preamble));
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

/// The preamble of `file`, which begins with it and may go on after its content.
static Result<Preamble> readPreamble(Span<const uint8_t> file) {
  Preamble preamble = {};
  if (file.size() < sizeof(preamble))
    return Error{"not a file of a kernel cache: expected at least " + std::to_string(sizeof(preamble)) +
                 " bytes, got " + std::to_string(file.size())};
  std::memcpy(&preamble, file.data(), sizeof(preamble));
  if (std::memcmp(preamble.magic, magic, sizeof(magic)) != 0)
    return Error{"not a file of a kernel cache: wrong magic number"};
  const size_t left = file.size() - sizeof(preamble);
  if (preamble.length > left)
    return Error{"truncated: expected " + std::to_string(preamble.length) + " bytes of content, got " +
                 std::to_string(left)};
  return preamble;
}

/// The content of `file`, which holds nothing else, be it of this version or another.
static Result<Span<const uint8_t>> unpack(FileKind kind, const Digest &key, Span<const uint8_t> file) {
  Result<Preamble> preamble = readPreamble(file);
  if (!preamble)
    return preamble.takeError();
  const Span<const uint8_t> content = file.slice(sizeof(Preamble), file.size() - sizeof(Preamble));
  if (content.size() != preamble->length)
    return Error{"expected " + std::to_string(preamble->length) + " bytes of content, got " +
                 std::to_string(content.size())};
  if (preamble->kind != static_cast<uint32_t>(kind))
    return Error{"a file of another kind: expected " + std::to_string(static_cast<uint32_t>(kind)) + ", got " +
                 std::to_string(preamble->kind)};
  if (preamble->key != key)
    return Error{"the file of another key: " + toHex(preamble->key)};
  if (image::hash64(content) != preamble->hash)
    return Error{"damaged: content does not match its hash"};
  return content;
}

/// The same for this version alone.
static Result<Span<const uint8_t>> unpackOwn(FileKind kind, const Digest &key, Span<const uint8_t> file) {
  Result<Span<const uint8_t>> content = unpack(kind, key, file);
  Preamble preamble = {};
  if (content)
    std::memcpy(&preamble, file.data(), sizeof(preamble));
  if (content && preamble.version != version)
    return Error{"a file of version " + std::to_string(preamble.version) + ", expected " + std::to_string(version)};
  return content;
}

Bytes cache::packEntry(const Digest &key, const KernelImage &image) {
  return pack(FileKind::Entry, key, image::serialize(image));
}

Result<KernelImage> cache::unpackEntry(const Digest &key, Span<const uint8_t> file) {
  Result<Span<const uint8_t>> content = unpackOwn(FileKind::Entry, key, file);
  if (!content)
    return content.takeError();
  return image::deserialize(*content);
}

Bytes cache::packAlias(const Digest &key, Span<const AliasTarget> targets) {
  Bytes content(targets.size() * sizeof(AliasTarget));
  if (!content.empty())
    std::memcpy(content.data(), targets.data(), content.size());
  return pack(FileKind::Alias, key, content);
}

Result<std::vector<AliasTarget>> cache::unpackAlias(const Digest &key, Span<const uint8_t> file) {
  Result<Span<const uint8_t>> content = unpackOwn(FileKind::Alias, key, file);
  if (!content)
    return content.takeError();
  if (content->size() % sizeof(AliasTarget) != 0)
    return Error{"malformed alias"};
  std::vector<AliasTarget> targets(content->size() / sizeof(AliasTarget));
  if (!targets.empty())
    std::memcpy(targets.data(), content->data(), content->size());
  return targets;
}

Bytes cache::packArchive(Span<const ArchivedFile> files) {
  Bytes content;
  for (const ArchivedFile &file : files)
    content.insert(content.end(), file.content.begin(), file.content.end());
  return pack(FileKind::Archive, Digest(), content);
}

Result<std::vector<ArchivedFile>> cache::unpackArchive(Span<const uint8_t> file) {
  Result<Span<const uint8_t>> content = unpackOwn(FileKind::Archive, Digest(), file);
  if (!content)
    return content.takeError();
  std::vector<ArchivedFile> files;
  for (Span<const uint8_t> left = *content; !left.empty();) {
    Result<Preamble> preamble = readPreamble(left);
    if (!preamble)
      return preamble.takeError();
    const size_t size = sizeof(Preamble) + preamble->length;
    const auto kind = static_cast<FileKind>(preamble->kind);
    if (kind != FileKind::Entry && kind != FileKind::Alias)
      return Error{"a file of unknown kind " + std::to_string(preamble->kind)};
    ArchivedFile archived{{kind, preamble->key}, left.slice(0, size).toVector()};
    if (Status status = checkWhole(archived.name, archived.content); !status)
      return status.takeError();
    files.push_back(std::move(archived));
    left = left.slice(size, left.size() - size);
  }
  return files;
}

Status cache::checkWhole(const FileName &name, Span<const uint8_t> file) {
  Result<Span<const uint8_t>> content = unpack(name.kind, name.key, file);
  return content ? Status() : Status(content.takeError());
}
