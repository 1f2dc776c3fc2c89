//===- JitRecords.cpp - Records and tuning behind the C API -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/engine/JitRecords.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/engine/BuildId.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/GpuKernel.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/RandomInputs.h"

using namespace attnc;
using capi::CompileRequest;
using engine::OpenRequest;
using image::KernelImage;
using image::Result;
using image::Status;

std::string engine::nameDevice(const CompileRequest &request, llvm::StringRef cpu) {
  if (request.gpu)
    return tune::nameOfGpu(request.gpu->facts());
  return request.target == jit::getHostName() ? tune::nameOfCpu(cpu) : "";
}

std::string engine::describeChoice(const CompileRequest &request, llvm::StringRef device) {
  // A shape is held against the spec where that is read, whether or not it decides anything: what was compiled for
  // another says nothing of it.
  if (!request.records || request.policy == ATTNC_POLICY_HEURISTICS || !request.schedule.empty())
    return request.shape;
  std::string stamp = static_cast<JitRecords *>(request.records)->book().getStamp(device);
  if (stamp.empty() && request.policy == ATTNC_POLICY_AUTO)
    return request.shape;
  return stamp + '\n' + request.shape + '\n' + std::to_string(request.policy);
}

Result<jit::Shapes> engine::resolveShape(const CompileRequest &request, const attn::KernelFunction &kernel) {
  Result<jit::ShapeRequest> shape = jit::parseShape(request.shape);
  if (!shape)
    return shape.takeError();
  return jit::Shapes::resolve(kernel, *shape);
}

/// Makes images ready to run on the machine of `request`.
static tune::Loader makeLoader(const CompileRequest &request, const OpenRequest &open) {
  return
      [gpu = request.gpu, target = open.target](jit::Session &session, const attn::KernelFunction &kernel,
                                                jit::ImageSource source) -> Result<std::unique_ptr<jit::Executable>> {
        // Gradients are validated in a session of their own.
        mlir::Attribute machine = &session.context() == target.getContext() ? target : mlir::Attribute();
        if (!machine) {
          std::string text;
          llvm::raw_string_ostream(text) << target;
          machine = mlir::parseAttribute(text, &session.context());
        }
        Result<KernelImage> image = source(session, kernel, machine);
        if (!image)
          return image.takeError();
        if (gpu) {
          Result<std::unique_ptr<jit::GpuKernel>> loaded = jit::GpuKernel::load(gpu, std::move(*image));
          if (!loaded)
            return loaded.takeError();
          return std::unique_ptr<jit::Executable>(std::move(*loaded));
        }
        Result<std::unique_ptr<jit::LoadedKernel>> loaded = jit::LoadedKernel::load(std::move(*image));
        if (!loaded)
          return loaded.takeError();
        return std::unique_ptr<jit::Executable>(std::move(*loaded));
      };
}

Result<tune::Tuning> engine::tuneRequest(const CompileRequest &request, const OpenRequest &open,
                                         const tune::TuneOptions &options) {
  Result<jit::Shapes> shapes = resolveShape(request, open.kernel);
  if (!shapes)
    return shapes.takeError();
  if (Status status = jit::checkSizes(open.kernel, *shapes); !status)
    return status.takeError();
  Result<tune::Tuning> tuning = tune::tune(
      {open.session, open.kernel, open.entry, request.backward, std::move(*shapes), makeLoader(request, open)},
      options);
  if (!tuning)
    return tuning.takeError();
  tuning->record.build = getBuildId();
  if (request.records)
    static_cast<JitRecords *>(request.records)
        ->book()
        .keep(nameDevice(request, jit::getTargetName(open.target)), tuning->record);
  return tuning;
}

Result<tune::Choice> engine::choose(const CompileRequest &request, const OpenRequest &open) {
  auto *records = static_cast<JitRecords *>(request.records);
  tune::ChoiceRequest wanted;
  wanted.book = records ? &records->book() : nullptr;
  wanted.device = nameDevice(request, jit::getTargetName(open.target));
  wanted.policy.records = request.policy != ATTNC_POLICY_HEURISTICS;
  wanted.policy.autotune = request.policy == ATTNC_POLICY_AUTOTUNE;
  wanted.policy.heuristics = request.policy != ATTNC_POLICY_RECORDS;
  wanted.remark = [&](const std::string &text) {
    if (records)
      records->remark(text);
  };
  if (!request.shape.empty()) {
    Result<jit::Shapes> shapes = resolveShape(request, open.kernel);
    if (!shapes)
      return shapes.takeError();
    wanted.shape = tune::ShapeClass::of(open.kernel, *shapes);
  }
  wanted.tune = [&]() -> Status {
    tune::TuneOptions options = tune::makeAutotuneOptions();
    options.remark = wanted.remark;
    Result<tune::Tuning> tuning = tuneRequest(request, open, options);
    return tuning ? Status() : Status(tuning.takeError());
  };
  return tune::chooseSchedules(open.session, open.kernel, open.target, wanted);
}
