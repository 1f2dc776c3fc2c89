//===- Values.cpp - Python's objects as arguments of a launch ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "Values.h"

#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace nb = nanobind;
using namespace attnc::python;

/// The functions that objects of `type` are described by; null where it has none that are read here.
static const dlpack::ExchangeApi *findExchangeApi(PyTypeObject *type) {
  // Asking a type costs more than describing a tensor. Types stay: each is held, and there are few. The global lock
  // protects the map.
  static std::unordered_map<PyTypeObject *, const dlpack::ExchangeApi *> known;
  if (auto found = known.find(type); found != known.end())
    return found->second;
  const dlpack::ExchangeApi *api = nullptr;
  nb::object capsule = nb::getattr(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    api = static_cast<const dlpack::ExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api && api->version.major != 1)
    api = api->previous;
  if (api && !api->describe)
    api = nullptr;
  Py_INCREF(reinterpret_cast<PyObject *>(type));
  known.emplace(type, api);
  return api;
}

/// Ends with a TypeError about the argument `name`.
[[noreturn]] static void refuse(const char *name, const std::string &text) {
  throw nb::type_error(("argument '" + std::string(name) + "': " + text).c_str());
}

/// What people call the type of `object`.
static std::string typeName(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

bool Values::isExchanged(nb::handle object) { return findExchangeApi(Py_TYPE(object.ptr())) != nullptr; }

Values::Values(size_t count) {
  values.reserve(count);
  tensors.reserve(count);
}

void Values::addTensor(DLTensor tensor) {
  tensors.push_back(tensor);
  attnc_value value = {};
  value.kind = ATTNC_DLPACK;
  value.as.dlpack = &tensors.back();
  values.push_back(value);
}

/// Sets the type of `tensor` to that of `array`, an array of numpy's; false where DLPack has none such.
static bool readType(nb::handle array, const std::string &code, DLTensor &tensor) {
  if (code.size() < 3 || code[0] == '>')
    return false;
  const int bytes = code[2] - '0';
  tensor.type_lanes = 1;
  tensor.type_bits = static_cast<uint8_t>(8 * bytes);
  switch (code[1]) {
  case 'f':
    tensor.type_code = dlpack::floating;
    return true;
  case 'i':
    tensor.type_code = dlpack::signedInteger;
    return true;
  case 'u':
    tensor.type_code = dlpack::unsignedInteger;
    return true;
  case 'b':
    tensor.type_code = dlpack::boolean;
    return true;
  case 'V':
    // ml_dtypes' bfloat16 is known by its name alone.
    tensor.type_code = dlpack::bfloat;
    return bytes == 2 && nb::cast<std::string>(array.attr("dtype").attr("name")) == "bfloat16";
  default:
    return false;
  }
}

void Values::addArray(nb::handle array, const nb::dict &interface, const char *name, bool isOutput) {
  DLTensor tensor = {};
  tensor.device_type = dlpack::cpu;
  if (!readType(array, nb::cast<std::string>(interface["typestr"]), tensor))
    refuse(name,
           "expected an array of float32, float16, bfloat16, float64, bool, int8, int32 or int64 in this machine's "
           "order of bytes, got one of " +
               nb::cast<std::string>(array.attr("dtype").attr("__str__")()));
  nb::tuple data = nb::cast<nb::tuple>(interface["data"]);
  tensor.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(data[0]));
  if (isOutput && nb::cast<bool>(data[1]))
    refuse(name, "expected an array that can be written, got a read-only one");
  std::vector<int64_t> &sizes = numbers.emplace_back();
  for (nb::handle size : nb::cast<nb::tuple>(interface["shape"]))
    sizes.push_back(nb::cast<int64_t>(size));
  tensor.ndim = static_cast<int32_t>(sizes.size());
  tensor.shape = sizes.data();
  if (nb::object given = interface["strides"]; !given.is_none()) {
    const int64_t bytes = tensor.type_bits / 8;
    std::vector<int64_t> &strides = numbers.emplace_back();
    for (nb::handle item : nb::cast<nb::tuple>(given)) {
      const auto stride = nb::cast<int64_t>(item);
      if (stride % bytes != 0)
        refuse(name, "expected strides of whole elements, got one of " + std::to_string(stride) + " bytes");
      strides.push_back(stride / bytes);
    }
    tensor.strides = strides.data();
  }
  addTensor(tensor);
}

void Values::addCapsule(nb::object capsule, const char *name, bool isOutput) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<dlpack::VersionedTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1)
      refuse(name, "expected DLPack 1, got version " + std::to_string(managed->version.major));
    if (isOutput && (managed->flags & dlpack::VersionedTensor::readOnly))
      refuse(name, "expected a tensor that can be written, got a read-only one");
    addTensor(managed->tensor);
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    // DLManagedTensor begins with its tensor.
    addTensor(*static_cast<DLTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")));
  } else {
    refuse(name, "expected a capsule of DLPack from __dlpack__");
  }
  // Its destructor gives the tensor back: nobody has taken it out.
  kept.push_back(std::move(capsule));
}

/// What `object.__dlpack__` returns, of version 1 where the framework knows it.
static nb::object exportCapsule(nb::handle object) {
  try {
    return object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return object.attr("__dlpack__")();
}

void Values::add(nb::handle object, const char *name, bool isOutput) {
  const dlpack::ExchangeApi *api = findExchangeApi(Py_TYPE(object.ptr()));
  lastApi = api;
  if (api) {
    DLTensor tensor = {};
    if (api->describe(object.ptr(), &tensor) != 0)
      throw nb::python_error();
    if (!allocator)
      allocator = api;
    if (!streams && tensor.device_type == dlpack::cuda) {
      streams = api;
      streamDevice = tensor.device_id;
    }
    addTensor(tensor);
    return;
  }
  attnc_value value = {};
  if (PyLong_Check(object.ptr())) {
    value.kind = ATTNC_INTEGER;
    // Seeds are any 64 bits.
    value.as.integer = static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(object.ptr()));
    if (PyErr_Occurred())
      throw nb::python_error();
    values.push_back(value);
  } else if (PyFloat_Check(object.ptr())) {
    value.kind = ATTNC_REAL;
    value.as.real = PyFloat_AsDouble(object.ptr());
    values.push_back(value);
  } else if (nb::object interface = nb::getattr(object, "__array_interface__", nb::none()); !interface.is_none()) {
    addArray(object, nb::cast<nb::dict>(interface), name, isOutput);
  } else if (nb::hasattr(object, "__dlpack__")) {
    addCapsule(exportCapsule(object), name, isOutput);
  } else {
    refuse(name, "expected a number, an array or a tensor, got " + typeName(object));
  }
}

DLTensor Values::swapLastTensor() {
  DLTensor &tensor = tensors.back();
  std::vector<int64_t> &swapped = numbers.emplace_back(8);
  int64_t stride = 1;
  for (int dimension = 3; dimension >= 0; --dimension) {
    swapped[dimension] = tensor.shape[dimension];
    swapped[4 + dimension] = tensor.strides ? tensor.strides[dimension] : stride;
    stride *= tensor.shape[dimension];
  }
  std::swap(swapped[1], swapped[2]);
  std::swap(swapped[5], swapped[6]);
  tensor.shape = swapped.data();
  tensor.strides = swapped.data() + 4;
  return tensor;
}

nb::object Values::addResult(DLTensor prototype) {
  dlpack::VersionedTensor *managed = nullptr;
  std::string failure;
  auto fail = [](void *context, const char *, const char *message) { *static_cast<std::string *>(context) = message; };
  if (allocator->allocate(&prototype, &managed, &failure, fail) != 0) {
    if (PyErr_Occurred())
      throw nb::python_error();
    throw std::runtime_error(failure.empty() ? "a result could not be allocated" : failure);
  }
  // Sizes of the tensor end with it, and it may be made anew for Python: the launch reads the numbers that are here.
  std::vector<int64_t> &sizes = numbers.emplace_back(prototype.shape, prototype.shape + prototype.ndim);
  DLTensor tensor = managed->tensor;
  tensor.shape = sizes.data();
  tensor.strides = nullptr;
  void *object = nullptr;
  if (allocator->toObject(managed, &object) != 0)
    throw nb::python_error();
  addTensor(tensor);
  return nb::steal(static_cast<PyObject *>(object));
}

void *Values::getCurrentStream() const {
  void *stream = nullptr;
  if (streams && streams->getCurrentStream(dlpack::cuda, streamDevice, &stream) != 0)
    throw nb::python_error();
  return stream;
}
