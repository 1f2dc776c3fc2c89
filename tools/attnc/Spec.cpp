//===- Spec.cpp - What commands do with a spec ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/Spec.h"
#include "runtime/jit/ScheduleTableFile.h"
#include "runtime/jit/ScheduleText.h"

using namespace attnc;
using namespace attnc::cli;
using image::Result;
using llvm::opt::InputArgList;

Result<Spec> Spec::open(const InputArgList &args) {
  Result<const jit::Target *> target = jit::findTarget(args.getLastArgValue(OPT_target, jit::anyTarget));
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
  if (image::Status status = spec.session->openFile(args.getLastArgValue(OPT_INPUT)); !status)
    return status.takeError();
  Result<attn::KernelFunction> kernel = spec.session->findKernel(args.getLastArgValue(OPT_entry));
  if (!kernel)
    return kernel.takeError();
  spec.kernel = std::move(*kernel);
  spec.entry = spec.kernel.function.getName().str();
  spec.backward = args.hasArg(OPT_backward);
  auto ask = [&](llvm::opt::OptSpecifier option, llvm::StringRef name) {
    if (args.hasArg(option))
      spec.kernel.function->setAttr(name, mlir::UnitAttr::get(&spec.session->context()));
  };
  ask(OPT_deterministic, attn::deterministicAttrName);
  ask(OPT_tf32, attn::tf32AttrName);
  if (spec.backward) {
    Result<attn::KernelFunction> backward = spec.session->deriveBackward(spec.kernel);
    if (!backward)
      return backward.takeError();
    spec.kernel = std::move(*backward);
  }
  for (const std::string &path : args.getAllArgValues(OPT_schedules)) {
    Result<llvm::SmallVector<mlir::Attribute>> tables =
        jit::readScheduleTables(path, llvm::errs(), &spec.session->context());
    if (!tables)
      return tables.takeError();
    jit::addScheduleTables(spec.kernel, *tables);
  }
  if (args.hasArg(OPT_schedule))
    if (image::Status status =
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

Result<jit::Shapes> Spec::resolveShapes(const InputArgList &args) const {
  std::string shape;
  for (const std::string &part : args.getAllArgValues(OPT_shape))
    shape += (shape.empty() ? "" : ",") + part;
  Result<jit::ShapeRequest> request = jit::parseShape(shape, args.getAllArgValues(OPT_dim));
  if (!request)
    return request.takeError();
  Result<jit::Shapes> shapes = jit::Shapes::resolve(kernel, *request);
  if (!shapes)
    return image::Error{shapes.message() + (args.hasArg(OPT_shape, OPT_dim) ? "" : " (--shape)")};
  if (image::Status status = jit::checkSizes(kernel, *shapes); !status)
    return status.takeError();
  return shapes;
}
