//===- UserRecords.cpp - Schedules that were found by tuning ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/UserRecords.h"
#include "runtime/engine/BuildId.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/InputFile.h"
#include "tools/attnc/UserCache.h"

using namespace attnc;
using namespace attnc::cli;
using image::Error;
using image::Result;
using image::Status;
using llvm::opt::InputArgList;

void cli::remark(const std::string &text) { llvm::errs() << "attnc: remark: " + jit::makePrintable(text) + "\n"; }

std::string cli::findUserRecords() {
  std::string directory = readUserCache().directory;
  return directory.empty() ? "" : directory + "/records";
}

Result<UserRecords> UserRecords::open(const InputArgList &args) {
  UserRecords user;
  Result<tune::Policy> policy = tune::Policy::parse(args.getLastArgValue(OPT_policy));
  if (!policy)
    return Error{"option '--policy': " + policy.message()};
  user.policy = *policy;
  user.device = args.getLastArgValue(OPT_device).str();
  user.records = std::make_unique<tune::RecordBook>(findUserRecords(), tune::findShippedRecords(), remark);
  for (const std::string &path : args.getAllArgValues(OPT_records)) {
    auto file = jit::readInput(path, tune::longestRecordFile);
    if (!file)
      return file.takeError();
    if (Status status = user.records->addOverlay((*file)->getBuffer()); !status)
      return Error{"'" + path + "': " + status.message()};
  }
  return user;
}

std::string UserRecords::findDevice(const attn::KernelFunction &kernel, mlir::Attribute target, bool isHere) const {
  if (!device.empty())
    return device;
  auto gpu = mlir::dyn_cast<attn::GpuTargetAttr>(target);
  if (!gpu)
    return target == jit::targetOrHost(target.getContext(), {}) ? tune::nameOfCpu(jit::getTargetName(target)) : "";
  // To ask a driver takes longer than to compile.
  if (!isHere && !records->mentions(jit::getTargetName(target), tune::digestOf(kernel)))
    return "";
  Result<cuda::DeviceFacts> facts = cuda::Device::describeFirst();
  return facts && (isHere || jit::explainGpu(*facts, gpu.getArch()).empty()) ? tune::nameOfGpu(*facts) : "";
}

tune::ChoiceRequest UserRecords::makeRequest(const attn::KernelFunction &kernel, mlir::Attribute target,
                                             const jit::Shapes *shapes, bool isHere) const {
  tune::ChoiceRequest request;
  request.book = records.get();
  request.policy = policy;
  if (policy.records)
    request.device = findDevice(kernel, target, isHere);
  if (shapes)
    request.shape = tune::ShapeClass::of(kernel, *shapes);
  request.remark = remark;
  return request;
}

Result<tune::Choice> UserRecords::choose(jit::Session &session, attn::KernelFunction &kernel, mlir::Attribute target,
                                         const jit::Shapes *shapes, bool isHere) const {
  return tune::chooseSchedules(session, kernel, target, makeRequest(kernel, target, shapes, isHere));
}

Result<image::KernelImage> UserRecords::compile(const Spec &spec, const jit::Shapes &shapes, mlir::Attribute target,
                                                jit::ImageSource source) const {
  jit::Session &session = *spec.session;
  attn::KernelFunction kernel = spec.kernel;
  target = jit::targetOrHost(&session.context(), target);
  tune::ChoiceRequest request = makeRequest(kernel, target, &shapes, /*isHere=*/true);
  request.tune = [&]() -> Status {
    Result<tune::Tuning> tuning = tune::tune(spec.getSubject(kernel, shapes), tune::makeAutotuneOptions());
    if (!tuning)
      return tuning.takeError();
    tuning->record.build = engine::getBuildId();
    records->keep(request.device, tuning->record);
    return {};
  };
  Result<tune::Choice> choice = tune::chooseSchedules(session, kernel, target, request);
  if (!choice)
    return choice.takeError();
  Result<image::KernelImage> image = source(session, kernel, target);
  // The spec is as it was: others look at it who know nothing of this machine.
  if (choice->source != tune::Source::Override)
    tune::clearSchedules(kernel);
  if (image || choice->records.empty() || !policy.heuristics)
    return image;
  remark("the record of @" + kernel.function.getName().str() + " cannot be compiled; heuristics are used");
  return source(session, kernel, target);
}
