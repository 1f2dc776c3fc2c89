//===- Run.cpp - attnc run --------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/describe/Types.h"
#include "runtime/Safetensors.h"
#include "runtime/engine/CachedCompile.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/CudaFile.h"
#include "tools/attnc/Launch.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/UserCache.h"

using namespace attnc;
using namespace attnc::cli;
using image::Error;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::SafetensorsFile;
using runtime::Tensor;

/// The value of a scalar argument: the one element of the tensor of its name.
static Result<ArgValue> readScalar(const attn::KernelArgument &argument, const Tensor &tensor) {
  std::string prefix = "argument '" + argument.name + "': expected ";
  if (tensor.numElements() != 1)
    return Error{prefix + "one element, got " + runtime::shapeString(tensor.shape())};
  if (isFloat(tensor.dtype()))
    return ArgValue(tensor.loadLinear(0));
  return ArgValue(image::loadInteger(tensor.dtype(), tensor.data()));
}

/// The arguments of `kernel` from `file`, by their names.
static Result<std::vector<ArgValue>> readInputs(const attn::KernelFunction &kernel, const SafetensorsFile &file,
                                                llvm::StringRef path) {
  std::vector<ArgValue> values;
  for (const attn::KernelArgument &argument : kernel.inputs) {
    if (!file.contains(argument.name)) {
      std::string there;
      for (const runtime::SafetensorsEntry &entry : file.entries())
        there += (there.empty() ? "" : ", ") + entry.name;
      return Error{"'" + path.str() + "' holds no tensor '" + argument.name + "'; it holds " +
                   (there.empty() ? "none" : there)};
    }
    Result<Tensor> tensor = file.tensor(argument.name);
    if (!tensor)
      return tensor.takeError();
    Result<ArgValue> value = argument.isTensor() ? Result<ArgValue>(ArgValue(*tensor)) : readScalar(argument, *tensor);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
}

/// The sizes that the inputs have. Only what results need: `jit::Executable::run` checks that all fit.
static Result<jit::Shapes> readShapes(const attn::KernelFunction &kernel, image::Span<const ArgValue> values) {
  jit::ShapeRequest request;
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, values)) {
    const auto *tensor = std::get_if<Tensor>(&value);
    if (!tensor)
      continue;
    if (tensor->dtype() != describe::elementDType(argument))
      return Error{"argument '" + argument.name + "': expected " +
                   std::string(image::name(describe::elementDType(argument))) + ", got " +
                   std::string(image::name(tensor->dtype()))};
    if (tensor->shape().size() != argument.dims.size())
      return Error{"argument '" + argument.name + "': expected rank " + std::to_string(argument.dims.size()) +
                   ", got " + runtime::shapeString(tensor->shape())};
    for (auto [number, dim] : llvm::enumerate(argument.dims)) {
      int64_t size = tensor->shape()[number];
      bool takesPart = dim.symbol >= 0 && mlir::ShapedType::isDynamic(dim.size) && !(dim.broadcast && size == 1);
      if (!takesPart)
        continue;
      const std::string &symbol = kernel.symbols[static_cast<size_t>(dim.symbol)];
      if (size < dim.extra)
        return Error{"argument '" + argument.name + "': expected at least " + std::to_string(dim.extra) +
                     " element, got " + runtime::shapeString(tensor->shape())};
      auto [it, inserted] = request.symbols.try_emplace(symbol, dim.symbolSizeFor(size));
      if (!inserted && it->second != dim.symbolSizeFor(size))
        return Error{"argument '" + argument.name + "': expected " + std::to_string(dim.sizeFor(it->second)) +
                     " for dimension " + std::to_string(number) + ", since the arguments before it have " + symbol +
                     " = " + std::to_string(it->second) + ", got " + runtime::shapeString(tensor->shape())};
    }
  }
  for (const std::string &symbol : kernel.symbols)
    request.symbols.try_emplace(symbol, 1);
  for (const auto *list : {&kernel.inputs, &kernel.outputs})
    for (const attn::KernelArgument &argument : *list)
      for (const attn::KernelDim &dim : argument.dims)
        if (dim.symbol >= 0 && !mlir::ShapedType::isDynamic(dim.size))
          request.symbols[kernel.symbols[static_cast<size_t>(dim.symbol)]] = dim.symbolSizeFor(dim.size);
  return jit::Shapes::resolve(kernel, request);
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  llvm::StringRef inputPath = args.getLastArgValue(OPT_inputs), outputPath = args.getLastArgValue(OPT_outputs);
  if (inputPath.empty() || outputPath.empty())
    return fail("expected --inputs IN.safetensors and --outputs OUT.safetensors; see 'attnc run --help'");
  if (inputPath == "-")
    return fail("--inputs takes a file; standard input is not read");
  bool check = args.hasArg(OPT_check);
  if (check && outputPath == "-")
    return fail("--check prints to standard output, where --outputs - writes the results; give a file");
  if (Status status = checkOutput(outputPath, {args.getLastArgValue(OPT_INPUT), inputPath}); !status)
    return fail(status.takeError());
  Result<std::optional<target::SourceFile>> source = readCudaFile(args);
  if (!source)
    return fail(source.takeError());
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return fail(records.takeError());
  Result<Spec> spec = Spec::open(args);
  if (!spec)
    return fail(spec.takeError());
  Result<SafetensorsFile> file = SafetensorsFile::open(inputPath.str());
  if (!file)
    return fail(file.takeError());
  Result<std::vector<ArgValue>> inputs = readInputs(spec->kernel, *file, inputPath);
  if (!inputs)
    return fail(inputs.takeError());
  Result<jit::Shapes> shapes = readShapes(spec->kernel, *inputs);
  if (!shapes)
    return fail(shapes.takeError());
  cache::KernelCache cache(readUserCache());
  auto compile = [&](jit::Session &session, const attn::KernelFunction &kernel,
                     mlir::Attribute target) -> Result<image::KernelImage> {
    if (*source)
      return jit::compileSource(session, kernel, **source, target);
    Result<cache::CachedImage> image = engine::compileCached(session, kernel, target, cache);
    if (!image)
      return image.takeError();
    return *image->image;
  };
  Result<Launch> launch =
      Launch::prepare(std::move(*spec), std::move(*shapes), std::move(*inputs), compile, *source ? nullptr : &*records);
  if (!launch)
    return fail(launch.takeError());
  if (Status status = launch->run(); !status)
    return fail(status.takeError());

  // Before the results are written, so that nothing is where standard output fails.
  bool right = true;
  if (check) {
    Result<std::vector<jit::Judgement>> judgements = launch->judge();
    if (!judgements)
      return fail(judgements.takeError());
    right = report(*judgements);
  }
  if (Status status = flushStandardOutput(); !status)
    return fail(status.takeError());

  std::vector<runtime::NamedTensor> named;
  for (auto [output, tensor] : llvm::zip_equal(launch->spec.kernel.outputs, launch->outputs))
    named.push_back({output.name, tensor});
  Result<runtime::SafetensorsData> data = runtime::SafetensorsData::layOut(named);
  if (!data)
    return fail("cannot write '" + outputPath + "': " + data.message());
  Status written = writeFile(outputPath, [&](llvm::raw_ostream &os) {
    data->forEachPiece([&](const void *bytes, size_t size) { os.write(static_cast<const char *>(bytes), size); });
  });
  if (!written)
    return fail(written.takeError());
  return right ? ExitCode::Success : ExitCode::Wrong;
}

const Command cli::runCommandEntry = {
    "run",
    RunCommand,
    "SPEC --inputs IN.safetensors --outputs OUT.safetensors [options]",
    "Run a spec on tensors from a file",
    "Runs a kernel of SPEC on the tensors of a .safetensors file and writes the results to another. Arguments and\n"
    "results go by the names that the spec gives them (attn.name, else arg0, arg1, ... and out0, out1, ...). A scalar "
    "is\n"
    "a tensor of one element. All arguments are checked before anything runs, and OUT is written whole or not at all;\n"
    "'-' is standard output.\n"
    "\n"
    "A kernel that was compiled before comes from the cache ('attnc cache --help').\n"
    "\n"
    "--cuda takes a file that 'attnc compile --target nvrtc:ARCH --emit cuda' has printed and that was edited: the\n"
    "kernels in it are launched in the place of those that would be compiled (docs/cuda.md).\n"
    "\n"
    "--check judges the results against the fp64 reference, as 'attnc verify' does.\n",
    "  attnc run llama3.mlir --inputs qkv.safetensors --outputs out.safetensors\n"
    "  attnc run llama3.mlir --inputs qkv.safetensors --outputs out.safetensors --check\n",
    /*takes=*/"spec",
    run,
};
