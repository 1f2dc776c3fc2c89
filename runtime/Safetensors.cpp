//===- Safetensors.cpp - Reading .safetensors files ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Opens a file by mapping it, and hands out its tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"
#include "runtime/StrictJson.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using attnc::image::DType;
using attnc::image::Error;
using attnc::image::Result;
using attnc::image::Span;

namespace attnc::runtime {

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  // Without blocking: a pipe that nobody writes to is no file either.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Error{path + ": cannot open: " + std::strerror(errno)};
  struct stat info;
  const bool regular = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const size_t size = regular ? info.st_size : 0;
  // Private and writable, so that a kernel which writes to a view changes its
  // own copy of the page instead of faulting.
  void *memory = size ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0) : nullptr;
  const int mapError = errno;
  close(descriptor);
  if (!regular)
    return Error{path + ": not a regular file"};
  if (memory == MAP_FAILED)
    return Error{path + ": cannot map: " + std::strerror(mapError)};

  SafetensorsFile file;
  file.path = path;
  if (memory)
    file.mapping = std::shared_ptr<void>(memory, [size](void *memory) { munmap(memory, size); });
  Result<SafetensorsHeader> header =
      parseSafetensorsHeader(Span<const uint8_t>(static_cast<const uint8_t *>(memory), size), path);
  if (!header)
    return header.takeError();
  file.header = std::move(*header);
  return file;
}

const SafetensorsEntry *SafetensorsFile::find(std::string_view name) const {
  for (const SafetensorsEntry &entry : header.entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Result<Tensor> SafetensorsFile::tensor(std::string_view name) const {
  const SafetensorsEntry *entry = find(name);
  if (!entry)
    return Error{path + ": no tensor " + quoted(name)};
  auto *data = static_cast<uint8_t *>(mapping.get()) + header.dataOffset + entry->begin;
  const uint64_t bytes = entry->end - entry->begin;
  // Generated code takes a truth value's byte for its lowest bit.
  if (entry->dtype == DType::I1 && std::any_of(data, data + bytes, [](uint8_t byte) { return byte > 1; }))
    return Error{path + ": tensor " + quoted(name) + ": expected BOOL bytes of 0 or 1"};
  if (reinterpret_cast<uintptr_t>(data) % byteSize(entry->dtype) == 0)
    return Tensor::view(data, entry->dtype, entry->shape, mapping);
  Result<Tensor> copy = Tensor::allocate(entry->dtype, entry->shape);
  if (copy && bytes)
    std::memcpy(copy->data(), data, bytes);
  return copy;
}

} // namespace attnc::runtime
