//===- Values.cpp - Arguments of a launch as C has them ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Values.h"
#include "runtime/capi/Dlpack.h"
#include "runtime/capi/LaunchCache.h"

using namespace attnc;
using namespace attnc::capi;
using image::DType;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using runtime::MemorySpace;
using runtime::Tensor;

static_assert(static_cast<int>(DType::F32) == ATTNC_F32 && static_cast<int>(DType::F16) == ATTNC_F16 &&
              static_cast<int>(DType::BF16) == ATTNC_BF16 && static_cast<int>(DType::F64) == ATTNC_F64 &&
              static_cast<int>(DType::I1) == ATTNC_I1 && static_cast<int>(DType::I8) == ATTNC_I8 &&
              static_cast<int>(DType::I32) == ATTNC_I32 && static_cast<int>(DType::I64) == ATTNC_I64);

Status capi::checkCount(const KernelImage &image, size_t count) {
  if (count == image.args.size())
    return {};
  return Error{"kernel '" + image.name + "': expected " + std::to_string(image.args.size()) + " arguments, got " +
               std::to_string(count)};
}

/// Whether there are values to read in `options`, one for each argument of `image`; they need not have our size.
static Status checkValues(const KernelImage &image, const attnc_launch_options &options) {
  if (Status status = checkCount(image, options.num_values); !status)
    return status;
  if (options.num_values > 0 && (!options.values || options.value_size < sizeof(attnc_value)))
    return Error{"expected values of at least " + std::to_string(sizeof(attnc_value)) + " bytes, got " +
                 (options.values ? std::to_string(options.value_size) : "null")};
  return {};
}

static const attnc_value &valueAt(const attnc_launch_options &options, size_t index) {
  return *reinterpret_cast<const attnc_value *>(reinterpret_cast<const char *>(options.values) +
                                                index * options.value_size);
}

/// `error` of the argument `index`.
static Error errorOf(const KernelImage &image, size_t index, const Error &error) {
  std::string name = index < image.args.size() ? image.args[index].name : std::to_string(index);
  return Error{"argument '" + name + "': " + error.message};
}

/// The element type of `tensor`; -1 for one that no kernel has.
static int32_t typeOf(const DLTensor &tensor) {
  if (tensor.type_lanes != 1)
    return -1;
  switch (tensor.type_code << 8 | tensor.type_bits) {
  case dlpack::floating << 8 | 16:
    return ATTNC_F16;
  case dlpack::floating << 8 | 32:
    return ATTNC_F32;
  case dlpack::floating << 8 | 64:
    return ATTNC_F64;
  case dlpack::bfloat << 8 | 16:
    return ATTNC_BF16;
  case dlpack::boolean << 8 | 8:
    return ATTNC_I1;
  case dlpack::signedInteger << 8 | 8:
    return ATTNC_I8;
  case dlpack::signedInteger << 8 | 32:
    return ATTNC_I32;
  case dlpack::signedInteger << 8 | 64:
    return ATTNC_I64;
  default:
    return -1;
  }
}

/// Whether a kernel at `place` reads and writes the memory of `tensor`.
static bool liesAt(const DLTensor &tensor, Place place) {
  if (tensor.device_type == dlpack::cudaManaged)
    return true;
  if (place.space == MemorySpace::Host)
    return tensor.device_type == dlpack::cpu || tensor.device_type == dlpack::cudaHost;
  return tensor.device_type == dlpack::cuda && tensor.device_id == place.ordinal;
}

static std::string describe(Place place) {
  return place.space == MemorySpace::Host
             ? "CPU memory (DLPack device " + std::to_string(dlpack::cpu) + ")"
             : "GPU " + std::to_string(place.ordinal) + " (DLPack device " + std::to_string(dlpack::cuda) + ")";
}

/// `tensor` as a plain one, whose sizes and strides stay where they are.
static Result<attnc_tensor> toPlain(const DLTensor *tensor, Place place) {
  if (!tensor)
    return Error{"expected a DLTensor, got null"};
  if (!liesAt(*tensor, place))
    return Error{"expected a tensor on " + describe(place) + ", got one on device " +
                 std::to_string(tensor->device_type) + ", number " + std::to_string(tensor->device_id)};
  const int32_t dtype = typeOf(*tensor);
  if (dtype < 0)
    return Error{"no kernel has elements of DLPack's type (" + std::to_string(tensor->type_code) + ", " +
                 std::to_string(tensor->type_bits) + ", " + std::to_string(tensor->type_lanes) + ")"};
  return attnc_tensor{reinterpret_cast<uint64_t>(tensor->data) + tensor->byte_offset, dtype, tensor->ndim,
                      tensor->shape, tensor->strides};
}

Result<attnc_launch_options> PlainValues::replace(const attnc_launch_options &options, const KernelImage &image,
                                                  Place place) {
  if (Status status = checkValues(image, options); !status)
    return status.takeError();
  attnc_launch_options plain = options;
  for (size_t index = 0; index < options.num_values; ++index) {
    if (valueAt(options, index).kind != ATTNC_DLPACK)
      continue;
    if (values.empty()) {
      for (size_t i = 0; i < options.num_values; ++i)
        values.push_back(valueAt(options, i));
      plain.values = values.data();
      plain.value_size = sizeof(attnc_value);
    }
    Result<attnc_tensor> tensor = toPlain(values[index].as.dlpack, place);
    if (!tensor)
      return errorOf(image, index, tensor.takeError());
    values[index].kind = ATTNC_TENSOR;
    values[index].as.tensor = *tensor;
  }
  return plain;
}

int capi::findDevice(const attnc_launch_options &options) {
  if (!options.values || options.value_size < sizeof(attnc_value))
    return -1;
  for (size_t index = 0; index < options.num_values; ++index) {
    const attnc_value &value = valueAt(options, index);
    if (value.kind == ATTNC_DLPACK && value.as.dlpack && value.as.dlpack->device_type == dlpack::cuda)
      return value.as.dlpack->device_id;
  }
  return -1;
}

/// The tensor that `tensor` describes.
static Result<Tensor> readTensor(const attnc_tensor &tensor, MemorySpace space) {
  if (tensor.dtype < 0 || tensor.dtype >= static_cast<int32_t>(image::numDTypes))
    return Error{"unknown element type " + std::to_string(tensor.dtype)};
  if (tensor.rank < 0 || tensor.rank > maxRank)
    return Error{"expected a rank from 0 to " + std::to_string(maxRank) + ", got " + std::to_string(tensor.rank)};
  if (tensor.rank > 0 && !tensor.sizes)
    return Error{"expected sizes, got null"};
  const Span<const int64_t> sizes(tensor.sizes, static_cast<size_t>(tensor.rank));
  const auto dtype = static_cast<DType>(tensor.dtype);
  if (!tensor.strides && !runtime::countElements(sizes))
    return Error{"expected sizes of a tensor, got " + runtime::shapeString(sizes)};
  const runtime::Dims strides =
      tensor.strides ? runtime::Dims(tensor.strides, tensor.strides + tensor.rank) : runtime::rowMajorStrides(sizes);
  if (space == MemorySpace::Device)
    return Tensor::deviceView(tensor.address, dtype, sizes, strides);
  return Tensor::stridedView(reinterpret_cast<void *>(tensor.address), dtype, sizes, strides);
}

/// The value that `value` describes.
static Result<ArgValue> readValue(const attnc_value &value, MemorySpace space) {
  switch (value.kind) {
  case ATTNC_INTEGER:
    return ArgValue(value.as.integer);
  case ATTNC_REAL:
    return ArgValue(value.as.real);
  case ATTNC_TENSOR: {
    Result<Tensor> tensor = readTensor(value.as.tensor, space);
    if (!tensor)
      return tensor.takeError();
    return ArgValue(std::move(*tensor));
  }
  default:
    return Error{"unknown kind of value " + std::to_string(value.kind)};
  }
}

Result<std::vector<ArgValue>> capi::readValues(const KernelImage &image, const attnc_launch_options &options,
                                               MemorySpace space) {
  if (Status status = checkValues(image, options); !status)
    return status.takeError();
  std::vector<ArgValue> values;
  values.reserve(options.num_values);
  for (size_t index = 0; index < options.num_values; ++index) {
    Result<ArgValue> value = readValue(valueAt(options, index), space);
    if (!value)
      return errorOf(image, index, value.takeError());
    values.push_back(std::move(*value));
  }
  return values;
}
