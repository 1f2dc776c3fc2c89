//===- Spec.cpp - What commands do with a spec ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/Spec.h"
#include "codegen/image/Types.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/ScheduleText.h"
#include "llvm/Support/FormatVariadic.h"
#include <unistd.h>

using namespace attnc;
using namespace attnc::cli;
using llvm::opt::InputArgList;
using runtime::Result;

Result<Spec> Spec::open(const InputArgList &args) {
  Result<const jit::Target *> target = jit::findTarget(args.getLastArgValue(OPT_target, "auto"));
  if (!target)
    return target.takeError();
  Result<Spec> spec = openAlone(args);
  if (spec)
    spec->target = *target;
  return spec;
}

Result<Spec> Spec::openAlone(const InputArgList &args) {
  Spec spec;
  spec.session = std::make_unique<jit::Session>();
  if (runtime::Status status = spec.session->openFile(args.getLastArgValue(OPT_INPUT)); !status)
    return status.takeError();
  Result<attn::KernelFunction> kernel = spec.session->findKernel(args.getLastArgValue(OPT_entry));
  if (!kernel)
    return kernel.takeError();
  spec.kernel = std::move(*kernel);
  spec.entry = spec.kernel.function.getName().str();
  spec.backward = args.hasArg(OPT_backward);
  if (args.hasArg(OPT_deterministic))
    spec.kernel.function->setAttr(attn::deterministicAttrName, mlir::UnitAttr::get(&spec.session->context()));
  if (spec.backward) {
    Result<attn::KernelFunction> backward = spec.session->deriveBackward(spec.kernel);
    if (!backward)
      return backward.takeError();
    spec.kernel = std::move(*backward);
  }
  if (args.hasArg(OPT_schedule))
    if (runtime::Status status =
            jit::setSchedule(args.getLastArgValue(OPT_schedule), "--schedule", llvm::errs(), spec.kernel);
        !status)
      return status.takeError();
  return spec;
}

tune::TuneSubject Spec::getSubject(attn::KernelFunction &tuned, const jit::Shapes &shapes) const {
  return {*session,
          tuned,
          entry,
          backward,
          shapes,
          [this](jit::Session &session, const attn::KernelFunction &kernel, jit::ImageSource source) {
            return target->load(session, kernel, source);
          }};
}

/// The most sequences that inputs are drawn for.
static constexpr int64_t mostSequences = int64_t(1) << 20;

/// Whether arguments of `shapes` are something that this machine can hold.
static runtime::Status checkSizes(const attn::KernelFunction &kernel, const jit::Shapes &shapes) {
  if (shapes.batch() > mostSequences)
    return runtime::Error{"size 'B': expected at most " + std::to_string(mostSequences) + ", got " +
                          std::to_string(shapes.batch())};
  // The system promises more than it has, and ends the process that takes it at its word.
  double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double bytes = 0;
  for (const auto *list : {&kernel.inputs, &kernel.outputs})
    for (const attn::KernelArgument &argument : *list) {
      if (!argument.isTensor())
        continue;
      auto size = static_cast<double>(runtime::byteSize(image::elementDType(argument)));
      for (int64_t extent : shapes.shapeOf(argument))
        size *= static_cast<double>(extent);
      bytes += size;
    }
  if (bytes <= memory)
    return {};
  return runtime::Error{
      llvm::formatv("the arguments and results take {0:E3} bytes of memory, this machine has {1:E3}", bytes, memory)
          .str()};
}

Result<jit::Shapes> Spec::resolveShapes(const InputArgList &args) const {
  std::string shape;
  for (const std::string &part : args.getAllArgValues(OPT_shape))
    shape += (shape.empty() ? "" : ",") + part;
  Result<jit::ShapeRequest> request = jit::parseShape(shape, args.getAllArgValues(OPT_dim));
  if (!request)
    return request.takeError();
  Result<jit::Shapes> shapes = jit::Shapes::resolve(kernel, *request);
  if (!shapes)
    return shapes;
  if (runtime::Status status = checkSizes(kernel, *shapes); !status)
    return status.takeError();
  return shapes;
}

Result<LoweredSpec> LoweredSpec::get(const Spec &spec, mlir::Attribute machine) {
  auto module = jit::lowerToAttn(*spec.session, spec.kernel, machine);
  if (!module)
    return module.takeError();
  auto kernel = attn::KernelFunction::get(*(**module).getOps<mlir::func::FuncOp>().begin());
  if (failed(kernel))
    return jit::reported();
  return LoweredSpec{std::move(*module), std::move(*kernel)};
}
