//===- Arguments.cpp - Launch-time argument checks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Checks the form of each argument, finds the size of each symbol, and builds
// the argument block.
//
//===----------------------------------------------------------------------===//

#include "runtime/Arguments.h"
#include "runtime/ArgumentContent.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

using attnc::image::ArgKind;
using attnc::image::ArgRole;
using attnc::image::ArgSpec;
using attnc::image::BoxRule;
using attnc::image::DimSpec;
using attnc::image::Error;
using attnc::image::KernelImage;
using attnc::image::maxTensorMapSize;
using attnc::image::PageRule;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;
using attnc::image::tensorMapStrideEnd;
using attnc::image::tensorMapUnitBytes;

namespace attnc::runtime {
namespace {

/// Binds the arguments of one launch.
class Binder {
public:
  Binder(const KernelImage &image, Span<const ArgValue> values, MemorySpace space)
      : image(image), values(values), space(space), definers(image.symbols.size(), nullptr) {
    bound.symbolSizes.assign(image.symbols.size(), unknown);
    int64_t slots = 0;
    for (const ArgSpec &arg : image.args)
      slots += numSlots(arg);
    bound.slots.reserve(static_cast<size_t>(slots));
    if (space == MemorySpace::Host)
      bound.tensors.reserve(values.size());
  }

  Result<BoundArguments> bind();

private:
  static constexpr int64_t unknown = -1;

  /// The value of tensor argument `i`.
  const Tensor &tensor(size_t i) const { return std::get<Tensor>(values[i]); }

  /// Kind, element type, rank, and sizes that need no symbol.
  Status checkForm(size_t i) const;

  /// Gives the symbols of argument `i` their sizes, or checks them, by its
  /// dimensions that broadcast or by those that do not.
  Status bindSymbols(size_t i, bool broadcast);

  /// Strides, address and alignment.
  Status checkMemory(size_t i) const;

  /// Refuses an output in which tiles would write to one element twice, in no
  /// order: steps along one dimension that lead where steps along another do.
  Status checkDistinct(size_t i) const;

  /// Refuses outputs that certainly share elements with another argument: tiles
  /// are written while others are still read, in no order.
  Status checkApart() const;

  /// Appends the slots of argument `i`.
  Status appendSlots(size_t i);

  /// "dimension 1 (Sk)".
  std::string dimString(const ArgSpec &arg, size_t d) const;

  const KernelImage &image;
  Span<const ArgValue> values;
  MemorySpace space;
  /// The argument from which each symbol has its size.
  std::vector<const ArgSpec *> definers;
  BoundArguments bound;
};

std::string Binder::dimString(const ArgSpec &arg, size_t d) const {
  std::string text = "dimension " + std::to_string(d);
  const DimSpec &dim = arg.dims[d];
  if (dim.symbol >= 0)
    text += " (" + image.symbols[dim.symbol] + (dim.unit > 1 ? "/" + std::to_string(dim.unit) : "") +
            (dim.extra ? "+" + std::to_string(dim.extra) : "") + ")";
  return text;
}

Status Binder::checkForm(size_t i) const {
  const ArgSpec &arg = image.args[i];
  const bool isTensor = std::holds_alternative<Tensor>(values[i]);
  if (arg.kind == ArgKind::Scalar)
    return isTensor ? argumentError(arg, "a scalar", "a tensor") : Status();
  if (!isTensor)
    return argumentError(arg, "a tensor", "a scalar");
  const Tensor &value = tensor(i);
  if (value.space() != space)
    return argumentError(arg, "memory of the " + std::string(name(space)),
                         "memory of the " + std::string(name(value.space())));
  if (value.dtype() != arg.dtype)
    return argumentError(arg, "element type " + std::string(name(arg.dtype)), std::string(name(value.dtype())));
  if (static_cast<size_t>(value.rank()) != arg.dims.size())
    return argumentError(arg, "rank " + std::to_string(arg.dims.size()), std::to_string(value.rank()));
  for (size_t d = 0; d < arg.dims.size(); ++d) {
    const DimSpec &dim = arg.dims[d];
    const int64_t size = value.dim(d);
    const auto got = [&] { return std::to_string(size); };
    if (size < 0)
      return argumentError(arg, dimString(arg, d) + " to be non-negative", got());
    if (dim.size >= 0 && size != dim.size && !(dim.broadcast && size == 1))
      return argumentError(arg,
                           dimString(arg, d) + " to be " + (dim.broadcast && dim.size != 1 ? "1 or " : "") +
                               std::to_string(dim.size),
                           got());
    const int64_t least = std::max(dim.minSize, dim.extra);
    if (size < least || size > dim.maxSize)
      return argumentError(
          arg,
          dimString(arg, d) + " to be " +
              (size < least ? "at least " + std::to_string(least) : "at most " + std::to_string(dim.maxSize)),
          got());
  }
  if (!countElements(value.shape()))
    return argumentError(arg, "fewer than 2^63 elements", "shape " + shapeString(value.shape()));
  return {};
}

Status Binder::bindSymbols(size_t i, bool broadcast) {
  const ArgSpec &arg = image.args[i];
  for (size_t d = 0; d < arg.dims.size(); ++d) {
    const DimSpec &dim = arg.dims[d];
    const int64_t size = dim.symbolSizeFor(tensor(i).dim(d));
    if (dim.symbol < 0 || dim.broadcast != broadcast || (broadcast && size == 1))
      continue;
    int64_t &known = bound.symbolSizes[dim.symbol];
    if (known == unknown) {
      known = size;
      definers[dim.symbol] = &arg;
    }
    if (known != size)
      return argumentError(arg,
                           dimString(arg, d) + " to be " + (broadcast && known != 1 ? "1 or " : "") +
                               (known % dim.unit == 0
                                    ? std::to_string(dim.sizeFor(known))
                                    : "1 for each " + std::to_string(dim.unit) + " of " + std::to_string(known)) +
                               " as in argument '" + definers[dim.symbol]->name + "'",
                           std::to_string(tensor(i).dim(d)));
  }
  return {};
}

Status Binder::checkMemory(size_t i) const {
  const ArgSpec &arg = image.args[i];
  const Tensor &value = tensor(i);
  const size_t rank = arg.dims.size();
  const int64_t elementBytes = byteSize(arg.dtype);
  if (value.numElements() == 0)
    return {};
  // A stride is used only where there is a second position.
  if (arg.unitInnerStride && value.dim(rank - 1) > 1 && value.stride(rank - 1) != 1)
    return argumentError(arg, "stride 1 in the last dimension", std::to_string(value.stride(rank - 1)));
  if (!value.data())
    return argumentError(arg, "data", "a null pointer");
  if (reinterpret_cast<uintptr_t>(value.data()) % elementBytes != 0)
    return argumentError(arg, "data aligned to " + std::to_string(elementBytes) + " bytes", "an unaligned address");

  __extension__ using Wide = __int128;
  Wide extent = 0;
  const int64_t limit = INT64_MAX / elementBytes;
  for (size_t d = 0; d < rank; ++d) {
    const Wide stride = value.stride(d);
    extent += (stride < 0 ? -stride : stride) * (value.dim(d) - 1);
    if (extent > limit)
      return argumentError(arg, "elements within 2^63 bytes",
                           "stride " + std::to_string(value.stride(d)) + " in " + dimString(arg, d));
  }
  return arg.role == ArgRole::Output ? checkDistinct(i) : Status();
}

Status Binder::checkDistinct(size_t i) const {
  const ArgSpec &arg = image.args[i];
  const Tensor &value = tensor(i);
  for (size_t d = 0; d < arg.dims.size(); ++d) {
    const int64_t stride = std::abs(value.stride(d));
    if (value.dim(d) <= 1)
      continue;
    if (stride == 0)
      return argumentError(arg, "an output with distinct elements", "stride 0 in " + dimString(arg, d));
    for (size_t outer = 0; outer < d; ++outer) {
      if (value.dim(outer) <= 1)
        continue;
      // So many steps of one dimension are so many of the other.
      const int64_t other = std::abs(value.stride(outer)), common = std::gcd(stride, other);
      if (other / common < value.dim(d) && stride / common < value.dim(outer))
        return argumentError(arg, "an output with distinct elements",
                             "strides " + std::to_string(value.stride(outer)) + " in " + dimString(arg, outer) +
                                 " and " + std::to_string(value.stride(d)) + " in " + dimString(arg, d));
    }
  }
  return {};
}

Status Binder::checkApart() const {
  const auto address = [](const Tensor &value) { return reinterpret_cast<uintptr_t>(value.data()); };
  const auto end = [&](const Tensor &value) { return address(value) + static_cast<uintptr_t>(value.numBytes()); };
  for (size_t i = 0; i < values.size(); ++i) {
    if (image.args[i].role != ArgRole::Output || tensor(i).numElements() == 0)
      continue;
    for (size_t other = 0; other < values.size(); ++other) {
      // Of two outputs the later one is named.
      if (other == i || image.args[other].kind != ArgKind::Tensor || tensor(other).numElements() == 0 ||
          (other > i && image.args[other].role == ArgRole::Output))
        continue;
      const Tensor &left = tensor(i), &right = tensor(other);
      // Views with gaps may be interleaved, as the parts of one packed tensor.
      const bool meet =
          left.isContiguous() && right.isContiguous() && address(left) < end(right) && address(right) < end(left);
      if (meet || address(left) == address(right))
        return argumentError(image.args[i], "an output with memory of its own",
                             "memory of argument '" + image.args[other].name + "'");
    }
  }
  return {};
}

Status Binder::appendSlots(size_t i) {
  const ArgSpec &arg = image.args[i];
  if (arg.kind == ArgKind::Scalar) {
    Result<int64_t> slot = encodeScalar(arg, values[i]);
    if (!slot)
      return slot.takeError();
    if (Status status = checkPositions(arg, *slot, bound.symbolSizes); !status)
      return status;
    bound.slots.push_back(*slot);
    return {};
  }
  const Tensor &value = tensor(i);
  bound.slots.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(value.data())));
  bound.slots.insert(bound.slots.end(), value.shape().begin(), value.shape().end());
  for (size_t d = 0; d < arg.dims.size(); ++d) {
    const bool repeats = arg.dims[d].broadcast && value.dim(d) == 1;
    bound.slots.push_back(repeats ? 0 : value.stride(d));
  }
  // Memory of a device is the caller's to keep.
  if (space == MemorySpace::Host)
    bound.tensors.push_back(value);
  return {};
}

Result<BoundArguments> Binder::bind() {
  if (values.size() != image.args.size())
    return Error{"kernel '" + image.name + "': expected " + std::to_string(image.args.size()) + " arguments, got " +
                 std::to_string(values.size())};
  for (size_t i = 0; i < values.size(); ++i)
    if (Status status = checkForm(i); !status)
      return status.takeError();
  // Dimensions that may broadcast come last: their size 1 says nothing of the
  // symbol, whatever the order of the arguments.
  for (bool broadcast : {false, true})
    for (size_t i = 0; i < values.size(); ++i)
      if (image.args[i].kind == ArgKind::Tensor)
        if (Status status = bindSymbols(i, broadcast); !status)
          return status.takeError();
  std::replace(bound.symbolSizes.begin(), bound.symbolSizes.end(), unknown, int64_t{1});

  for (size_t i = 0; i < values.size(); ++i) {
    const ArgSpec &arg = image.args[i];
    Status status = arg.kind == ArgKind::Tensor ? checkMemory(i) : Status();
    if (space == MemorySpace::Host)
      for (int symbol : arg.contentSymbols)
        if (status)
          status = checkContent(arg, tensor(i), image.symbols[symbol], bound.symbolSizes[symbol]);
    if (space == MemorySpace::Host)
      for (const PageRule &rule : arg.pages)
        if (status)
          status = checkPages(arg, tensor(i), rule, bound.symbolSizes[rule.pages],
                              rule.lengths < 0 ? nullptr : &tensor(rule.lengths));
    if (status)
      status = appendSlots(i);
    if (!status)
      return status.takeError();
  }
  if (Status status = checkApart(); !status)
    return status.takeError();
  return std::move(bound);
}

} // namespace

int64_t numSlots(const ArgSpec &arg) {
  return arg.kind == ArgKind::Scalar ? 1 : 1 + 2 * static_cast<int64_t>(arg.dims.size());
}

std::vector<int64_t> slotOffsets(const KernelImage &image) {
  std::vector<int64_t> offsets = {0};
  for (const ArgSpec &arg : image.args)
    offsets.push_back(offsets.back() + numSlots(arg));
  return offsets;
}

namespace {

/// Whether the copy unit can take boxes of a tensor whose argument block is `slots`.
bool canTakeBoxes(const ArgSpec &arg, const BoxRule::Tensor &tensor, const int64_t *slots) {
  const auto rank = static_cast<int>(arg.dims.size());
  const int64_t *sizes = slots + 1, *strides = sizes + rank;
  if (std::find(sizes, sizes + rank, 0) != sizes + rank)
    return true;
  if (slots[0] % tensorMapUnitBytes != 0 || sizes[tensor.rows] < 2 || sizes[rank - 1] < 2 || strides[rank - 1] != 1)
    return false;
  for (int d = 0; d < rank; ++d) {
    int64_t bytes = 0;
    if (sizes[d] > maxTensorMapSize || __builtin_mul_overflow(strides[d], byteSize(arg.dtype), &bytes))
      return false;
    if (d + 1 < rank && sizes[d] > 1 && (bytes <= 0 || bytes % tensorMapUnitBytes != 0 || bytes >= tensorMapStrideEnd))
      return false;
  }
  return true;
}

} // namespace

bool holds(const BoxRule &rule, const KernelImage &image, Span<const int64_t> offsets, Span<const int64_t> slots) {
  return rule.all == std::all_of(rule.tensors.begin(), rule.tensors.end(), [&](const BoxRule::Tensor &tensor) {
           return canTakeBoxes(image.args[tensor.arg], tensor, slots.data() + offsets[tensor.arg]);
         });
}

Result<BoundArguments> bindArguments(const KernelImage &image, Span<const ArgValue> values, MemorySpace space) {
  return Binder(image, values, space).bind();
}

} // namespace attnc::runtime
