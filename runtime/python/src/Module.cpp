//===- Module.cpp - attnc.h for Python --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The module `attnc._core`: contexts, specs and kernels, as attnc.h has them.
// What people call is written in Python above it; `_core.pyi` has the types.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Values.h"
#ifdef ATTNC_XLA
#include "XlaFfi.h"
#endif

#include <attnc/attnc.h>
#include <map>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nb = nanobind;
using namespace attnc::python;

namespace {

/// The text of a spec, found to be one.
class Spec {
public:
  explicit Spec(attnc_spec *handle) : handle(handle, attnc_spec_destroy) {}
  attnc_spec *get() const { return handle.get(); }

private:
  std::unique_ptr<attnc_spec, void (*)(attnc_spec *)> handle;
};

/// One dimension of an argument.
struct Dimension {
  std::optional<int64_t> size;
  std::optional<std::string> symbol;
  int64_t extra;
  int64_t unit;
  bool broadcast;
};

/// What one argument of a kernel is.
struct Argument {
  std::string name;
  bool isTensor, isOutput;
  std::string dtype;
  nb::tuple dims; ///< of `Dimension`
};

/// A kernel that is ready to launch.
class Kernel {
public:
  explicit Kernel(attnc_kernel *given);

  const attnc_kernel_info &getInfo() const { return info; }

  /// Of `Argument`: made once, since calls go through it.
  const nb::tuple &getArguments() const { return described; }

  /// Launches on `stream`, or where the framework of the tensors works.
  void launch(const nb::tuple &given, std::optional<uintptr_t> stream);
  /// Bytes that a launch takes in addition to its arguments: sizes of arrays without gaps at multiples of 16 bytes, and
  /// numbers.
  uint64_t getWorkspace(const std::vector<std::variant<int64_t, std::vector<int64_t>>> &given) const;

  /// Launches on inputs alone, if they are tensors of one framework that can
  /// allocate the results, on the given device, and need no gradients: gives the
  /// results. None otherwise: nothing was done, and Python has to. With
  /// `headsFirst` the first three and the first result are [B, H, S, D]. Tensors that require gradients are Python's,
  /// but where a caller `learns`: then it sees to their gradients, and nothing is captured, so that with `headsFirst`
  /// all tensors of four dimensions are [B, H, S, D].
  nb::object call(const nb::tuple &given, int32_t deviceType, int32_t deviceId, bool headsFirst, bool learns);

private:
  /// Where the size of a result's dimension is from: a number, or a dimension of
  /// one of the inputs.
  struct Source {
    size_t argument;
    int32_t dimension;
    int64_t extra, unit;
    bool broadcast;
  };
  struct ResultDimension {
    int64_t size; ///< -1 where an input says
    std::vector<Source> sources;
  };
  struct ResultType {
    uint8_t code, bits;
    std::vector<ResultDimension> dims;
  };

  void describeResults();
  void run(const Values &values, void *stream);

  std::unique_ptr<attnc_kernel, void (*)(attnc_kernel *)> handle;
  attnc_kernel_info info = {};
  nb::tuple described;
  /// What errors and checks need of each argument.
  std::vector<std::pair<std::string, bool>> namesAndOutputs;
  /// Whether each argument is a tensor.
  std::vector<bool> areTensors;
  std::vector<ResultType> results;
};

/// A kernel that is being compiled.
class Compilation {
public:
  explicit Compilation(attnc_compilation *handle) : handle(handle, attnc_compilation_destroy) {}

  bool isDone() const { return attnc_compilation_is_done(handle.get()) == 1; }

  Kernel *wait() const {
    attnc_kernel *kernel = nullptr;
    attnc_error *error = nullptr;
    {
      nb::gil_scoped_release unlocked;
      error = attnc_compilation_get(handle.get(), &kernel);
    }
    check(error);
    return new Kernel(kernel);
  }

private:
  std::unique_ptr<attnc_compilation, void (*)(attnc_compilation *)> handle;
};

/// Compiled kernels, their cache, and the threads that compile.
class Context {
public:
  Context(const std::optional<std::string> &cacheDirectory, int useCache, int threads, int64_t cacheBytes,
          nb::object remark);

  Spec *readSpec(const std::string &text, const std::string &name, const std::optional<std::string> &entry);
  attnc_context *get() const { return handle; }
  Compilation *start(const Spec &spec, const std::string &target, const std::optional<std::string> &schedule,
                     int device, bool backward);

  /// The text and the picture of what becomes of a spec; no picture is an empty text.
  std::pair<std::string, std::string> explain(const Spec &spec, const std::string &target,
                                              const std::optional<std::string> &schedule, int device, bool backward,
                                              const std::optional<std::string> &shape);

private:
  /// Hands a remark to Python, from any thread.
  static void tell(void *data, const char *text);

  // Neither is ever ended: threads that compile may outlive the interpreter, and end with the process.
  attnc_context *handle = nullptr;
  nb::object *remark;
};

} // namespace

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

Context::Context(const std::optional<std::string> &cacheDirectory, int useCache, int threads, int64_t cacheBytes,
                 nb::object remark)
    : remark(remark.is_none() ? nullptr : new nb::object(std::move(remark))) {
  attnc_context_options options = {};
  options.struct_size = sizeof(options);
  options.cache_directory = cacheDirectory ? cacheDirectory->c_str() : nullptr;
  options.use_cache = useCache;
  options.threads = threads;
  options.cache_bytes = cacheBytes;
  options.remark = this->remark ? tell : nullptr;
  options.remark_data = this->remark;
  attnc_error *error = nullptr;
  {
    nb::gil_scoped_release unlocked;
    error = attnc_context_create(&options, &handle);
  }
  check(error);
}

void Context::tell(void *data, const char *text) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire locked;
  try {
    (*static_cast<nb::object *>(data))(text);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("attnc: a remark");
  }
}

Spec *Context::readSpec(const std::string &text, const std::string &name, const std::optional<std::string> &entry) {
  attnc_spec_options options = {};
  options.struct_size = sizeof(options);
  options.text = text.data();
  options.text_bytes = text.size();
  options.name = name.c_str();
  options.entry = entry ? entry->c_str() : nullptr;
  attnc_spec *spec = nullptr;
  attnc_error *error = nullptr;
  {
    nb::gil_scoped_release unlocked;
    error = attnc_spec_create(handle, &options, &spec);
  }
  check(error);
  return new Spec(spec);
}

/// The options of a compilation, which point into the texts.
static attnc_compile_options optionsOf(const std::string &target, const std::optional<std::string> &schedule,
                                       int device, bool backward) {
  attnc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = target.c_str();
  options.schedule = schedule ? schedule->c_str() : nullptr;
  options.device_plus_one = device + 1;
  options.backward = backward;
  return options;
}

Compilation *Context::start(const Spec &spec, const std::string &target, const std::optional<std::string> &schedule,
                            int device, bool backward) {
  const attnc_compile_options options = optionsOf(target, schedule, device, backward);
  attnc_compilation *compilation = nullptr;
  attnc_error *error = nullptr;
  {
    nb::gil_scoped_release unlocked;
    error = attnc_compile_start(handle, spec.get(), &options, &compilation);
  }
  check(error);
  return new Compilation(compilation);
}

std::pair<std::string, std::string> Context::explain(const Spec &spec, const std::string &target,
                                                     const std::optional<std::string> &schedule, int device,
                                                     bool backward, const std::optional<std::string> &shape) {
  attnc_compile_options options = optionsOf(target, schedule, device, backward);
  options.shape = shape ? shape->c_str() : nullptr;
  attnc_explanation *explanation = nullptr;
  attnc_error *error = nullptr;
  {
    nb::gil_scoped_release unlocked;
    error = attnc_explain(handle, spec.get(), &options, &explanation);
  }
  check(error);
  const std::unique_ptr<attnc_explanation, void (*)(attnc_explanation *)> owned(explanation, attnc_explanation_destroy);
  attnc_explanation_info info = {};
  info.struct_size = sizeof(info);
  check(attnc_explanation_get_info(explanation, &info));
  return {info.text, info.svg};
}

/// The word for an attnc_origin.
static const char *nameOrigin(int32_t origin) {
  static const char *const names[] = {"image", "compiler", "disk", "memory"};
  return names[origin];
}

NB_MODULE(_core, module) {
  module.doc() = "attnc.h for Python. Programs use the package attnc, which is written above it.";
  // Kernels live as long as the process, where frameworks keep what calls them.
  nb::set_leak_warnings(false);
  addErrors(module);
  module.def("version", [] { return attnc_version(); }, "The version of the library.");

  // What jax.ffi registers; built where JAX's headers are.
  module.def(
      "xla_handlers",
      [](const Context &context) {
        nb::dict handlers;
#ifdef ATTNC_XLA
        setXlaContext(context.get());
        handlers["cpu"] = nb::capsule(getCpuHandler(), "xla._CUSTOM_CALL_TARGET");
        handlers["CUDA"] = nb::capsule(getGpuHandler(), "xla._CUSTOM_CALL_TARGET");
#endif
        return handlers;
      },
      nb::arg("context"), "The handlers of XLA's calls, by platform; none in a build without JAX.");

  nb::class_<Spec>(module, "Spec", "The text of a spec, found to be one.").def_prop_ro("text", [](const Spec &spec) {
    return attnc_spec_get_text(spec.get());
  });

  nb::class_<Dimension>(module, "Dimension", "One dimension of an argument of a kernel.")
      .def_ro("size", &Dimension::size, "The size that the spec gives it; None where the call says.")
      .def_ro("symbol", &Dimension::symbol,
              "'Sq': all dimensions of that name have one size; None where it shares none.")
      .def_ro("extra", &Dimension::extra, "Elements beyond that size: 1 for cumulative lengths.")
      .def_ro("unit", &Dimension::unit,
              "What one element stands for of that size: the rows of a page for the entries of a page table, else 1.")
      .def_ro("broadcast", &Dimension::broadcast, "Whether a size of 1 stands for every position.");

  nb::class_<Argument>(module, "Argument", "One argument of a kernel, a result included.")
      .def_ro("name", &Argument::name)
      .def_ro("is_tensor", &Argument::isTensor)
      .def_ro("is_output", &Argument::isOutput)
      .def_ro("dtype", &Argument::dtype, "'bfloat16', as numpy names it.")
      .def_ro("dims", &Argument::dims);

  nb::class_<Kernel>(module, "Kernel", "A kernel that is ready to launch, on one GPU or on the CPU.")
      .def_prop_ro("name", [](const Kernel &kernel) { return kernel.getInfo().name; })
      .def_prop_ro("target", [](const Kernel &kernel) { return kernel.getInfo().target; })
      .def_prop_ro("origin", [](const Kernel &kernel) { return nameOrigin(kernel.getInfo().origin); })
      .def_prop_ro("build", [](const Kernel &kernel) { return kernel.getInfo().build; })
      .def_prop_ro("arguments", &Kernel::getArguments)
      .def("launch", &Kernel::launch, nb::arg("values"), nb::arg("stream") = nb::none(),
           "Runs it on the inputs, then the results, in the order of the spec.")
      .def("workspace", &Kernel::getWorkspace, nb::arg("sizes"),
           "Bytes that a launch takes in addition to its arguments: arrays of such sizes without gaps, and numbers.")
      .def("call", &Kernel::call, nb::arg("inputs"), nb::arg("device_type"), nb::arg("device_id"),
           nb::arg("heads_first") = false, nb::arg("learns") = false,
           "Runs it on tensors of a framework that can allocate results, and gives these; None, and nothing is done, "
           "where "
           "Python has to.");

  nb::class_<Compilation>(module, "Compilation", "A kernel that is being compiled.")
      .def("done", &Compilation::isDone)
      .def("wait", &Compilation::wait, "Waits until it has ended, and gives its kernel.");

  nb::class_<Context>(module, "Context", "Compiled kernels, their cache, and the threads that compile.")
      .def(nb::init<const std::optional<std::string> &, int, int, int64_t, nb::object>(),
           nb::arg("cache_directory") = nb::none(), nb::arg("use_cache") = 0, nb::arg("threads") = 0,
           nb::arg("cache_bytes") = 0, nb::arg("remark") = nb::none())
      .def("read_spec", &Context::readSpec, nb::arg("text"), nb::arg("name") = "spec", nb::arg("entry") = nb::none())
      .def("start", &Context::start, nb::arg("spec"), nb::arg("target") = "auto", nb::arg("schedule") = nb::none(),
           nb::arg("device") = -1, nb::arg("backward") = false, "Starts to compile, and returns at once.")
      .def("explain", &Context::explain, nb::arg("spec"), nb::arg("target") = "auto", nb::arg("schedule") = nb::none(),
           nb::arg("device") = -1, nb::arg("backward") = false, nb::arg("shape") = nb::none(),
           "What becomes of a spec: a text, and a picture as SVG, which is empty where no sizes are known.");
}
