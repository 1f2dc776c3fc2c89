//===- ApiTestSupport.h - Handles of C that end by themselves ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_ENGINE_APITESTSUPPORT_H
#define ATTNC_TEST_UNIT_ENGINE_APITESTSUPPORT_H

#include "../cache/CacheTestSupport.h"
#include "attnc/attnc.h"
#include "test/unit/jit/JitTestSupport.h"

namespace attnc::test {

/// The message of `error`, empty where there is none.
inline std::string take(attnc_error *error) {
  std::string message = attnc_error_message(error);
  attnc_error_destroy(error);
  return message;
}

using ContextHandle = std::unique_ptr<attnc_context, void (*)(attnc_context *)>;
using SpecHandle = std::unique_ptr<attnc_spec, void (*)(attnc_spec *)>;
using KernelHandle = std::unique_ptr<attnc_kernel, void (*)(attnc_kernel *)>;
using CompilationHandle = std::unique_ptr<attnc_compilation, void (*)(attnc_compilation *)>;

/// A context whose cache has its files in `directory`, or has none where that is empty.
inline ContextHandle makeContext(const std::string &directory, Remarks *remarks = nullptr) {
  attnc_context_options options = {};
  options.struct_size = sizeof(options);
  options.cache_directory = directory.c_str();
  options.use_cache = directory.empty() ? -1 : 1;
  if (remarks) {
    options.remark = [](void *data, const char *text) { static_cast<Remarks *>(data)->sink()(text); };
    options.remark_data = remarks;
  }
  attnc_context *context = nullptr;
  EXPECT_EQ(take(attnc_context_create(&options, &context)), "");
  return {context, attnc_context_destroy};
}

/// The error that `text` gives as a spec; null where it is one, which `spec` then is.
inline attnc_error *readSpec(attnc_context *context, const std::string &text, attnc_spec **spec) {
  attnc_spec_options options = {};
  options.struct_size = sizeof(options);
  options.text = text.data();
  options.text_bytes = text.size();
  options.name = "test.mlir";
  return attnc_spec_create(context, &options, spec);
}

inline SpecHandle makeSpec(const ContextHandle &context, const std::string &text) {
  attnc_spec *spec = nullptr;
  EXPECT_EQ(take(readSpec(context.get(), text, &spec)), "");
  return {spec, attnc_spec_destroy};
}

/// What the CPU's kernel is compiled by.
inline attnc_compile_options forCpu() {
  attnc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = "cpu";
  return options;
}

inline KernelHandle compile(const ContextHandle &context, const SpecHandle &spec) {
  attnc_compile_options options = forCpu();
  attnc_kernel *kernel = nullptr;
  EXPECT_EQ(take(attnc_compile(context.get(), spec.get(), &options, &kernel)), "");
  return {kernel, attnc_kernel_destroy};
}

inline int32_t originOf(const KernelHandle &kernel) {
  attnc_kernel_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(take(attnc_kernel_get_info(kernel.get(), &info)), "");
  return info.origin;
}

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_ENGINE_APITESTSUPPORT_H
