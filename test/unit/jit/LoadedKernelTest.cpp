//===- LoadedKernelTest.cpp - Images linked into the process ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel does with good arguments and with wrong ones, on every target that runs here. Contents of arguments are
// the matter of test/conformance/BadInputTest.cpp.
//===----------------------------------------------------------------------===//

#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Target.h"
#include "runtime/jit/Verify.h"
#include "test/unit/jit/JitTestSupport.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <thread>

using namespace attnc;
using namespace attnc::test;
using image::DType;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// The arguments q, k, v, scale, out and lse of one kernel on one target.
class LoadedKernel : public testing::TestWithParam<const jit::Target *> {
protected:
  enum { Q, K, V, Scale, Out, Lse };

  void SetUp() override {
    jit::Shapes shapes = shapesOf(spec.kernel, "B=2,Sq=5,Sk=7");
    auto inputs = jit::makeRandomInputs(spec.kernel, shapes);
    auto results = jit::allocateOutputs(spec.kernel, shapes);
    ASSERT_TRUE(inputs && results);
    values = std::move(*inputs);
    values.insert(values.end(), results->begin(), results->end());
    auto loaded = GetParam()->load(spec.session, spec.kernel);
    ASSERT_TRUE(static_cast<bool>(loaded)) << spec.diagnostics << loaded.message();
    kernel = std::move(*loaded);
  }

  const Tensor &tensor(size_t index) const { return std::get<Tensor>(values[index]); }

  /// The message with argument `index` replaced. No result may change.
  std::string errorWith(size_t index, ArgValue value) {
    std::vector<ArgValue> changed = values;
    changed[index] = std::move(value);
    return errorOf(changed);
  }

  std::string errorOf(image::Span<const ArgValue> changed) {
    std::string out = bytes(tensor(Out)), lse = bytes(tensor(Lse));
    Status status = kernel->run(changed);
    EXPECT_FALSE(static_cast<bool>(status));
    EXPECT_EQ(bytes(tensor(Out)), out) << "out was written";
    EXPECT_EQ(bytes(tensor(Lse)), lse) << "lse was written";
    return status.message();
  }

  OpenSpec spec{paddedSpec("%scale: f32", "scale(%scale)")};
  std::unique_ptr<jit::Executable> kernel;
  std::vector<ArgValue> values;
};

Tensor make(DType dtype, image::Span<const int64_t> shape) {
  Tensor tensor = *Tensor::allocate(dtype, shape);
  tensor.fill(0);
  return tensor;
}

/// The targets that this machine has.
std::vector<const jit::Target *> availableTargets() {
  std::vector<const jit::Target *> targets;
  for (const jit::Target *target : jit::getTargets())
    if (target->whyUnavailable().empty())
      targets.push_back(target);
  return targets;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, LoadedKernel, testing::ValuesIn(availableTargets()), [](const auto &info) {
  std::string name = info.param->name.str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  return name;
});

TEST_P(LoadedKernel, ComputesWhatTheReferenceSays) {
  Status status = kernel->run(values);
  ASSERT_TRUE(static_cast<bool>(status)) << status.message();
  image::Span<const ArgValue> all(values);
  auto judgements = jit::judgeAgainstReference(spec.kernel, all.slice(0, Out), {tensor(Out), tensor(Lse)});
  ASSERT_TRUE(static_cast<bool>(judgements));
  for (const jit::Judgement &judgement : *judgements)
    EXPECT_TRUE(judgement.right()) << judgement.toString();
}

TEST_P(LoadedKernel, ReadsAndWritesThroughStrides) {
  ASSERT_TRUE(static_cast<bool>(kernel->run(values)));
  std::vector<double> expected = elements(tensor(Out));
  for (size_t index : {Q, K, V, Out}) {
    const Tensor &rows = tensor(index);
    Tensor heads = make(DType::F32, {rows.dim(0), rows.dim(2), rows.dim(1), rows.dim(3)}).transposedView({0, 2, 1, 3});
    for (int64_t n = 0; n < rows.numElements(); ++n)
      heads.storeLinear(n, rows.loadLinear(n));
    if (index == Out)
      heads.fill(0);
    values[index] = heads;
  }
  ASSERT_TRUE(static_cast<bool>(kernel->run(values)));
  EXPECT_EQ(elements(tensor(Out)), expected);
}

TEST_P(LoadedKernel, NamesWrongKinds) {
  EXPECT_EQ(errorOf({}), "kernel 'kernel': expected 6 arguments, got 0");
  std::vector<ArgValue> more = values;
  more.emplace_back(1.0);
  EXPECT_EQ(errorOf(more), "kernel 'kernel': expected 6 arguments, got 7");
  EXPECT_EQ(errorWith(Q, 1.0), "argument 'q': expected a tensor, got a scalar");
  EXPECT_EQ(errorWith(Scale, tensor(Q)), "argument 'scale': expected a scalar, got a tensor");
  EXPECT_EQ(errorWith(Lse, int64_t{3}), "argument 'lse': expected a tensor, got a scalar");
}

TEST_P(LoadedKernel, NamesWrongSizes) {
  EXPECT_EQ(errorWith(V, make(DType::F32, {2, 6, 1, 8})),
            "argument 'v': expected dimension 1 (Sk) to be 7 as in argument 'k', got 6");
  EXPECT_EQ(errorWith(K, make(DType::F32, {2, 7, 2, 8})), "argument 'k': expected dimension 2 to be 1, got 2");
  EXPECT_EQ(errorWith(Q, make(DType::F32, {2, 5, 2, 16})), "argument 'q': expected dimension 3 to be 8, got 16");
  EXPECT_EQ(errorWith(Out, make(DType::F32, {2, 4, 2, 8})),
            "argument 'out': expected dimension 1 (Sq) to be 5 as in argument 'q', got 4");
  EXPECT_EQ(errorWith(Lse, make(DType::BF16, {2, 2, 5})), "argument 'lse': expected element type f32, got bf16");
}

TEST_P(LoadedKernel, NamesWrongMemory) {
  const Tensor &q = tensor(Q), &out = tensor(Out);
  EXPECT_EQ(errorWith(Q, Tensor::view(nullptr, DType::F32, q.shape())),
            "argument 'q': expected data, got a null pointer");
  EXPECT_EQ(errorWith(Q, Tensor::view(static_cast<char *>(q.data()) + 1, DType::F32, q.shape())),
            "argument 'q': expected data aligned to 4 bytes, got an unaligned address");
  EXPECT_EQ(errorWith(Out, Tensor::stridedView(out.data(), DType::F32, out.shape(), {0, 16, 8, 1})),
            "argument 'out': expected an output with distinct elements, got stride 0 in dimension 0 (B)");
}

TEST_P(LoadedKernel, WritesNothingWhereThereIsNothing) {
  for (size_t index : {Q, Out})
    values[index] = make(DType::F32, {2, 0, 2, 8});
  values[Lse] = make(DType::F32, {2, 2, 0});
  Status status = kernel->run(values);
  EXPECT_TRUE(static_cast<bool>(status)) << status.message();
}

TEST_P(LoadedKernel, RunsOnSeveralThreadsAtOnce) {
  ASSERT_TRUE(static_cast<bool>(kernel->run(values)));
  std::string expected = bytes(tensor(Out));
  std::vector<std::thread> threads;
  std::vector<Tensor> outs, lses;
  for (int n = 0; n < 4; ++n) {
    outs.push_back(make(DType::F32, tensor(Out).shape()));
    lses.push_back(make(DType::F32, tensor(Lse).shape()));
  }
  std::vector<std::string> messages(outs.size());
  threads.reserve(outs.size());
  for (size_t n = 0; n < outs.size(); ++n)
    threads.emplace_back([&, n] {
      std::vector<ArgValue> own = values;
      own[Out] = outs[n];
      own[Lse] = lses[n];
      for (int repeat = 0; repeat < 5; ++repeat)
        messages[n] += kernel->run(own).message();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t n = 0; n < outs.size(); ++n) {
    EXPECT_EQ(messages[n], "");
    EXPECT_EQ(bytes(outs[n]), expected);
  }
}

namespace {

/// An image to break.
class LoadedImage : public testing::Test {
protected:
  void SetUp() override {
    auto compiled = jit::compileToImage(spec.session, spec.kernel);
    ASSERT_TRUE(static_cast<bool>(compiled)) << spec.diagnostics;
    image = std::move(*compiled);
  }

  OpenSpec spec{paddedSpec()};
  image::KernelImage image;
};

} // namespace

TEST_F(LoadedImage, LoadsAfterARoundTrip) {
  auto read = image::deserialize(image::serialize(image));
  ASSERT_TRUE(static_cast<bool>(read)) << read.message();
  EXPECT_TRUE(static_cast<bool>(jit::LoadedKernel::load(std::move(*read))));
}

TEST_F(LoadedImage, OutlivesItsSession) {
  std::unique_ptr<jit::LoadedKernel> kernel;
  {
    OpenSpec other(paddedSpec());
    auto compiled = jit::compileToImage(other.session, other.kernel);
    ASSERT_TRUE(static_cast<bool>(compiled));
    auto loaded = jit::LoadedKernel::load(std::move(*compiled));
    ASSERT_TRUE(static_cast<bool>(loaded)) << loaded.message();
    kernel = std::move(*loaded);
  }
  jit::Shapes shapes = shapesOf(spec.kernel, "B=1,Sq=3,Sk=3");
  auto inputs = jit::makeRandomInputs(spec.kernel, shapes);
  auto results = jit::allocateOutputs(spec.kernel, shapes);
  ASSERT_TRUE(inputs && results);
  std::vector<ArgValue> values = *inputs;
  values.insert(values.end(), results->begin(), results->end());
  EXPECT_TRUE(static_cast<bool>(kernel->run(values)));
}

TEST_F(LoadedImage, IsRefusedWithoutItsEntry) {
  image.entries[0].symbol = "nobody";
  testing::internal::CaptureStderr();
  std::string message = jit::LoadedKernel::load(image).message();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(message.find("kernel 'kernel' cannot be loaded: "), 0U) << message;
  EXPECT_NE(message.find("nobody"), std::string::npos) << message;
}

TEST_F(LoadedImage, IsRefusedWhereItContradictsItself) {
  image.args[0].dims[0].symbol = 99;
  std::string message = jit::LoadedKernel::load(image).message();
  EXPECT_NE(message.find("dimension of unknown symbol 99"), std::string::npos) << message;
}

TEST_F(LoadedImage, IsRefusedWithoutObjectCode) {
  for (size_t size : {size_t(0), size_t(10), image.bytes.size() / 2}) {
    image::KernelImage cut = image;
    cut.bytes.resize(size);
    testing::internal::CaptureStderr();
    std::string message = jit::LoadedKernel::load(std::move(cut)).message();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(message.find("kernel 'kernel' cannot be loaded: "), 0U) << size << " bytes: " << message;
  }
}
