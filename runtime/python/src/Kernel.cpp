//===- Kernel.cpp - Kernels of attnc.h for Python ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Errors.h"
#include <map>

namespace nb = nanobind;
using namespace attnc::python;

Kernel::Kernel(attnc_kernel *given) : handle(given, attnc_kernel_destroy) {
  static const char *const dtypes[] = {"float32", "float16", "bfloat16", "float64", "bool", "int8", "int32", "int64"};
  info.struct_size = sizeof(info);
  check(attnc_kernel_get_info(given, &info));
  nb::list arguments;
  for (size_t index = 0; index < info.num_arguments; ++index) {
    attnc_argument_info facts = {};
    facts.struct_size = sizeof(facts);
    check(attnc_kernel_get_argument(given, index, &facts));
    nb::list dims;
    for (int32_t dimension = 0; dimension < facts.rank; ++dimension) {
      attnc_dimension_info dim = {};
      dim.struct_size = sizeof(dim);
      check(attnc_kernel_get_dimension(given, index, static_cast<size_t>(dimension), &dim));
      dims.append(Dimension{dim.size >= 0 ? std::optional<int64_t>(dim.size) : std::nullopt,
                            dim.symbol ? std::optional<std::string>(dim.symbol) : std::nullopt, dim.extra, dim.unit,
                            dim.broadcast == 1});
    }
    arguments.append(
        Argument{facts.name, facts.is_tensor == 1, facts.is_output == 1, dtypes[facts.dtype], nb::tuple(dims)});
    namesAndOutputs.emplace_back(facts.name, facts.is_output == 1);
    areTensors.push_back(facts.is_tensor == 1);
  }
  described = nb::tuple(arguments);
  describeResults();
}

void Kernel::describeResults() {
  static const std::pair<uint8_t, uint8_t> types[] = {
      {dlpack::floating, 32}, {dlpack::floating, 16},     {dlpack::bfloat, 16},        {dlpack::floating, 64},
      {dlpack::boolean, 8},   {dlpack::signedInteger, 8}, {dlpack::signedInteger, 32}, {dlpack::signedInteger, 64}};
  // The dimensions of inputs, by symbol, in the order in which Python's `bind` reads them.
  std::map<std::string, std::vector<Source>> sources;
  for (size_t index = 0; index < info.num_arguments; ++index) {
    attnc_argument_info facts = {};
    facts.struct_size = sizeof(facts);
    check(attnc_kernel_get_argument(handle.get(), index, &facts));
    ResultType result = {types[facts.dtype].first, types[facts.dtype].second, {}};
    for (int32_t number = 0; number < facts.rank; ++number) {
      attnc_dimension_info dim = {};
      dim.struct_size = sizeof(dim);
      check(attnc_kernel_get_dimension(handle.get(), index, static_cast<size_t>(number), &dim));
      if (facts.is_output)
        result.dims.push_back({dim.size, dim.symbol ? sources[dim.symbol] : std::vector<Source>()});
      else if (facts.is_tensor && dim.symbol)
        sources[dim.symbol].push_back({index, number, dim.extra, dim.unit, dim.broadcast == 1});
    }
    if (facts.is_output)
      results.push_back(std::move(result));
  }
}

/// The options of a launch on `values`, which they point to.
static attnc_launch_options optionsOf(const std::vector<attnc_value> &values) {
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values.data();
  options.num_values = values.size();
  options.value_size = sizeof(attnc_value);
  return options;
}

uint64_t Kernel::getWorkspace(const std::vector<std::variant<int64_t, std::vector<int64_t>>> &given) const {
  // Addresses that no launch is given: far apart, since results may not lie on other arguments.
  constexpr uint64_t apart = uint64_t(1) << 42;
  std::vector<attnc_value> values;
  for (const auto &one : given) {
    attnc_value value = {};
    if (const auto *number = std::get_if<int64_t>(&one)) {
      value.kind = ATTNC_INTEGER;
      value.as.integer = *number;
    } else {
      attnc_argument_info facts = {};
      facts.struct_size = sizeof(facts);
      check(attnc_kernel_get_argument(handle.get(), values.size(), &facts));
      const auto &sizes = std::get<std::vector<int64_t>>(one);
      value.kind = ATTNC_TENSOR;
      value.as.tensor.address = (values.size() + 1) * apart;
      value.as.tensor.dtype = facts.dtype;
      value.as.tensor.rank = static_cast<int32_t>(sizes.size());
      value.as.tensor.sizes = sizes.data();
    }
    values.push_back(value);
  }
  attnc_launch_options options = optionsOf(values);
  uint64_t bytes = 0;
  check(attnc_kernel_get_workspace(handle.get(), &options, &bytes));
  return bytes;
}

void Kernel::launch(const nb::tuple &given, std::optional<uintptr_t> stream) {
  const size_t count = namesAndOutputs.size();
  if (given.size() != count) {
    const std::string text = "kernel '" + std::string(info.name) + "' takes " + std::to_string(count) +
                             " arguments, results included, got " + std::to_string(given.size());
    throw nb::type_error(text.c_str());
  }
  Values values(count);
  for (size_t index = 0; index < count; ++index)
    values.add(given[index], namesAndOutputs[index].first.c_str(), namesAndOutputs[index].second);
  run(values, stream ? reinterpret_cast<void *>(*stream) : values.getCurrentStream());
}

nb::object Kernel::call(const nb::tuple &given, int32_t deviceType, int32_t deviceId, bool headsFirst, bool learns) {
  static PyObject *const requiresGrad = PyUnicode_InternFromString("requires_grad");
  const size_t count = namesAndOutputs.size() - results.size();
  if (given.size() != count)
    return nb::none();
  Values values(namesAndOutputs.size());
  std::vector<DLTensor> tensors(count);
  for (size_t index = 0; index < count; ++index) {
    const nb::handle object = given[index];
    // What is neither a tensor of such a framework nor a number is Python's.
    if (areTensors[index] ? !Values::isExchanged(object)
                          : !PyLong_CheckExact(object.ptr()) && !PyFloat_CheckExact(object.ptr()))
      return nb::none();
    try {
      values.add(object, namesAndOutputs[index].first.c_str(), /*isOutput=*/false);
    } catch (nb::python_error &) {
      // What cannot be described, a tensor without memory say, is Python's to refuse in words.
      return nb::none();
    }
    if (!areTensors[index])
      continue;
    tensors[index] = *values.getLastTensor();
    if (tensors[index].device_type != deviceType || tensors[index].device_id != deviceId)
      return nb::none();
    if (!learns) {
      PyObject *flag = PyObject_GetAttr(object.ptr(), requiresGrad);
      Py_XDECREF(flag);
      if (flag != Py_False) {
        PyErr_Clear();
        return nb::none();
      }
    }
    // Elements of a row that lie apart are copied, or refused, by Python.
    const DLTensor &tensor = tensors[index];
    const int32_t last = tensor.ndim - 1;
    if (tensor.ndim == 0 || (tensor.strides && tensor.strides[last] != 1 && tensor.shape[last] > 1))
      return nb::none();
    if (!headsFirst || (index > 2 && (!learns || tensor.ndim != 4)))
      continue;
    // Queries that lie as [B, S, H, D] have results that do, which are made here of rows alone.
    if (tensor.ndim != 4 || !tensor.strides || (index == 0 && tensor.strides[1] < tensor.strides[2]))
      return nb::none();
    tensors[index] = values.swapLastTensor();
  }
  if (!values.canAllocate())
    return nb::none();
  nb::list made;
  std::vector<int64_t> sizes;
  for (const ResultType &result : results) {
    sizes.clear();
    for (const ResultDimension &dim : result.dims) {
      int64_t size = dim.size;
      for (const Source &source : dim.sources) {
        if (size >= 0)
          break;
        const DLTensor &tensor = tensors[source.argument];
        if (tensor.ndim <= source.dimension)
          return nb::none();
        const int64_t given = tensor.shape[source.dimension];
        if (!(source.broadcast && given == 1))
          size = (given - source.extra) * source.unit;
      }
      if (size < 0)
        return nb::none();
      sizes.push_back(size);
    }
    DLTensor prototype = {};
    prototype.device_type = deviceType;
    prototype.device_id = deviceId;
    prototype.ndim = static_cast<int32_t>(sizes.size());
    prototype.type_code = result.code;
    prototype.type_bits = result.bits;
    prototype.type_lanes = 1;
    prototype.shape = sizes.data();
    const bool swaps = headsFirst && (learns ? sizes.size() == 4 : &result == &results.front());
    if (swaps)
      std::swap(sizes[1], sizes[2]);
    made.append(values.addResult(prototype));
    if (swaps)
      values.swapLastTensor();
  }
  run(values, values.getCurrentStream());
  return made.size() == 1 ? nb::object(made[0]) : nb::object(nb::tuple(made));
}

void Kernel::run(const Values &values, void *stream) {
  attnc_launch_options options = optionsOf(values.get());
  options.stream = stream;
  attnc_error *error = nullptr;
  {
    nb::gil_scoped_release unlocked;
    error = attnc_kernel_launch(handle.get(), &options);
  }
  check(error);
}
