//===- Tensor.cpp - Strided tensors ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Allocation and element access.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <cstring>

using attnc::image::DType;
using attnc::image::Error;
using attnc::image::FunctionRef;
using attnc::image::Result;
using attnc::image::Span;

namespace attnc::runtime {
namespace {

/// Visits the elements of a strided tensor in row-major order of the indices,
/// one innermost row at a time: `visit(linear, offset)` for the first element of
/// each, both in elements.
template <typename Visit>
void forEachRow(const Dims &sizes, const Dims &steps, Visit visit) {
  const size_t outer = sizes.size() - 1;
  const int64_t length = sizes[outer];
  Dims index(outer, 0);
  for (int64_t linear = 0, offset = 0;; linear += length) {
    visit(linear, offset);
    size_t d = outer;
    for (; d > 0; --d) {
      offset += steps[d - 1];
      if (++index[d - 1] < sizes[d - 1])
        break;
      offset -= steps[d - 1] * sizes[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

} // namespace

std::optional<int64_t> countElements(Span<const int64_t> shape) {
  bool empty = false;
  int64_t count = 1;
  bool overflow = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
    // Zeros are left out, so that 0 x 2^62 x 2^62 counts as overflow whatever
    // the order: its strides would overflow.
    overflow |= size != 0 && __builtin_mul_overflow(count, size, &count);
  }
  if (overflow)
    return std::nullopt;
  return empty ? 0 : count;
}

Dims rowMajorStrides(Span<const int64_t> shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

std::string shapeString(Span<const int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape) {
    if (!text.empty())
      text += 'x';
    text += std::to_string(size);
  }
  return text;
}

std::string_view name(MemorySpace space) { return space == MemorySpace::Host ? "host" : "device"; }

Result<Tensor> Tensor::allocate(DType dtype, Span<const int64_t> shape) {
  const std::optional<int64_t> count = countElements(shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, byteSize(dtype), &bytes))
    return Error{"no tensor can have shape " + shapeString(shape)};
  std::shared_ptr<void> storage = allocateMemory(bytes);
  if (!storage)
    return Error{"out of memory: a tensor of shape " + shapeString(shape) + " and type " + std::string(name(dtype)) +
                 " takes " + std::to_string(bytes) + " bytes"};
  void *data = storage.get();
  return view(data, dtype, shape, std::move(storage));
}

Tensor Tensor::stridedView(void *data, DType dtype, Span<const int64_t> shape, Span<const int64_t> strides,
                           std::shared_ptr<void> owner) {
  assert(shape.size() == strides.size() && "one stride for each size");
  Tensor tensor;
  tensor.type = dtype;
  tensor.sizes = shape.toVector();
  tensor.steps = strides.toVector();
  tensor.storage = std::move(owner);
  tensor.base = data;
  return tensor;
}

Tensor Tensor::deviceView(uint64_t address, DType dtype, Span<const int64_t> shape, Span<const int64_t> strides,
                          std::shared_ptr<void> owner) {
  Tensor tensor = stridedView(reinterpret_cast<void *>(address), dtype, shape, strides, std::move(owner));
  tensor.memory = MemorySpace::Device;
  return tensor;
}

Tensor Tensor::view(void *data, DType dtype, Span<const int64_t> shape, std::shared_ptr<void> owner) {
  return stridedView(data, dtype, shape, rowMajorStrides(shape), std::move(owner));
}

int64_t Tensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

bool Tensor::isContiguous() const {
  if (numElements() == 0)
    return true;
  int64_t expected = 1;
  for (int64_t d = rank(); d-- > 0;) {
    // The stride of a dimension of size 1 is never used.
    if (sizes[d] != 1 && steps[d] != expected)
      return false;
    expected *= sizes[d];
  }
  return true;
}

int64_t Tensor::offsetOf(Span<const int64_t> index) const {
  assert(index.size() == sizes.size() && "one position for each dimension");
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    assert(index[d] >= 0 && index[d] < sizes[d] && "index out of range");
    offset += index[d] * steps[d];
  }
  return offset;
}

int64_t Tensor::offsetOfLinear(int64_t linear) const {
  assert(linear >= 0 && linear < numElements() && "index out of range");
  int64_t offset = 0;
  for (int64_t d = rank(); d-- > 0;) {
    offset += linear % sizes[d] * steps[d];
    linear /= sizes[d];
  }
  return offset;
}

double Tensor::loadAsDouble(Span<const int64_t> index) const { return loadScalar(type, at(offsetOf(index))); }

double Tensor::loadLinear(int64_t linear) const { return loadScalar(type, at(offsetOfLinear(linear))); }

void Tensor::storeAsDouble(Span<const int64_t> index, double value) const {
  storeScalar(type, at(offsetOf(index)), value);
}

void Tensor::storeLinear(int64_t linear, double value) const { storeScalar(type, at(offsetOfLinear(linear)), value); }

void Tensor::forEach(FunctionRef<void(int64_t linear, void *element)> visit) const {
  if (numElements() == 0)
    return;
  if (sizes.empty())
    return visit(0, base);
  forEachRow(sizes, steps, [&](int64_t linear, int64_t offset) {
    for (int64_t i = 0; i < sizes.back(); ++i)
      visit(linear + i, at(offset + i * steps.back()));
  });
}

void Tensor::fill(double value) const {
  unsigned char encoded[8];
  storeScalar(type, encoded, value);
  const int64_t size = byteSize(type);
  forEach([&](int64_t, void *element) { std::memcpy(element, encoded, size); });
}

void Tensor::poison() const {
  // All bits set is a quiet NaN in every one of the floating-point formats.
  if (isContiguous()) {
    if (int64_t bytes = numBytes())
      std::memset(base, 0xFF, bytes);
    return;
  }
  const int64_t size = byteSize(type);
  forEach([&](int64_t, void *element) { std::memset(element, 0xFF, size); });
}

Result<Tensor> Tensor::contiguous() const {
  if (isContiguous()) {
    Tensor dense = *this;
    dense.steps = rowMajorStrides(sizes);
    return dense;
  }
  Result<Tensor> copy = allocate(type, sizes);
  if (!copy)
    return copy;
  const int64_t size = byteSize(type);
  forEach([&](int64_t linear, void *element) { std::memcpy(copy->at(linear), element, size); });
  return copy;
}

Result<Tensor> Tensor::converted(DType dtype) const {
  Result<Tensor> copy = allocate(dtype, sizes);
  if (!copy)
    return copy;
  forEach([&](int64_t linear, void *element) { storeScalar(dtype, copy->at(linear), loadScalar(type, element)); });
  return copy;
}

Tensor Tensor::transposedView(Span<const int64_t> permutation) const {
  assert(permutation.size() == sizes.size() && "one entry for each dimension");
  Tensor result = *this;
  for (size_t d = 0; d < sizes.size(); ++d) {
    result.sizes[d] = sizes[permutation[d]];
    result.steps[d] = steps[permutation[d]];
  }
  return result;
}

Tensor Tensor::slicedView(int64_t dimension, int64_t begin, int64_t size) const {
  assert(begin >= 0 && size >= 0 && begin + size <= sizes[dimension] && "slice out of range");
  Tensor result = *this;
  result.sizes[dimension] = size;
  // Arithmetic on the address only, so that views of device memory are views.
  result.base = static_cast<char *>(base) + begin * steps[dimension] * byteSize(type);
  return result;
}

} // namespace attnc::runtime
