//===- SafetensorsWriter.cpp - Writing .safetensors files ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Orders the tensors and writes the header that says where they are.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"
#include "runtime/StrictJson.h"

#include <algorithm>
#include <array>
#include <tuple>

using attnc::image::Error;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;

namespace attnc::runtime {
namespace {

/// The data starts at a multiple of this, in bytes, so that the first tensors of
/// a mapped file are aligned as allocated ones are.
constexpr size_t dataAlignment = 64;

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
Status checkNames(const std::vector<NamedTensor> &tensors, const std::map<std::string, std::string> &metadata) {
  std::vector<std::string_view> names;
  for (const NamedTensor &named : tensors) {
    if (named.name == "__metadata__" || !isUtf8(named.name))
      return Error{"no tensor can be called " + quoted(named.name)};
    if (named.tensor.shape().size() > maxSafetensorsRank)
      return Error{"tensor " + quoted(named.name) + ": expected a rank of at most " +
                   std::to_string(maxSafetensorsRank) + ", got " + std::to_string(named.tensor.rank())};
    names.push_back(named.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return Error{"tensor " + quoted(*twice) + ": the name is used twice"};
  for (const auto &[key, value] : metadata)
    if (!isUtf8(key) || !isUtf8(value))
      return Error{"metadata " + quoted(key) + " is not UTF-8"};
  return {};
}

} // namespace

Result<SafetensorsData> SafetensorsData::layOut(Span<const NamedTensor> tensors,
                                                const std::map<std::string, std::string> &metadata) {
  // Wide elements first: then every tensor is aligned to its element size.
  std::vector<NamedTensor> ordered = tensors.toVector();
  std::sort(ordered.begin(), ordered.end(), [](const NamedTensor &a, const NamedTensor &b) {
    return std::pair(-byteSize(a.tensor.dtype()), a.name) < std::pair(-byteSize(b.tensor.dtype()), b.name);
  });
  if (Status status = checkNames(ordered, metadata); !status)
    return status.takeError();
  SafetensorsData data;
  const std::string header = makeHeader(ordered, metadata);
  const uint64_t headerBytes = header.size();
  if (headerBytes > maxSafetensorsHeaderBytes)
    return Error{"header of " + std::to_string(headerBytes) + " bytes exceeds the limit of " +
                 std::to_string(maxSafetensorsHeaderBytes)};
  data.start.assign(reinterpret_cast<const char *>(&headerBytes), sizeof(headerBytes));
  data.start += header;
  for (const NamedTensor &named : ordered) {
    Result<Tensor> dense = named.tensor.contiguous();
    if (!dense)
      return Error{"tensor " + quoted(named.name) + ": " + dense.message()};
    data.tensors.push_back(std::move(*dense));
  }
  return data;
}

void SafetensorsData::forEachPiece(const std::function<void(const void *, size_t)> &write) const {
  write(start.data(), start.size());
  for (const Tensor &tensor : tensors)
    write(tensor.data(), static_cast<size_t>(tensor.numBytes()));
}

} // namespace attnc::runtime
