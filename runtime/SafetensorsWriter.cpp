//===- SafetensorsWriter.cpp - Writing .safetensors files ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Lays the tensors out, then writes them beside the file's place and renames.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"
#include "runtime/StrictJson.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <tuple>
#include <unistd.h>

namespace attnc::runtime {
namespace {

/// The data starts at a multiple of this, in bytes, so that the first tensors of
/// a mapped file are aligned as allocated ones are.
constexpr size_t dataAlignment = 64;

/// A file that is not yet in its place; removed unless `commit` succeeds.
class PendingFile {
public:
  explicit PendingFile(std::string path) : path(std::move(path)) {
    // The process and a counter keep writers of one path apart.
    static std::atomic<unsigned> counter{0};
    temporary = this->path + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    descriptor = open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    failed = descriptor < 0;
    error = errno;
  }

  ~PendingFile() {
    if (descriptor < 0)
      return;
    close(descriptor);
    unlink(temporary.c_str());
  }

  PendingFile(const PendingFile &) = delete;
  PendingFile &operator=(const PendingFile &) = delete;

  /// Appends `size` bytes; does nothing after a failure.
  void write(const void *data, size_t size) {
    const char *cursor = static_cast<const char *>(data);
    while (size > 0 && !failed) {
      const ssize_t written = ::write(descriptor, cursor, size);
      if (written < 0) {
        fail(errno != EINTR);
        continue;
      }
      cursor += written;
      size -= written;
    }
  }

  /// Flushes the file and moves it to its place.
  Status commit() {
    if (!failed)
      fail(fsync(descriptor) != 0);
    if (!failed)
      fail(std::rename(temporary.c_str(), path.c_str()) != 0);
    if (failed)
      return Error{path + ": cannot write: " + std::strerror(error)};
    close(descriptor);
    descriptor = -1;
    return {};
  }

private:
  /// Records the system's error if `condition` holds.
  void fail(bool condition) {
    if (!condition)
      return;
    failed = true;
    error = errno;
  }

  std::string path;
  std::string temporary;
  int descriptor = -1;
  bool failed = false;
  int error = 0;
};

/// Appends `, ` unless `text` has just opened an object or an array.
void separate(std::string &text) {
  if (text.back() != '{' && text.back() != '[')
    text += ',';
}

/// Appends `"key":[values]`.
template <typename Values>
void appendNumbers(std::string &text, const char *key, const Values &values) {
  text += std::string(",\"") + key + "\":[";
  for (auto value : values) {
    separate(text);
    text += std::to_string(value);
  }
  text += ']';
}

/// The header of `tensors`, whose data will follow in this order; padded.
std::string makeHeader(const std::vector<NamedTensor> &tensors, const std::map<std::string, std::string> &metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (const auto &[key, value] : metadata) {
      separate(text);
      appendJsonString(text, key);
      text += ':';
      appendJsonString(text, value);
    }
    text += '}';
  }
  int64_t begin = 0;
  for (const auto &[name, tensor] : tensors) {
    const int64_t end = begin + tensor.numBytes();
    separate(text);
    appendJsonString(text, name);
    text += ":{\"dtype\":\"";
    text += safetensorsName(tensor.dtype());
    text += '"';
    appendNumbers(text, "shape", tensor.shape());
    appendNumbers(text, "data_offsets", std::array<int64_t, 2>{begin, end});
    text += '}';
    begin = end;
  }
  text += '}';
  while ((sizeof(uint64_t) + text.size()) % dataAlignment != 0)
    text += ' ';
  return text;
}

/// Checks what a reader would refuse. `tensors` are ordered.
Status checkNames(const std::string &path, const std::vector<NamedTensor> &tensors,
                  const std::map<std::string, std::string> &metadata) {
  std::vector<std::string_view> names;
  for (const NamedTensor &named : tensors) {
    if (named.name == "__metadata__" || !isUtf8(named.name))
      return Error{path + ": no tensor can be called " + quoted(named.name)};
    if (named.tensor.shape().size() > maxSafetensorsRank)
      return Error{path + ": tensor " + quoted(named.name) + ": expected a rank of at most " +
                   std::to_string(maxSafetensorsRank) + ", got " + std::to_string(named.tensor.rank())};
    names.push_back(named.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return Error{path + ": tensor " + quoted(*twice) + ": the name is used twice"};
  for (const auto &[key, value] : metadata)
    if (!isUtf8(key) || !isUtf8(value))
      return Error{path + ": metadata " + quoted(key) + " is not UTF-8"};
  return {};
}

} // namespace

Status writeSafetensors(const std::string &path, Span<const NamedTensor> tensors,
                        const std::map<std::string, std::string> &metadata) {
  // Wide elements first: then every tensor is aligned to its element size.
  std::vector<NamedTensor> ordered = tensors.toVector();
  std::sort(ordered.begin(), ordered.end(), [](const NamedTensor &a, const NamedTensor &b) {
    return std::pair(-byteSize(a.tensor.dtype()), a.name) < std::pair(-byteSize(b.tensor.dtype()), b.name);
  });
  if (Status status = checkNames(path, ordered, metadata); !status)
    return status;
  const std::string header = makeHeader(ordered, metadata);
  const uint64_t headerBytes = header.size();
  if (headerBytes > maxSafetensorsHeaderBytes)
    return Error{path + ": header of " + std::to_string(headerBytes) + " bytes exceeds the limit of " +
                 std::to_string(maxSafetensorsHeaderBytes)};

  PendingFile file(path);
  file.write(&headerBytes, sizeof(headerBytes));
  file.write(header.data(), header.size());
  for (const NamedTensor &named : ordered) {
    Result<Tensor> dense = named.tensor.contiguous();
    if (!dense)
      return Error{path + ": tensor " + quoted(named.name) + ": " + dense.message()};
    file.write(dense->data(), dense->numBytes());
  }
  return file.commit();
}

} // namespace attnc::runtime
