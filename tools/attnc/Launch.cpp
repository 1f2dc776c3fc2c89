//===- Launch.cpp - A kernel and the arguments of one launch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/Launch.h"
#include "runtime/jit/Verify.h"
#include "tools/attnc/CudaFile.h"
#include <chrono>

using namespace attnc;
using namespace attnc::cli;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

Result<Launch> Launch::prepare(Spec spec, jit::Shapes shapes, std::vector<ArgValue> inputs, jit::ImageSource source,
                               const UserRecords *records) {
  Result<std::vector<Tensor>> outputs = jit::allocateOutputs(spec.kernel, shapes);
  if (!outputs)
    return outputs.takeError();
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  auto choose = [&](jit::Session &session, const attn::KernelFunction &kernel, mlir::Attribute target) {
    return records ? records->compile(spec, shapes, target, source) : source(session, kernel, target);
  };
  Result<std::unique_ptr<jit::Executable>> kernel = spec.target->load(*spec.session, spec.kernel, choose);
  if (!kernel)
    return kernel.takeError();
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return Launch{std::move(spec),     std::move(shapes),  std::move(inputs),
                std::move(*outputs), std::move(*kernel), seconds};
}

Result<Launch> Launch::draw(const llvm::opt::InputArgList &args, bool computeSaved) {
  Result<int64_t> seed = getInteger(args, OPT_seed, 0, 0);
  if (!seed)
    return seed.takeError();
  Result<double> scale = getNumber(args, OPT_scale_values, 1);
  if (!scale)
    return scale.takeError();
  Result<std::optional<target::SourceFile>> source = readCudaFile(args);
  if (!source)
    return source.takeError();
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return records.takeError();
  Result<Spec> spec = Spec::open(args);
  if (!spec)
    return spec.takeError();
  Result<jit::Shapes> shapes = spec->resolveShapes(args);
  if (!shapes)
    return shapes.takeError();
  jit::RandomOptions drawn{static_cast<uint64_t>(*seed), *scale, /*drawValues=*/true, computeSaved};
  auto inputs = jit::makeRandomInputs(spec->kernel, *shapes, drawn);
  if (!inputs)
    return inputs.takeError();
  auto compile = [&](jit::Session &session, const attn::KernelFunction &kernel, mlir::Attribute target) {
    return *source ? jit::compileSource(session, kernel, **source, target)
                   : jit::compileToImage(session, kernel, target);
  };
  // A file by hand is what its schedule was.
  auto launch =
      prepare(std::move(*spec), std::move(*shapes), std::move(*inputs), compile, *source ? nullptr : &*records);
  if (launch)
    launch->drawn = drawn;
  return launch;
}

Status Launch::runOnOthers(uint64_t seed) {
  drawn.seed = seed;
  auto others = jit::makeRandomInputs(spec.kernel, shapes, drawn);
  if (!others)
    return others.takeError();
  inputs = std::move(*others);
  for (Tensor &output : outputs)
    output.poison();
  return run();
}

std::vector<ArgValue> Launch::joinArguments(image::Span<const Tensor> results) const {
  std::vector<ArgValue> values = inputs;
  values.insert(values.end(), results.begin(), results.end());
  return values;
}

Status Launch::runInto(image::Span<const Tensor> results) { return kernel->run(joinArguments(results)); }

Result<std::vector<jit::Judgement>> Launch::judge(const std::vector<int64_t> &rows) const {
  return jit::judgeAgainstReference(spec.kernel, inputs, outputs, rows);
}

bool cli::report(const std::vector<jit::Judgement> &judgements) {
  bool right = true;
  for (const jit::Judgement &judgement : judgements) {
    llvm::outs() << judgement.toString() << '\n';
    right &= judgement.right();
  }
  return right;
}
