//===- Spec.cpp - What commands do with a spec ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/Spec.h"
#include "runtime/jit/Compile.h"
#include "tools/attnc/ScheduleOption.h"

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
  if (args.hasArg(OPT_schedule))
    if (runtime::Status status = setSchedule(args.getLastArgValue(OPT_schedule), spec.kernel); !status)
      return status.takeError();
  return spec;
}

Result<jit::Shapes> Spec::resolveShapes(const InputArgList &args) const {
  std::string shape;
  for (const std::string &part : args.getAllArgValues(OPT_shape))
    shape += (shape.empty() ? "" : ",") + part;
  Result<jit::ShapeRequest> request = jit::parseShape(shape, args.getAllArgValues(OPT_dim));
  if (!request)
    return request.takeError();
  return jit::Shapes::resolve(kernel, *request);
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
