//===- KernelImageSerialization.cpp - Images as bytes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The layout, all little endian:
//
//   8 bytes  magic "ATTNCKI\n"    8 bytes  length of the payload
//   4 bytes  version              8 bytes  XXH64 of the payload
//   4 bytes  zero                 payload
//
// The payload holds the fields of `KernelImage` in the order of its
// declaration: integers as 8 bytes, enumerations and truth values as 1, a list
// as its length and its items, an optional as a truth value and, if true, the
// value.
//
//===----------------------------------------------------------------------===//

#include "codegen/image/Hash.h"
#include "codegen/image/KernelImage.h"

#include <cstring>

namespace attnc::image {
namespace {

constexpr char magic[8] = {'A', 'T', 'T', 'N', 'C', 'K', 'I', '\n'};

/// Changes with every change of the payload.
constexpr uint32_t version = 15;

/// The bytes before the payload.
struct Preamble {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  uint64_t length;
  uint64_t hash;
};
static_assert(sizeof(Preamble) == 32, "the preamble has no padding");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the runtime supports little-endian hosts only");

/// Writes a payload. It has the same functions as `Reader`, one for each shape of
/// field, so that one list of fields serves both.
class Writer {
public:
  explicit Writer(std::vector<uint8_t> &bytes) : bytes(bytes) {}

  void integer(int64_t value) { raw(&value, sizeof(value)); }
  void integer(int value) { integer(static_cast<int64_t>(value)); }
  void boolean(bool value) { bytes.push_back(value); }

  template <typename Enum>
  void enumeration(Enum value, Enum) {
    bytes.push_back(static_cast<uint8_t>(value));
  }

  void real(double value) { raw(&value, sizeof(value)); }

  template <typename Item, typename Each>
  void optional(const std::optional<Item> &item, Each each) {
    boolean(item.has_value());
    if (item)
      each(*this, *item);
  }

  /// A string or a vector of bytes.
  template <typename Bytes>
  void blob(const Bytes &value) {
    integer(static_cast<int64_t>(value.size()));
    raw(value.data(), value.size());
  }

  template <typename Item, typename Each>
  void list(const std::vector<Item> &items, Each each) {
    integer(static_cast<int64_t>(items.size()));
    for (const Item &item : items)
      each(*this, item);
  }

private:
  void raw(const void *data, size_t size) {
    const auto *first = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), first, first + size);
  }

  std::vector<uint8_t> &bytes;
};

/// Reads a payload. After a failure every field reads as zero or empty.
class Reader {
public:
  explicit Reader(Span<const uint8_t> bytes) : bytes(bytes) {}

  /// Whether everything was well formed and nothing is left.
  bool finished() const { return !failed && position == bytes.size(); }

  void integer(int64_t &value) {
    value = 0;
    raw(&value, sizeof(value));
  }

  void integer(int &value) {
    int64_t wide = 0;
    integer(wide);
    value = static_cast<int>(wide);
    failed |= value != wide;
  }

  void boolean(bool &value) {
    uint8_t byte = 0;
    raw(&byte, 1);
    value = byte == 1;
    failed |= byte > 1;
  }

  /// `last` is the greatest valid value.
  template <typename Enum>
  void enumeration(Enum &value, Enum last) {
    uint8_t byte = 0;
    raw(&byte, 1);
    failed |= byte > static_cast<uint8_t>(last);
    value = failed ? Enum() : static_cast<Enum>(byte);
  }

  void real(double &value) {
    value = 0;
    raw(&value, sizeof(value));
  }

  template <typename Item, typename Each>
  void optional(std::optional<Item> &item, Each each) {
    bool present = false;
    boolean(present);
    if (present)
      each(*this, item.emplace());
  }

  template <typename Bytes>
  void blob(Bytes &value) {
    const uint64_t size = length();
    if (failed)
      return;
    const uint8_t *first = bytes.begin() + position;
    value.assign(first, first + size);
    position += size;
  }

  template <typename Item, typename Each>
  void list(std::vector<Item> &items, Each each) {
    // Items are appended as they are read: a length that lies allocates no more
    // than what is there.
    for (uint64_t count = length(); count > 0 && !failed; --count) {
      items.emplace_back();
      each(*this, items.back());
    }
  }

private:
  /// Reads a length. Every item has at least one byte, so more items than bytes
  /// are a failure.
  uint64_t length() {
    int64_t size = 0;
    integer(size);
    failed |= size < 0 || static_cast<uint64_t>(size) > bytes.size() - position;
    return failed ? 0 : size;
  }

  void raw(void *data, size_t size) {
    failed |= size > bytes.size() - position;
    if (failed)
      return;
    std::memcpy(data, bytes.data() + position, size);
    position += size;
  }

  Span<const uint8_t> bytes;
  size_t position = 0;
  bool failed = false;
};

/// The list of fields: `visitImage` and its parts visit each in order. What they
/// visit is constant for a writer.
template <typename Archive, typename Dim>
void visitDim(Archive &archive, Dim &dim) {
  archive.integer(dim.size);
  archive.integer(dim.symbol);
  archive.boolean(dim.broadcast);
  archive.integer(dim.extra);
  archive.integer(dim.unit);
  archive.integer(dim.minSize);
  archive.integer(dim.maxSize);
}

template <typename Archive, typename Arg>
void visitArg(Archive &archive, Arg &arg) {
  archive.blob(arg.name);
  archive.enumeration(arg.kind, ArgKind::Scalar);
  archive.enumeration(arg.role, ArgRole::Output);
  archive.enumeration(arg.dtype, static_cast<DType>(numDTypes - 1));
  archive.boolean(arg.isIndex);
  archive.list(arg.dims, [](auto &a, auto &dim) { visitDim(a, dim); });
  archive.boolean(arg.unitInnerStride);
  for (auto *limit : {&arg.min, &arg.max})
    archive.optional(*limit, [](auto &a, auto &value) { a.real(value); });
  archive.boolean(arg.notNaN);
  archive.list(arg.positions, [](auto &a, auto &rule) {
    a.integer(rule.min);
    a.integer(rule.max);
    a.integer(rule.queries);
    a.integer(rule.keys);
  });
  archive.enumeration(arg.content, ContentRule::Lengths);
  archive.list(arg.contentSymbols, [](auto &a, auto &symbol) { a.integer(symbol); });
  archive.list(arg.pages, [](auto &a, auto &rule) {
    a.integer(rule.pages);
    a.integer(rule.rows);
    a.integer(rule.lengths);
  });
}

template <typename Archive, typename Map>
void visitTensorMap(Archive &archive, Map &map) {
  archive.integer(map.arg);
  archive.list(map.box, [](auto &a, auto &size) { a.integer(size); });
  archive.integer(map.swizzleBytes);
  archive.list(map.order, [](auto &a, auto &dim) { a.integer(dim); });
}

template <typename Archive, typename Rule>
void visitRule(Archive &archive, Rule &rule) {
  archive.list(rule.steps, [](auto &a, auto &step) {
    a.enumeration(step.op, GridRule::Op::Sub);
    a.integer(step.value);
  });
}

template <typename Archive, typename Condition>
void visitCondition(Archive &archive, Condition &condition) {
  archive.list(condition, [](auto &a, auto &range) {
    visitRule(a, range.size);
    a.integer(range.min);
    a.integer(range.max);
  });
}

template <typename Archive, typename Entry>
void visitEntry(Archive &archive, Entry &entry) {
  archive.blob(entry.symbol);
  visitRule(archive, entry.grid);
  archive.integer(entry.scratchBytes);
  visitCondition(archive, entry.launches.when);
  archive.list(entry.launches.unless, [](auto &a, auto &condition) { visitCondition(a, condition); });
  archive.optional(entry.boxes, [](auto &a, auto &rule) {
    a.list(rule.tensors, [](auto &b, auto &tensor) {
      b.integer(tensor.arg);
      b.integer(tensor.rows);
    });
    a.boolean(rule.all);
  });
  archive.integer(entry.threads);
  archive.integer(entry.sharedBytes);
  archive.boolean(entry.persistent);
  archive.integer(entry.blocksPerMultiprocessor);
  archive.boolean(entry.takesCounter);
  archive.boolean(entry.early);
  archive.list(entry.workspaces, [](auto &a, auto &workspace) {
    a.integer(workspace.workspace);
    visitRule(a, workspace.rows);
    visitRule(a, workspace.columns);
  });
  archive.list(entry.tensorMaps, [](auto &a, auto &map) { visitTensorMap(a, map); });
  archive.integer(entry.registers);
  archive.integer(entry.spillBytes);
}

template <typename Archive, typename Image>
void visitImage(Archive &archive, Image &image) {
  archive.blob(image.name);
  archive.blob(image.target);
  archive.list(image.symbols, [](auto &a, auto &symbol) { a.blob(symbol); });
  archive.list(image.args, [](auto &a, auto &arg) { visitArg(a, arg); });
  archive.list(image.workspaces, [](auto &a, auto &workspace) { a.blob(workspace); });
  archive.list(image.entries, [](auto &a, auto &entry) { visitEntry(a, entry); });
  archive.blob(image.bytes);
  archive.blob(image.buildId);
}

} // namespace

std::vector<uint8_t> serialize(const KernelImage &image) {
  std::vector<uint8_t> bytes(sizeof(Preamble));
  Writer writer(bytes);
  visitImage(writer, image);
  Preamble preamble = {};
  std::memcpy(preamble.magic, magic, sizeof(magic));
  preamble.version = version;
  preamble.length = bytes.size() - sizeof(preamble);
  preamble.hash = hash64(Span<const uint8_t>(bytes).slice(sizeof(preamble), preamble.length));
  std::memcpy(bytes.data(), &preamble, sizeof(preamble));
  return bytes;
}

Result<KernelImage> deserialize(Span<const uint8_t> bytes) {
  Preamble preamble;
  if (bytes.size() < sizeof(preamble))
    return Error{"not a kernel image: expected at least " + std::to_string(sizeof(preamble)) + " bytes, got " +
                 std::to_string(bytes.size())};
  std::memcpy(&preamble, bytes.data(), sizeof(preamble));
  if (std::memcmp(preamble.magic, magic, sizeof(magic)) != 0)
    return Error{"not a kernel image: wrong magic number"};
  if (preamble.version != version || preamble.zero != 0)
    return Error{"kernel image of version " + std::to_string(preamble.version) + ", expected " +
                 std::to_string(version)};
  const size_t length = bytes.size() - sizeof(preamble);
  if (preamble.length != length)
    return Error{"truncated kernel image: expected " + std::to_string(preamble.length) + " bytes of content, got " +
                 std::to_string(length)};
  const Span<const uint8_t> payload = bytes.slice(sizeof(preamble), length);
  if (hash64(payload) != preamble.hash)
    return Error{"damaged kernel image: content does not match its hash"};

  KernelImage image;
  Reader reader(payload);
  visitImage(reader, image);
  if (!reader.finished())
    return Error{"malformed kernel image"};
  if (Status status = verify(image); !status)
    return status.takeError();
  return image;
}

} // namespace attnc::image
