//===- Safetensors.h - Reading and writing .safetensors --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A .safetensors file is the length of its header (u64, little endian), the
// header (a JSON object from tensor names to {dtype, shape, data_offsets}), and
// the data. A header comes from strangers, so every claim in it is checked
// before anything is allocated or mapped by it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_SAFETENSORS_H
#define ATTNC_RUNTIME_SAFETENSORS_H

#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnc::runtime {

/// What the header says of one tensor.
struct SafetensorsEntry {
  std::string name;
  image::DType dtype = image::DType::F32;
  Dims shape;
  uint64_t begin = 0; ///< first byte, counted from the start of the data
  uint64_t end = 0;   ///< one past the last byte
};

/// A checked header.
struct SafetensorsHeader {
  /// The tensors in the order of their data, which they cover without gap or
  /// overlap.
  std::vector<SafetensorsEntry> entries;
  /// The strings under `__metadata__`.
  std::map<std::string, std::string> metadata;
  /// Where the data starts in the file, in bytes.
  uint64_t dataOffset = 0;
};

/// The longest header that is read, in bytes, as in the reference reader.
inline constexpr uint64_t maxSafetensorsHeaderBytes = 100'000'000;

/// The largest rank that is read.
inline constexpr size_t maxSafetensorsRank = 64;

/// Parses and checks the header of the file whose bytes are `file`. The error
/// starts with `fileName` and names the tensor at fault. Refused: a length
/// beyond the file or above the limit; anything but the JSON that the format
/// allows; a repeated name; an element type not in `DType`; a negative or
/// overflowing size; offsets that leave the data, overlap, leave gaps, or do
/// not fit the shape.
image::Result<SafetensorsHeader> parseSafetensorsHeader(image::Span<const uint8_t> file, std::string_view fileName);

/// An open file: its bytes mapped, its header checked.
class SafetensorsFile {
public:
  /// Maps and checks the file at `path`. Must not be truncated by others while
  /// it is open.
  static image::Result<SafetensorsFile> open(const std::string &path);

  /// The tensors, in the order of their data.
  const std::vector<SafetensorsEntry> &entries() const { return header.entries; }

  /// The strings under `__metadata__`.
  const std::map<std::string, std::string> &metadata() const { return header.metadata; }

  /// Whether there is a tensor called `name`.
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// The tensor called `name`: a view of the mapping, which it keeps alive, or
  /// a copy where the file does not align its elements. Writes to it do not
  /// reach the file. Fails for an unknown name, and for a BOOL byte that is not
  /// 0 or 1.
  image::Result<Tensor> tensor(std::string_view name) const;

private:
  /// The entry called `name`, or null.
  const SafetensorsEntry *find(std::string_view name) const;

  std::string path;
  std::shared_ptr<void> mapping;
  SafetensorsHeader header;
};

/// A tensor with the name that it has in a file.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// What a .safetensors file of some tensors holds, aligned so that a reader can map them in place. Where it goes is the
/// caller's business. Equal input gives equal bytes.
class SafetensorsData {
public:
  /// Lays `tensors` out. Fails for a repeated or reserved name, and for a name or text that is not UTF-8.
  static image::Result<SafetensorsData> layOut(image::Span<const NamedTensor> tensors,
                                               const std::map<std::string, std::string> &metadata = {});

  /// Calls `write` with the bytes of the file, piece after piece.
  void forEachPiece(const std::function<void(const void *, size_t)> &write) const;

private:
  std::string start;           ///< the header's length and the header
  std::vector<Tensor> tensors; ///< dense, in the order of the file
};

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_SAFETENSORS_H
