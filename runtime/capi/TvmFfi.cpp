//===- TvmFfi.cpp - Calls as TVM FFI makes them -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/TvmFfi.h"
#include "runtime/capi/Dlpack.h"

#include <dlfcn.h>

using namespace attnc;
using namespace attnc::capi;
using image::ArgKind;
using image::ArgSpec;
using image::Error;
using image::KernelImage;
using image::Span;
using image::Status;

/// The function of the process called `name`, which is looked up until it is found; null where there is none.
template <typename Function>
static Function *find(std::atomic<void *> &kept, const char *name) {
  void *found = kept.load(std::memory_order_relaxed);
  if (!found) {
    found = dlsym(RTLD_DEFAULT, name);
    kept.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function *>(found);
}

void TvmFfiHost::raise(const char *kind, const std::string &message) {
  if (auto *function = find<void(const char *, const char *)>(raiseFunction, "TVMFFIErrorSetRaisedFromCStr"))
    function(kind, message.c_str());
}

void *TvmFfiHost::findStream(int device) {
  auto *function = find<void *(int32_t, int32_t)>(streamFunction, "TVMFFIEnvGetStream");
  return function ? function(dlpack::cuda, device) : nullptr;
}

/// The tensor of `value`, which may be null; only of values that are tensors.
static const DLTensor *getTensor(const TvmFfiAny &value) {
  // An object begins with its count of references, its type and how it ends. A tensor's DLTensor is next.
  constexpr size_t objectHeader = 24;
  if (value.type == TensorPointer || !value.pointer)
    return static_cast<const DLTensor *>(value.pointer);
  return reinterpret_cast<const DLTensor *>(static_cast<const char *>(value.pointer) + objectHeader);
}

static bool isTensor(const TvmFfiAny &value) { return value.type == TensorPointer || value.type == TensorObject; }

/// What `value` is that no argument can be, for messages.
static std::string describe(const TvmFfiAny &value) {
  switch (value.type) {
  case None:
    return "None";
  case RawString:
  case SmallString:
  case String:
    return "a string";
  default:
    return "a value of TVM FFI's type " + std::to_string(value.type);
  }
}

/// The names of the arguments: "q, k, v, out".
static std::string listNames(const KernelImage &image) {
  std::string names;
  for (const ArgSpec &arg : image.args)
    names += (names.empty() ? "" : ", ") + arg.name;
  return names;
}

Status capi::readTvmFfi(const KernelImage &image, Span<const TvmFfiAny> args, std::vector<attnc_value> &values) {
  if (args.size() != image.args.size())
    return Error{"kernel '" + image.name + "': expected " + std::to_string(image.args.size()) + " arguments (" +
                 listNames(image) + "), got " + std::to_string(args.size())};
  for (size_t index = 0; index < args.size(); ++index) {
    const ArgSpec &arg = image.args[index];
    const TvmFfiAny &given = args[index];
    attnc_value value = {};
    if (isTensor(given)) {
      value.kind = ATTNC_DLPACK;
      value.as.dlpack = getTensor(given);
    } else if (given.type == Integer || given.type == Boolean) {
      value.kind = ATTNC_INTEGER;
      value.as.integer = given.integer;
    } else if (given.type == Real) {
      value.kind = ATTNC_REAL;
      value.as.real = given.real;
    } else {
      return Error{"argument '" + arg.name + "': expected " +
                   (arg.kind == ArgKind::Tensor ? "a tensor" : "an int or a float") + ", got " + describe(given)};
    }
    values.push_back(value);
  }
  return {};
}

int capi::findTvmFfiDevice(Span<const TvmFfiAny> args) {
  for (const TvmFfiAny &value : args)
    if (isTensor(value))
      if (const DLTensor *tensor = getTensor(value); tensor && tensor->device_type == dlpack::cuda)
        return tensor->device_id;
  return -1;
}
