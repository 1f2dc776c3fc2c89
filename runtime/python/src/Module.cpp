//===- Module.cpp - attnc.h for Python --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The module `attnc._core`: contexts, specs and kernels, as attnc.h has them.
// What people call is written in Python above it; `_core.pyi` has the types.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Kernel.h"
#ifdef ATTNC_XLA
#include "XlaFfi.h"
#endif

#include <attnc/attnc.h>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>

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
      .def_prop_ro(
          "is_usable", [](const Context &context) { return attnc_context_is_usable(context.get()) == 1; },
          "Whether this process may use it: not a child that was forked while a thread did.")
      .def("read_spec", &Context::readSpec, nb::arg("text"), nb::arg("name") = "spec", nb::arg("entry") = nb::none())
      .def("start", &Context::start, nb::arg("spec"), nb::arg("target") = "auto", nb::arg("schedule") = nb::none(),
           nb::arg("device") = -1, nb::arg("backward") = false, "Starts to compile, and returns at once.")
      .def("explain", &Context::explain, nb::arg("spec"), nb::arg("target") = "auto", nb::arg("schedule") = nb::none(),
           nb::arg("device") = -1, nb::arg("backward") = false, nb::arg("shape") = nb::none(),
           "What becomes of a spec: a text, and a picture as SVG, which is empty where no sizes are known.");
}
