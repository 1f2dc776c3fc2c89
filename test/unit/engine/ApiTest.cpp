//===- ApiTest.cpp - Tests of the C API with a compiler ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ApiTestSupport.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "runtime/capi/Dlpack.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Verify.h"
#include <chrono>
#include <cmath>
#include <cstdio>

using namespace attnc;
using namespace attnc::test;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// Random inputs of a padded spec, room for its results, and all of them as C has them.
struct Arguments {
  explicit Arguments(const std::string &text, const std::string &shape = "B=2,Sq=5,Sk=7")
      : spec(text), shapes(shapesOf(spec.kernel, shape)),
        inputs(*jit::makeRandomInputs(spec.kernel, shapes, {/*seed=*/1, /*scale=*/1})),
        outputs(*jit::allocateOutputs(spec.kernel, shapes)) {
    for (const ArgValue &input : inputs)
      tensors.push_back(std::get<Tensor>(input));
    tensors.insert(tensors.end(), outputs.begin(), outputs.end());
    for (const Tensor &tensor : tensors) {
      attnc_value value = {};
      value.kind = ATTNC_TENSOR;
      value.as.tensor = {reinterpret_cast<uint64_t>(tensor.data()), static_cast<int32_t>(tensor.dtype()),
                         static_cast<int32_t>(tensor.rank()), tensor.shape().data(), nullptr};
      values.push_back(value);
    }
  }

  attnc_launch_options options() const {
    attnc_launch_options options = {};
    options.struct_size = sizeof(options);
    options.values = values.data();
    options.num_values = values.size();
    options.value_size = sizeof(attnc_value);
    return options;
  }

  std::string launch(const KernelHandle &kernel) const {
    attnc_launch_options launch = options();
    return take(attnc_kernel_launch(kernel.get(), &launch));
  }

  /// Whether the results are those of the spec.
  bool areRight() {
    auto judgements = jit::judgeAgainstReference(spec.kernel, inputs, outputs);
    return judgements && llvm::all_of(*judgements, [](const jit::Judgement &judgement) { return judgement.right(); });
  }

  OpenSpec spec;
  jit::Shapes shapes;
  std::vector<ArgValue> inputs;
  std::vector<Tensor> outputs, tensors;
  std::vector<attnc_value> values;
};

TEST(Api, CompilesAndLaunchesOnTheCpu) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, paddedSpec());
  KernelHandle kernel = compile(context, spec);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(attnc_has_compiler(), 1);
  attnc_kernel_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(take(attnc_kernel_get_info(kernel.get(), &info)), "");
  EXPECT_EQ(std::string(info.target).substr(0, 4), "cpu:");
  EXPECT_EQ(info.num_arguments, 5u);
  EXPECT_EQ(info.origin, ATTNC_FROM_COMPILER);
  EXPECT_NE(std::string(info.build), "");
  // Spec and context may go before the kernel.
  spec.reset();
  context.reset();
  Arguments arguments(paddedSpec());
  EXPECT_EQ(arguments.launch(kernel), "");
  EXPECT_TRUE(arguments.areRight());
  attnc_launch_options options = arguments.options();
  uint64_t bytes = 1;
  EXPECT_EQ(take(attnc_kernel_get_workspace(kernel.get(), &options, &bytes)), "");
  EXPECT_EQ(bytes, 0u);
}

TEST(Api, AVariantIsASpec) {
  ContextHandle context = makeContext("");
  auto variant = [](auto set) {
    attnc_variant variant = {};
    variant.struct_size = sizeof(variant);
    variant.query_heads = 2;
    variant.key_heads = 1;
    variant.head_dim = 8;
    set(variant);
    return variant;
  };
  auto read = [&](const attnc_variant &variant) {
    attnc_spec *spec = nullptr;
    EXPECT_EQ(take(attnc_spec_create_variant(context.get(), &variant, &spec)), "");
    return SpecHandle(spec, attnc_spec_destroy);
  };
  // What its parts say is in the text, and all of it is a spec.
  const std::string text = attnc_spec_get_text(read(variant([](attnc_variant &variant) {
                                                 variant.dtype = ATTNC_BF16;
                                                 variant.value_head_dim = 16;
                                                 variant.causal = variant.lse = 1;
                                                 variant.window = 1024;
                                                 variant.softcap = 50;
                                                 variant.scale = 0.0625;
                                               })).get());
  for (const char *part :
       {"tensor<?x?x2x8xbf16>", "tensor<?x?x1x8xbf16>", "tensor<?x?x1x16xbf16>", "tensor<?x?x2x16xbf16>",
        "tensor<?x2x?xf32>", "left(1023) right(0)", "attn.softcap %s, 5.0", "scale(6.25000000000000000e-02)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;

  // It is the spec that somebody would write: it gives the same results.
  attnc_variant plain = variant([](attnc_variant &variant) { variant.lse = variant.causal = 1; });
  const std::string byHand = paddedSpec("", "mask (%b, %h, %i, %j) {\n %keep = attn.causal %i, %j\n attn.yield %keep : "
                                            "i1\n }");
  Arguments arguments(byHand);
  EXPECT_EQ(arguments.launch(compile(context, read(plain))), "");
  EXPECT_TRUE(arguments.areRight());

  attnc_spec *spec = nullptr;
  attnc_variant bad = variant([](attnc_variant &variant) { variant.window = 5; });
  EXPECT_EQ(take(attnc_spec_create_variant(context.get(), &bad, &spec)),
            "attnc_variant: expected 0 or more, and 0 where causal is 0, for window, got 5");
  bad = variant([](attnc_variant &variant) { variant.softcap = NAN; });
  EXPECT_EQ(take(attnc_spec_create_variant(context.get(), &bad, &spec)),
            "attnc_variant: expected a finite number for softcap, got nan");
  bad = variant([](attnc_variant &variant) { variant.query_heads = 0; });
  EXPECT_EQ(take(attnc_spec_create_variant(context.get(), &bad, &spec)),
            "attnc_variant: expected 1 or more for query_heads, got 0");
  EXPECT_EQ(spec, nullptr);
}

TEST(Api, CompilesGradients) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, paddedSpec());
  attnc_compile_options options = forCpu();
  size_t numArguments[2] = {0, 0};
  for (int32_t backward : {0, 1}) {
    options.backward = backward;
    attnc_kernel *compiled = nullptr;
    ASSERT_EQ(take(attnc_compile(context.get(), spec.get(), &options, &compiled)), "");
    KernelHandle kernel(compiled, attnc_kernel_destroy);
    EXPECT_EQ(originOf(kernel), ATTNC_FROM_COMPILER);
    attnc_kernel_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(take(attnc_kernel_get_info(kernel.get(), &info)), "");
    numArguments[backward] = info.num_arguments;
  }
  EXPECT_GT(numArguments[1], numArguments[0]);
}

TEST(Api, TakesTensorsOfDlpack) {
  ContextHandle context = makeContext("");
  KernelHandle kernel = compile(context, makeSpec(context, paddedSpec()));
  ASSERT_TRUE(kernel);
  Arguments arguments(paddedSpec());
  std::vector<DLTensor> described;
  described.reserve(arguments.tensors.size());
  for (const Tensor &tensor : arguments.tensors)
    // Offsets count from an address that lies before the tensor.
    described.push_back({static_cast<char *>(tensor.data()) - 16, capi::dlpack::cpu, 0,
                         static_cast<int32_t>(tensor.rank()), capi::dlpack::floating, 32, 1,
                         const_cast<int64_t *>(tensor.shape().data()), const_cast<int64_t *>(tensor.strides().data()),
                         16});
  for (size_t i = 0; i < described.size(); ++i) {
    arguments.values[i].kind = ATTNC_DLPACK;
    arguments.values[i].as.dlpack = &described[i];
  }
  described[1].strides = nullptr;
  EXPECT_EQ(arguments.launch(kernel), "");
  EXPECT_TRUE(arguments.areRight());

  described[0].device_type = capi::dlpack::cuda;
  EXPECT_EQ(arguments.launch(kernel),
            "argument 'q': expected a tensor on CPU memory (DLPack device 1), got one on device 2, number 0");
  described[0].device_type = capi::dlpack::cpu;
  described[0].type_code = 1;
  EXPECT_EQ(arguments.launch(kernel), "argument 'q': no kernel has elements of DLPack's type (1, 32, 1)");
  arguments.values[0].as.dlpack = nullptr;
  EXPECT_EQ(arguments.launch(kernel), "argument 'q': expected a DLTensor, got null");
}

TEST(Api, RefusesWhatDoesNotFit) {
  ContextHandle context = makeContext("");
  KernelHandle kernel = compile(context, makeSpec(context, paddedSpec()));
  Arguments arguments(paddedSpec());
  attnc_launch_options options = arguments.options();
  options.stream = &options;
  EXPECT_EQ(take(attnc_kernel_launch(kernel.get(), &options)), "expected no stream for a kernel on a CPU, got one");
  arguments.values[0].as.tensor.dtype = ATTNC_F64;
  EXPECT_EQ(arguments.launch(kernel), "argument 'q': expected element type f32, got f64");
}

TEST(Api, AFaultOfASpecHasItsPlace) {
  ContextHandle context = makeContext("");
  attnc_spec *spec = nullptr;
  attnc_error *error = readSpec(context.get(), paddedSpec("", R"(mask (%b, %h, %i, %j) {
    %keep = attn.window %i, %j left(-1)
    attn.yield %keep : i1
  })"),
                                &spec);
  ASSERT_TRUE(error);
  EXPECT_EQ(spec, nullptr);
  attnc_error_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(attnc_error_get_info(error, &info), nullptr);
  EXPECT_EQ(info.kind, ATTNC_ERROR_SPEC);
  EXPECT_STREQ(info.message, "'attn.window' op expected a window side of 0 or more, got -1 [S5]");
  EXPECT_GT(info.line, 1);
  EXPECT_GT(info.column, 1);
  const std::string details = info.details;
  EXPECT_EQ(details.find("test.mlir:" + std::to_string(info.line) + ":" + std::to_string(info.column) + ": error: "),
            0u);
  EXPECT_NE(details.find("attn.window %i, %j left(-1)\n"), std::string::npos);
  EXPECT_NE(details.find("^\n"), std::string::npos);
  attnc_error_destroy(error);
}

TEST(Api, AFaultOfAScheduleOrATargetIsAnError) {
  ContextHandle context = makeContext("");
  SpecHandle spec = makeSpec(context, paddedSpec());
  attnc_kernel *kernel = nullptr;
  attnc_compile_options options = forCpu();
  options.schedule = "#attn.schedule<query_tile = x>";
  attnc_error *error = attnc_compile(context.get(), spec.get(), &options, &kernel);
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(attnc_error_details(error)).find("schedule:1:"), 0u) << attnc_error_details(error);
  attnc_error_destroy(error);
  options.schedule = nullptr;
  for (const char *target : {"abacus", "nvptxfoo", "nvrtc2"}) {
    options.target = target;
    EXPECT_EQ(take(attnc_compile(context.get(), spec.get(), &options, &kernel)),
              "unknown target '" + std::string(target) +
                  "'; there are auto, cpu, nvptx, nvptx:ARCH, nvrtc and nvrtc:ARCH");
  }
  EXPECT_EQ(take(attnc_compile(context.get(), nullptr, &options, &kernel)), "expected a context and a spec, got null");
  EXPECT_EQ(take(attnc_compile(context.get(), spec.get(), &options, nullptr)),
            "expected a place for the kernel, got null");
  EXPECT_EQ(kernel, nullptr);
}

TEST(Api, AFaultOfAShapeIsAnErrorWhateverIsCached) {
  TemporaryDirectory root;
  for (int round = 0; round < 2; ++round) {
    ContextHandle context = makeContext(root.path());
    SpecHandle spec = makeSpec(context, paddedSpec());
    attnc_compile_options options = forCpu();
    for (int32_t policy : {ATTNC_POLICY_AUTO, ATTNC_POLICY_HEURISTICS})
      for (const char *shape : {"zzz", "Sq=", "B=1,Sq=5,Sk=7,X=3"}) {
        options.policy = policy;
        options.shape = shape;
        attnc_kernel *kernel = nullptr;
        EXPECT_NE(take(attnc_compile(context.get(), spec.get(), &options, &kernel)), "") << shape;
        EXPECT_EQ(kernel, nullptr);
      }
    options.shape = "B=1,Sq=5,Sk=7";
    attnc_kernel *kernel = nullptr;
    EXPECT_EQ(take(attnc_compile(context.get(), spec.get(), &options, &kernel)), "");
    KernelHandle known(kernel, attnc_kernel_destroy);
    EXPECT_EQ(originOf(known), round == 0 ? ATTNC_FROM_COMPILER : ATTNC_FROM_DISK);
    EXPECT_TRUE(compile(context, spec));
  }
}

TEST(Api, TheNameOfASpecMayHoldAnything) {
  ContextHandle context = makeContext("");
  const std::string text = "func.func @f(";
  attnc_spec_options options = {};
  options.struct_size = sizeof(options);
  options.text = text.data();
  options.text_bytes = text.size();
  options.name = "no: error: here:7: error: \n.mlir";
  attnc_spec *spec = nullptr;
  attnc_error *error = attnc_spec_create(context.get(), &options, &spec);
  ASSERT_TRUE(error);
  attnc_error_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(attnc_error_get_info(error, &info), nullptr);
  EXPECT_EQ(info.line, 1);
  EXPECT_EQ(info.column, 13);
  EXPECT_EQ(std::string(info.message).find("error:"), std::string::npos) << info.message;
  attnc_error_destroy(error);
}

TEST(Api, ReadsBytecode) {
  OpenSpec text(paddedSpec());
  std::string bytecode;
  llvm::raw_string_ostream os(bytecode);
  ASSERT_TRUE(succeeded(mlir::writeBytecodeToFile(text.session.spec(), os)));
  ContextHandle context = makeContext("");
  KernelHandle kernel = compile(context, makeSpec(context, bytecode));
  ASSERT_TRUE(kernel);
  Arguments arguments(paddedSpec());
  EXPECT_EQ(arguments.launch(kernel), "");
  EXPECT_TRUE(arguments.areRight());
  // What is damaged is refused.
  attnc_spec *spec = nullptr;
  attnc_error *error = readSpec(context.get(), bytecode.substr(0, bytecode.size() / 2), &spec);
  EXPECT_NE(take(error), "");
}

TEST(Api, LoadsImagesOfTheCpu) {
  OpenSpec text(paddedSpec());
  auto image = jit::compileToImage(text.session, text.kernel);
  ASSERT_TRUE(image) << text.diagnostics;
  const std::vector<uint8_t> bytes = image::serialize(*image);
  attnc_load_options options = {};
  options.struct_size = sizeof(options);
  options.image = bytes.data();
  options.image_bytes = bytes.size();
  options.device = -1;
  attnc_kernel *loaded = nullptr;
  ASSERT_EQ(take(attnc_kernel_load(&options, &loaded)), "");
  KernelHandle kernel(loaded, attnc_kernel_destroy);
  EXPECT_EQ(originOf(kernel), ATTNC_FROM_IMAGE);
  Arguments arguments(paddedSpec());
  EXPECT_EQ(arguments.launch(kernel), "");
  EXPECT_TRUE(arguments.areRight());
}

TEST(Api, RemembersKernelsInMemoryAndOnDisk) {
  TemporaryDirectory root;
  Remarks remarks;
  for (int32_t origin : {ATTNC_FROM_COMPILER, ATTNC_FROM_DISK}) {
    ContextHandle context = makeContext(root.path(), &remarks);
    SpecHandle spec = makeSpec(context, paddedSpec());
    EXPECT_EQ(originOf(compile(context, spec)), origin);
    EXPECT_EQ(originOf(compile(context, spec)), ATTNC_FROM_MEMORY);
    // The same function in other words.
    EXPECT_EQ(originOf(compile(context, makeSpec(context, "// The same.\n" + paddedSpec()))), ATTNC_FROM_MEMORY);
  }
  // In a context of its own, its words are known by now.
  ContextHandle context = makeContext(root.path(), &remarks);
  KernelHandle kernel = compile(context, makeSpec(context, "// The same.\n" + paddedSpec()));
  EXPECT_EQ(originOf(kernel), ATTNC_FROM_DISK);
  Arguments arguments(paddedSpec());
  EXPECT_EQ(arguments.launch(kernel), "");
  EXPECT_TRUE(arguments.areRight());
  EXPECT_EQ(remarks.all(), std::vector<std::string>());
}

TEST(Api, TellsWhatAWarmStartTakes) {
  TemporaryDirectory root;
  const std::string text = paddedSpec();
  using Clock = std::chrono::steady_clock;
  double fromDisk = 1e9, fromMemory = 1e9;
  for (int i = 0; i < 10; ++i) {
    ContextHandle context = makeContext(root.path());
    SpecHandle spec = makeSpec(context, text);
    Clock::time_point start = Clock::now();
    KernelHandle kernel = compile(context, spec);
    std::chrono::duration<double, std::micro> first = Clock::now() - start;
    if (originOf(kernel) == ATTNC_FROM_DISK)
      fromDisk = std::min(fromDisk, first.count());
    start = Clock::now();
    for (int n = 0; n < 100; ++n)
      compile(context, spec);
    std::chrono::duration<double, std::micro> again = Clock::now() - start;
    fromMemory = std::min(fromMemory, again.count() / 100);
  }
  std::printf("from disk %.0f us, from memory %.2f us\n", fromDisk, fromMemory);
  // The goals are 3 ms and 1 us; machines that run tests are busy, and sanitizers slow.
  EXPECT_LT(fromDisk, 300'000);
  EXPECT_LT(fromMemory, 1'000);
}

TEST(Api, ReadsStructuresOfOtherVersions) {
  attnc_context_options options = {};
  attnc_context *context = nullptr;
  EXPECT_EQ(take(attnc_context_create(&options, &context)),
            "expected struct_size of attnc_context_options to be its size, got 0");
  // A size that cuts a pointer would leave some of its bytes.
  options.struct_size = offsetof(attnc_context_options, cache_directory) + 1;
  EXPECT_EQ(take(attnc_context_create(&options, &context)),
            "expected struct_size of attnc_context_options to be its size, got " + std::to_string(options.struct_size));
  options.struct_size = sizeof(options);
  options.use_cache = 2;
  EXPECT_EQ(take(attnc_context_create(&options, &context)), "expected use_cache to be -1, 0 or 1, got 2");
  options.struct_size = offsetof(attnc_context_options, cache_directory);
  ASSERT_EQ(take(attnc_context_create(&options, &context)), "");
  attnc_context_destroy(context);
  for (auto destroy : {+[] { attnc_context_destroy(nullptr); }, +[] { attnc_spec_destroy(nullptr); },
                       +[] { attnc_kernel_destroy(nullptr); }, +[] { attnc_compilation_destroy(nullptr); },
                       +[] { attnc_error_destroy(nullptr); }})
    destroy();
}

} // namespace
