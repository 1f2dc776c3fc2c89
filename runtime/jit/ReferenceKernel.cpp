//===- ReferenceKernel.cpp - The reference as a target ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/ReferenceKernel.h"
#include "codegen/describe/DescribeImage.h"
#include "codegen/describe/Types.h"
#include "runtime/ThreadPool.h"

using namespace attnc;
using namespace attnc::jit;
using attn::HostArray;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

/// A runtime tensor as the reference sees it.
static HostArray toHostArray(const Tensor &tensor, mlir::MLIRContext *context) {
  HostArray array;
  array.elementType = describe::toType(tensor.dtype(), context);
  array.data = tensor.data();
  array.shape.assign(tensor.shape().begin(), tensor.shape().end());
  array.strides.assign(tensor.strides().begin(), tensor.strides().end());
  return array;
}

std::vector<attn::ReferenceValue> jit::toReferenceValues(const attn::KernelFunction &kernel,
                                                         Span<const ArgValue> inputs) {
  mlir::func::FuncOp function = kernel.function;
  std::vector<attn::ReferenceValue> values;
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, inputs)) {
    if (const auto *tensor = std::get_if<Tensor>(&value))
      values.emplace_back(toHostArray(*tensor, function.getContext()));
    else if (const auto *real = std::get_if<double>(&value))
      values.emplace_back(*real);
    else if (int64_t integer = std::get<int64_t>(value); mlir::isa<mlir::FloatType>(argument.type))
      values.emplace_back(static_cast<double>(integer));
    else
      values.emplace_back(integer);
  }
  return values;
}

/// Runs tasks of the reference on all threads.
static void onAllThreads(int64_t count, llvm::function_ref<void(int64_t)> body) {
  runtime::ThreadPool::shared().parallelFor(count, [&](int64_t task, unsigned) { body(task); });
}

Status jit::runReference(const attn::KernelFunction &kernel, Span<const ArgValue> inputs, Span<const Tensor> outputs,
                         attn::Precision precision, const std::vector<int64_t> &rows) {
  mlir::func::FuncOp function = kernel.function;
  std::vector<attn::ReferenceValue> values = toReferenceValues(kernel, inputs);
  std::vector<HostArray> arrays;
  for (const Tensor &output : outputs)
    arrays.push_back(toHostArray(output, function.getContext()));
  attn::ReferenceOptions options;
  options.precision = precision;
  options.rows = rows;
  options.parallelFor = onAllThreads;
  if (failed(attn::runReference(kernel, values, arrays, options)))
    return reported();
  return {};
}

Status jit::computeSavedResults(const attn::KernelFunction &kernel, Span<const ArgValue> inputs) {
  attn::ReferenceOptions options;
  options.parallelFor = onAllThreads;
  if (failed(attn::computeSavedResults(kernel, toReferenceValues(kernel, inputs), options)))
    return reported();
  return {};
}

Result<std::unique_ptr<ReferenceKernel>> ReferenceKernel::create(attn::KernelFunction kernel) {
  // What a kernel asks of its callers does not depend on who carries it out: an image without entries says it.
  mlir::OwningOpRef<mlir::ModuleOp> nothing = mlir::ModuleOp::create(kernel.function.getLoc());
  mlir::FailureOr<image::KernelImage> image = describe::describeImage(kernel, *nothing);
  if (failed(image))
    return reported();
  return std::unique_ptr<ReferenceKernel>(new ReferenceKernel(std::move(*image), std::move(kernel)));
}

Status ReferenceKernel::run(Span<const ArgValue> values) {
  auto arguments = runtime::bindArguments(image(), values);
  if (!arguments)
    return arguments.takeError();
  size_t inputs = kernel.inputs.size();
  std::vector<Tensor> outputs;
  for (const ArgValue &value : values.slice(inputs, values.size() - inputs))
    outputs.push_back(std::get<Tensor>(value));
  return runReference(kernel, values.slice(0, inputs), outputs, attn::Precision::Exact);
}

/// Makes the executable of a spec as it is.
static Result<std::unique_ptr<Executable>> loadReference(const Target &, Session &, const attn::KernelFunction &kernel,
                                                         ImageSource) {
  Result<std::unique_ptr<ReferenceKernel>> loaded = ReferenceKernel::create(kernel);
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

llvm::ArrayRef<Target> jit::getReferenceTargets() {
  static constexpr Target targets[] = {{"reference",
                                        "the definition in fp64: slow, exact, what all else is judged against",
                                        explainNothing, loadReference, Compiles::Nothing}};
  return targets;
}
