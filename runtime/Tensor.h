//===- Tensor.h - Strided tensors ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A tensor in host or device memory: an element type, a shape, strides, and
// data that it owns, shares or borrows. A `Tensor` is a handle: copies refer to
// the same elements, and constness of the handle says nothing about them. What
// reads or writes elements is for host memory only.
//
// Rule S17: sizes, strides and offsets are 64-bit everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TENSOR_H
#define ATTNC_RUNTIME_TENSOR_H

#include "codegen/image/DType.h"
#include "codegen/image/Error.h"
#include "codegen/image/Span.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnc::runtime {

/// Sizes or strides, one for each dimension.
using Dims = std::vector<int64_t>;

/// The number of elements of `shape`: 1 for rank 0, nothing when a size is
/// negative or the product passes 2^63 - 1.
std::optional<int64_t> countElements(image::Span<const int64_t> shape);

/// The strides, in elements, of a row-major tensor of `shape`, whose number of
/// elements must be countable.
Dims rowMajorStrides(image::Span<const int64_t> shape);

/// `shape` for messages: "2x3", or "scalar" for rank 0.
std::string shapeString(image::Span<const int64_t> shape);

/// Where elements lie.
enum class MemorySpace : uint8_t {
  Host,   ///< what this process reads and writes
  Device, ///< what only a GPU reads and writes
};

/// The name in messages: "host", "device".
std::string_view name(MemorySpace space);

/// A strided tensor.
class Tensor {
public:
  /// No tensor: f32, shape [0], null data.
  Tensor() = default;

  /// A new row-major tensor, aligned to 64 bytes, with unspecified elements.
  /// Pages are not touched, so memory that is never written costs nothing.
  /// Fails for a negative size, a size past 2^63 - 1 bytes and lack of memory.
  static image::Result<Tensor> allocate(image::DType dtype, image::Span<const int64_t> shape);

  /// A tensor over memory that already exists, with `strides` in elements. Kept
  /// alive by `owner` if there is one, else by the caller. Shape and strides
  /// have equal ranks; nothing else is checked here.
  static Tensor stridedView(void *data, image::DType dtype, image::Span<const int64_t> shape,
                            image::Span<const int64_t> strides, std::shared_ptr<void> owner = nullptr);

  /// A row-major tensor over memory that already exists; the number of elements
  /// of `shape` must be countable.
  static Tensor view(void *data, image::DType dtype, image::Span<const int64_t> shape,
                     std::shared_ptr<void> owner = nullptr);

  /// A tensor of strides in elements over device memory: `address` is that of
  /// the element with index 0 in every dimension.
  static Tensor deviceView(uint64_t address, image::DType dtype, image::Span<const int64_t> shape,
                           image::Span<const int64_t> strides, std::shared_ptr<void> owner = nullptr);

  /// Where the elements lie.
  MemorySpace space() const { return memory; }

  /// The element type.
  image::DType dtype() const { return type; }

  /// The number of dimensions.
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }

  /// The sizes, in elements.
  const Dims &shape() const { return sizes; }

  /// The strides, in elements; may be 0 or negative.
  const Dims &strides() const { return steps; }

  /// The size of dimension `index`.
  int64_t dim(int64_t index) const { return sizes[index]; }

  /// The stride of dimension `index`, in elements.
  int64_t stride(int64_t index) const { return steps[index]; }

  /// The element with index 0 in every dimension; null only where nothing may
  /// be read.
  void *data() const { return base; }

  /// `data()` as a pointer to elements of type `T`, whose size must be that of
  /// the element type.
  template <typename T>
  T *data() const {
    assert(static_cast<int64_t>(sizeof(T)) == byteSize(type) && "element size mismatch");
    return static_cast<T *>(base);
  }

  /// The product of the sizes.
  int64_t numElements() const;

  /// The size of all elements stored densely, in bytes.
  int64_t numBytes() const { return numElements() * byteSize(type); }

  /// Whether the elements lie in row-major order without gaps.
  bool isContiguous() const;

  /// The offset of an element from `data()`, in elements. `index` has one
  /// position for each dimension, each inside its size.
  int64_t offsetOf(image::Span<const int64_t> index) const;

  /// The offset, in elements, of the element that is `linear`-th in row-major
  /// order of the indices, whatever the strides.
  int64_t offsetOfLinear(int64_t linear) const;

  /// Reads or writes one element, converted as in `DType.h`.
  double loadAsDouble(image::Span<const int64_t> index) const;
  double loadLinear(int64_t linear) const;
  void storeAsDouble(image::Span<const int64_t> index, double value) const;
  void storeLinear(int64_t linear, double value) const;

  /// Calls `visit(linear, element)` for every element in row-major order of the
  /// indices; cheaper than `offsetOfLinear` for each.
  void forEach(image::FunctionRef<void(int64_t linear, void *element)> visit) const;

  /// Sets every element to `value`.
  void fill(double value) const;

  /// Sets every element to what no kernel should compute: a NaN for floats, a
  /// byte pattern of 0xFF else, so that an element left unwritten shows.
  void poison() const;

  /// The same elements in row-major order: this tensor if it is so already, a
  /// copy else. Fails as `allocate` does.
  image::Result<Tensor> contiguous() const;

  /// A new row-major tensor of element type `dtype` with the elements converted
  /// through double. Fails as `allocate` does.
  image::Result<Tensor> converted(image::DType dtype) const;

  /// The same elements with dimension `i` of the result being dimension
  /// `permutation[i]` of this tensor. Shares the data.
  Tensor transposedView(image::Span<const int64_t> permutation) const;

  /// `size` positions of dimension `dimension` from `begin` on. Shares the
  /// data.
  Tensor slicedView(int64_t dimension, int64_t begin, int64_t size) const;

private:
  /// The address `offset` elements from `data()`.
  void *at(int64_t offset) const {
    assert(memory == MemorySpace::Host && "element access on a device");
    return static_cast<char *>(base) + offset * byteSize(type);
  }

  image::DType type = image::DType::F32;
  MemorySpace memory = MemorySpace::Host;
  Dims sizes = {0};
  Dims steps = {1};
  std::shared_ptr<void> storage;
  void *base = nullptr;
};

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_TENSOR_H
