//===- attnc.hpp - Attention kernels, for C++ -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// attnc.h with handles that end by themselves. Header-only, C++17, with or without exceptions: it throws none.
//
//   attnc::Result<attnc::Context> context = attnc::Context::create();
//   attnc::Result<attnc::Spec> spec = context->readSpec(text);
//   if (!spec)
//     return report(spec.error().details());
//   attnc::Result<attnc::Kernel> kernel = context->compile(*spec);
//   attnc::Status status = kernel->launch({{q, ATTNC_F32, {1, 128, 8, 64}}, ...});
//
// `Status` and `Result` are true when all went well.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_ATTNC_HPP
#define ATTNC_ATTNC_HPP

#include <attnc/attnc.h>

#include <cassert>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnc {

/// Ends a handle by a function of C.
template <auto destroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle *handle) const {
    destroy(handle);
  }
};

/// A structure of C, all zeros but for its size.
template <typename Struct>
Struct makeStruct() {
  Struct made;
  std::memset(&made, 0, sizeof(made));
  made.struct_size = sizeof(made);
  return made;
}

/// Success, or why something failed.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;

  /// What a function of C gave, which is this object's from now on.
  explicit Status(attnc_error *error) : error(error) {}

  /// Whether all went well.
  explicit operator bool() const { return !error; }

  /// One line; empty on success.
  const char *message() const { return attnc_error_message(error.get()); }

  /// All that there is to say, with the spec's own line and a caret where a spec is at fault; empty on success.
  const char *details() const { return attnc_error_details(error.get()); }

  /// What the error is about, and its place in the spec; zeros on success.
  attnc_error_info info() const {
    auto info = makeStruct<attnc_error_info>();
    if (error)
      (void)Status(attnc_error_get_info(error.get(), &info));
    return info;
  }

private:
  std::unique_ptr<attnc_error, Destroy<attnc_error_destroy>> error;
};

/// A `T`, or why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {}

  /// Whether there is a value.
  explicit operator bool() const { return held.has_value(); }

  /// The value; only where there is one.
  T &operator*() {
    assert(held && "a failure holds no value");
    return *held;
  }
  T *operator->() { return &**this; }

  /// Why there is none.
  const Status &error() const { return failure; }

private:
  std::optional<T> held;
  Status failure;
};

/// One argument of a launch: a tensor, a number, or a tensor of DLPack's.
class Value {
public:
  /// A row-major tensor, or one of these strides, in elements. `data` is an address of the kernel's device.
  Value(const void *data, attnc_dtype dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides = {})
      : sizes(std::move(sizes)), strides(std::move(strides)) {
    value.kind = ATTNC_TENSOR;
    value.as.tensor.address = reinterpret_cast<uint64_t>(data);
    value.as.tensor.dtype = dtype;
    value.as.tensor.rank = static_cast<int32_t>(this->sizes.size());
  }

  /// What a DLManagedTensor holds. It must live until the launch.
  explicit Value(const DLTensor *tensor) {
    value.kind = ATTNC_DLPACK;
    value.as.dlpack = tensor;
  }

  /// A number.
  Value(int64_t number) {
    value.kind = ATTNC_INTEGER;
    value.as.integer = number;
  }
  Value(double number) {
    value.kind = ATTNC_REAL;
    value.as.real = number;
  }

  /// The argument as C has it, which points into this one.
  attnc_value get() const {
    attnc_value plain = value;
    if (plain.kind == ATTNC_TENSOR) {
      plain.as.tensor.sizes = sizes.data();
      plain.as.tensor.strides = strides.empty() ? nullptr : strides.data();
    }
    return plain;
  }

private:
  attnc_value value = {};
  std::vector<int64_t> sizes, strides;
};

/// A kernel that is ready to launch. Threads may launch it at the same time.
class Kernel {
public:
  /// A handle of C, which is this object's from now on.
  explicit Kernel(attnc_kernel *kernel) : handle(kernel) {}

  /// Loads an image, on the GPU of this number, or on that of the thread's context for -1.
  static Result<Kernel> load(std::string_view image, int device = -1) {
    auto options = makeStruct<attnc_load_options>();
    options.image = image.data();
    options.image_bytes = image.size();
    options.device = device;
    attnc_kernel *kernel = nullptr;
    if (Status status(attnc_kernel_load(&options, &kernel)); !status)
      return status;
    return Kernel(kernel);
  }

  /// Launches on `values`, the inputs and then the results. On a CPU the work is done on return. What is launched again
  /// and again on the same buffers is better off with a structure of C that is kept.
  Status launch(const std::vector<Value> &values, void *stream = nullptr, uint64_t workspace = 0) const {
    std::vector<attnc_value> plain;
    plain.reserve(values.size());
    for (const Value &value : values)
      plain.push_back(value.get());
    auto options = makeStruct<attnc_launch_options>();
    options.values = plain.data();
    options.num_values = plain.size();
    options.value_size = sizeof(attnc_value);
    options.stream = stream;
    options.workspace = workspace;
    return Status(attnc_kernel_launch(get(), &options));
  }

  /// What the kernel is. Texts live as long as the kernel.
  attnc_kernel_info info() const {
    auto info = makeStruct<attnc_kernel_info>();
    (void)Status(attnc_kernel_get_info(get(), &info));
    return info;
  }

  attnc_kernel *get() const { return handle.get(); }

private:
  std::unique_ptr<attnc_kernel, Destroy<attnc_kernel_destroy>> handle;
};

/// A kernel that is being compiled, or has been.
class Compilation {
public:
  explicit Compilation(attnc_compilation *compilation) : handle(compilation) {}

  bool isDone() const { return attnc_compilation_is_done(get()) != 0; }

  /// Waits for the kernel.
  Result<Kernel> wait() const {
    attnc_kernel *kernel = nullptr;
    if (Status status(attnc_compilation_get(get(), &kernel)); !status)
      return status;
    return Kernel(kernel);
  }

  /// Has `callback` called with what comes of it, by a thread of the context.
  Status onDone(std::function<void(Result<Kernel>)> callback) {
    auto kept = std::make_unique<std::function<void(Result<Kernel>)>>(std::move(callback));
    auto call = [](void *data, attnc_compilation *compilation) {
      std::unique_ptr<std::function<void(Result<Kernel>)>> owned(
          static_cast<std::function<void(Result<Kernel>)> *>(data));
      attnc_kernel *kernel = nullptr;
      Status status(attnc_compilation_get(compilation, &kernel));
      (*owned)(status ? Result<Kernel>(Kernel(kernel)) : Result<Kernel>(std::move(status)));
    };
    Status status(attnc_compilation_on_done(get(), call, kept.get()));
    if (status)
      (void)kept.release(); // NOLINT(bugprone-unused-return-value): the callback owns it
    return status;
  }

  attnc_compilation *get() const { return handle.get(); }

private:
  std::unique_ptr<attnc_compilation, Destroy<attnc_compilation_destroy>> handle;
};

/// A spec that has been read.
class Spec {
public:
  explicit Spec(attnc_spec *spec) : handle(spec) {}

  attnc_spec *get() const { return handle.get(); }

private:
  std::unique_ptr<attnc_spec, Destroy<attnc_spec_destroy>> handle;
};

/// What tuning found out.
class Tuning {
public:
  explicit Tuning(attnc_tuning *tuning) : handle(tuning) {}

  /// The times, and the record. Texts live as long as this object.
  attnc_tuning_info info() const {
    auto info = makeStruct<attnc_tuning_info>();
    (void)Status(attnc_tuning_get_info(handle.get(), &info));
    return info;
  }

private:
  std::unique_ptr<attnc_tuning, Destroy<attnc_tuning_destroy>> handle;
};

/// What the compiler decided for a spec, and why.
class Explanation {
public:
  explicit Explanation(attnc_explanation *explanation) : handle(explanation) {}

  /// Lines for people, and a picture as SVG where sizes are known. Texts live as long as this object.
  attnc_explanation_info info() const {
    auto info = makeStruct<attnc_explanation_info>();
    (void)Status(attnc_explanation_get_info(handle.get(), &info));
    return info;
  }

private:
  std::unique_ptr<attnc_explanation, Destroy<attnc_explanation_destroy>> handle;
};

/// Compiled kernels, the cache that they come from, and the threads that compile. Ends after what is under way.
class Context {
public:
  explicit Context(attnc_context *context) : handle(context) {}

  /// A context of `options`, which have their size; of the usual ones where none are given.
  static Result<Context> create(const attnc_context_options *options = nullptr) {
    attnc_context *context = nullptr;
    if (Status status(attnc_context_create(options, &context)); !status)
      return status;
    return Context(context);
  }

  /// Reads a spec, text or bytecode, which errors call `name`. `entry` is the function to compile, where there are
  /// several.
  Result<Spec> readSpec(std::string_view text, const char *name = nullptr, const char *entry = nullptr) const {
    auto options = makeStruct<attnc_spec_options>();
    options.text = text.data();
    options.text_bytes = text.size();
    options.name = name;
    options.entry = entry;
    attnc_spec *spec = nullptr;
    if (Status status(attnc_spec_create(get(), &options, &spec)); !status)
      return status;
    return Spec(spec);
  }

  /// Writes and reads the spec of a common variant, which has its size (`makeStruct`).
  Result<Spec> readVariant(const attnc_variant &variant) const {
    attnc_spec *spec = nullptr;
    if (Status status(attnc_spec_create_variant(get(), &variant, &spec)); !status)
      return status;
    return Spec(spec);
  }

  /// The kernel of `spec`: loaded, cached or compiled. For this machine where `target` is null.
  Result<Kernel> compile(const Spec &spec, const char *target = nullptr) const {
    auto options = makeStruct<attnc_compile_options>();
    options.target = target;
    return compile(spec, options);
  }

  /// The same by options, which have their size (`makeStruct`).
  Result<Kernel> compile(const Spec &spec, const attnc_compile_options &options) const {
    attnc_kernel *kernel = nullptr;
    if (Status status(attnc_compile(get(), spec.get(), &options, &kernel)); !status)
      return status;
    return Kernel(kernel);
  }

  /// The same in the background.
  Result<Compilation> start(const Spec &spec, const char *target = nullptr) const {
    auto options = makeStruct<attnc_compile_options>();
    options.target = target;
    return start(spec, options);
  }
  Result<Compilation> start(const Spec &spec, const attnc_compile_options &options) const {
    attnc_compilation *compilation = nullptr;
    if (Status status(attnc_compile_start(get(), spec.get(), &options, &compilation)); !status)
      return status;
    return Compilation(compilation);
  }

  /// Finds the fastest schedules of `spec` at the sizes of `shape` ("B=1,Sq=4096,Sk=4096") by trying, and keeps the
  /// record.
  Result<Tuning> tune(const Spec &spec, const char *shape) const {
    auto options = makeStruct<attnc_tune_options>();
    options.shape = shape;
    return tune(spec, options);
  }

  /// The same by options, which have their size (`makeStruct`).
  Result<Tuning> tune(const Spec &spec, const attnc_tune_options &options) const {
    attnc_tuning *tuning = nullptr;
    if (Status status(attnc_tune(get(), spec.get(), &options, &tuning)); !status)
      return status;
    return Tuning(tuning);
  }

  /// What becomes of `spec`, without compiling it. `shape`, "B=1,Sq=4096,Sk=4096", is for the picture; null for none.
  Result<Explanation> explain(const Spec &spec, const char *shape = nullptr, const char *target = nullptr) const {
    auto options = makeStruct<attnc_compile_options>();
    options.target = target;
    options.shape = shape;
    return explain(spec, options);
  }

  /// The same by options, which have their size (`makeStruct`).
  Result<Explanation> explain(const Spec &spec, const attnc_compile_options &options) const {
    attnc_explanation *explanation = nullptr;
    if (Status status(attnc_explain(get(), spec.get(), &options, &explanation)); !status)
      return status;
    return Explanation(explanation);
  }

  /// Whether this process may use it; a child that was forked while a thread used it makes one of its own.
  bool isUsable() const { return attnc_context_is_usable(get()) == 1; }

  /// Adds records to use before all others: the text of a file of theirs.
  Status addRecords(std::string_view text) const {
    return Status(attnc_context_add_records(get(), text.data(), text.size()));
  }

  attnc_context *get() const { return handle.get(); }

private:
  std::unique_ptr<attnc_context, Destroy<attnc_context_destroy>> handle;
};

} // namespace attnc

#endif // ATTNC_ATTNC_HPP
