//===- SpecServer.cpp - Many specs in one process ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/SpecServer.h"
#include "codegen/describe/Types.h"
#include "runtime/Safetensors.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/Verify.h"
#include "test/conformance/Runner.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <iostream>
#include <sys/resource.h>

using namespace attnc;
using namespace attnc::conformance;
using image::Error;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::SafetensorsFile;
using runtime::Tensor;

namespace {

/// Processor seconds of the programs that this one ran: an assembler's.
double secondsOfChildren() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Where the time of a request goes: seconds from one mark to the next, by the name of what lies between them.
class Stopwatch {
public:
  /// Enters the time since the mark before as that of `stage`.
  void mark(llvm::StringRef stage) {
    auto now = std::chrono::steady_clock::now();
    seconds[stage] = std::chrono::duration<double>(now - last).count();
    last = now;
  }

  /// What it entered, and the assembler's share.
  llvm::json::Object take() {
    seconds["assembler"] = secondsOfChildren() - childrenBefore;
    return std::move(seconds);
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  double childrenBefore = secondsOfChildren();
  llvm::json::Object seconds;
};

/// One spec on its way.
class Request {
public:
  Request(llvm::StringRef specPath, llvm::StringRef inputPath, llvm::StringRef referencePath, Layout layout,
          bool backward)
      : specPath(specPath), inputPath(inputPath), referencePath(referencePath), layout(layout), backward(backward) {}

  /// Carries it out on `target`; the answer.
  llvm::json::Object carryOut(llvm::StringRef target, unsigned repeats);

private:
  Status readText();
  Status compile(llvm::StringRef target);
  Status readInputs();
  Status resolveShapes();
  Status run(unsigned repeats);
  Status judge();

  std::string specPath, inputPath, referencePath;
  Layout layout; ///< of tensors in memory
  bool backward; ///< whether gradients are what is asked for
  std::string text;
  std::unique_ptr<CompiledSpec> spec;
  std::vector<ArgValue> inputs;
  std::optional<jit::Shapes> shapes;
  std::vector<Tensor> outputs;
  llvm::json::Array judgements;
  Stopwatch watch;
};

} // namespace

Status Request::readText() {
  auto buffer = llvm::MemoryBuffer::getFile(specPath, /*IsText=*/true);
  if (!buffer)
    return Error{"cannot read '" + specPath + "': " + buffer.getError().message()};
  text = (*buffer)->getBuffer().str();
  return {};
}

Status Request::compile(llvm::StringRef target) {
  auto compiled = CompiledSpec::compile(text, target, backward);
  if (!compiled)
    return compiled.takeError();
  spec = std::move(*compiled);
  return {};
}

Status Request::readInputs() {
  Result<SafetensorsFile> file = SafetensorsFile::open(inputPath);
  if (!file)
    return file.takeError();
  for (const attn::KernelArgument &argument : spec->kernel().inputs) {
    Result<Tensor> tensor = file->tensor(argument.name);
    if (!tensor)
      return tensor.takeError();
    if (argument.isTensor()) {
      if (Status status = relayout(*tensor, layout, argument.unitInnerStride, /*isInput=*/true); !status)
        return status;
      inputs.emplace_back(std::move(*tensor));
    } else if (image::isFloat(tensor->dtype()))
      inputs.emplace_back(tensor->loadLinear(0));
    else
      inputs.emplace_back(image::loadInteger(tensor->dtype(), tensor->data()));
  }
  return {};
}

/// The sizes that the inputs have; whether they fit is for the launch to check.
Status Request::resolveShapes() {
  const attn::KernelFunction &kernel = spec->kernel();
  jit::ShapeRequest request;
  for (const std::string &symbol : kernel.symbols)
    request.symbols[symbol] = 1;
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, inputs)) {
    const auto *tensor = std::get_if<Tensor>(&value);
    if (!tensor)
      continue;
    if (tensor->shape().size() != argument.dims.size())
      return Error{"argument '" + argument.name + "' has another rank"};
    for (auto [dim, size] : llvm::zip_equal(argument.dims, tensor->shape()))
      if (dim.symbol >= 0 && !(dim.broadcast && size == 1))
        request.symbols[kernel.symbols[static_cast<size_t>(dim.symbol)]] = dim.symbolSizeFor(size);
  }
  for (const attn::KernelArgument &argument : kernel.inputs)
    for (const attn::KernelDim &dim : argument.dims)
      if (dim.symbol >= 0 && !mlir::ShapedType::isDynamic(dim.size))
        request.symbols[kernel.symbols[static_cast<size_t>(dim.symbol)]] = dim.symbolSizeFor(dim.size);
  Result<jit::Shapes> resolved = jit::Shapes::resolve(kernel, request);
  if (!resolved)
    return resolved.takeError();
  shapes = std::move(*resolved);
  return {};
}

Status Request::run(unsigned repeats) {
  for (unsigned n = 0; n < repeats; ++n) {
    auto results = jit::allocateOutputs(spec->kernel(), *shapes);
    if (!results)
      return results.takeError();
    for (Tensor &result : *results)
      if (Status status = relayout(result, layout, /*unit=*/true, /*isInput=*/false); !status)
        return status;
    if (Status status = spec->run(inputs, *results); !status)
      return status;
    if (n == 0)
      outputs = std::move(*results);
    else if (Status status = expectSameBits(*spec, outputs, *results, n); !status)
      return status;
  }
  return {};
}

Status Request::judge() {
  const attn::KernelFunction &kernel = spec->kernel();
  auto exact = jit::allocateOutputs(kernel, *shapes, image::DType::F64);
  auto baseline = jit::allocateOutputs(kernel, *shapes, image::DType::F64);
  if (!exact || !baseline)
    return Error{"out of memory"};
  if (Status status = jit::runReference(kernel, inputs, *exact, attn::Precision::Exact); !status)
    return spec->explain(status.takeError());
  watch.mark("reference");
  if (Status status = jit::runReference(kernel, inputs, *baseline, attn::Precision::Baseline); !status)
    return spec->explain(status.takeError());
  watch.mark("baseline");
  std::vector<runtime::NamedTensor> named;
  for (size_t n = 0; n < outputs.size(); ++n) {
    const std::string &name = kernel.outputs[n].name;
    named.push_back({name, (*exact)[n]});
    auto got = outputs[n].contiguous();
    if (!got)
      return got.takeError();
    named.push_back({"got/" + name, std::move(*got)});
    jit::Judgement judgement =
        jit::judge(name, jit::getJudgeRule(kernel, static_cast<unsigned>(n)), outputs[n], (*exact)[n], (*baseline)[n]);
    if (!judgement.right() && (failsByChance(judgement, outputs[n]) || mayBeFarOff(kernel, n, inputs, judgement)))
      judgement.fault.clear();
    judgements.push_back(llvm::json::Object{
        {"name", name}, {"fault", llvm::json::fixUTF8(judgement.fault)}, {"line", judgement.toString()}});
  }
  Result<runtime::SafetensorsData> data = runtime::SafetensorsData::layOut(named);
  if (!data)
    return data.takeError();
  std::error_code failure;
  llvm::raw_fd_ostream file(referencePath, failure);
  if (failure)
    return Error{"cannot write '" + referencePath + "': " + failure.message()};
  data->forEachPiece([&](const void *bytes, size_t size) { file.write(static_cast<const char *>(bytes), size); });
  return {};
}

llvm::json::Object Request::carryOut(llvm::StringRef target, unsigned repeats) {
  auto answer = [&](llvm::StringRef stage, Status status) {
    return llvm::json::Object{{"stage", stage},
                              {"error", llvm::json::fixUTF8(status ? "" : status.message())},
                              {"results", std::move(judgements)},
                              {"seconds", watch.take()}};
  };
  if (Status status = readText(); !status)
    return answer("inputs", std::move(status));
  if (repeats == 0) {
    Status status = compileOnly(text, target, backward);
    watch.mark("compile");
    return status ? answer("done", {}) : answer("compile", std::move(status));
  }
  Status compiled = compile(target);
  watch.mark("compile");
  if (!compiled)
    return answer("compile", std::move(compiled));
  if (Status status = readInputs(); !status)
    return answer("inputs", std::move(status));
  if (Status status = resolveShapes(); !status)
    return answer("inputs", std::move(status));
  watch.mark("inputs");
  Status ran = run(repeats);
  watch.mark("run");
  if (!ran)
    return answer("run", std::move(ran));
  Status judged = judge();
  watch.mark("judge");
  return judged ? answer("done", {}) : answer("reference", std::move(judged));
}

int conformance::serveSpecs(llvm::StringRef target, unsigned repeats, bool backward) {
  // Whoever feeds this tells crashes apart by their traces.
  llvm::sys::PrintStackTraceOnErrorSignal("");
  std::string line;
  while (std::getline(std::cin, line)) {
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::StringRef(line).split(fields, '\t');
    std::optional<Layout> layout;
    if (fields.size() == 4)
      layout = llvm::StringSwitch<std::optional<Layout>>(fields[3])
                   .Case("row-major", Layout::RowMajor)
                   .Case("heads-first", Layout::HeadsFirst)
                   .Case("odd", Layout::Odd)
                   .Default(std::nullopt);
    if (!layout) {
      llvm::errs() << "expected a spec, its inputs, a path for the reference's results and a layout, got '" << line
                   << "'\n";
      return 2;
    }
    llvm::outs() << llvm::json::Value(
                        Request(fields[0], fields[1], fields[2], *layout, backward).carryOut(target, repeats))
                 << "\n";
    llvm::outs().flush();
  }
  return 0;
}
