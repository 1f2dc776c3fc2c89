//===- CandidateImages.cpp - Compiles candidates in parallel ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/CandidateImages.h"
#include "codegen/llvm/Guard.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/ThreadPool.h"
#include "runtime/jit/Compile.h"
#include "runtime/tune/Subject.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tune;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;

/// `error`, or the first line of what was reported in its place.
static Error describe(Error error, StringRef diagnostics) {
  if (!error.message.empty())
    return error;
  StringRef line = diagnostics.split('\n').first;
  return Error{line.empty() ? "the compiler failed without a word" : line.str()};
}

static Result<KernelImage> compile(const CandidateSpec &spec, const ScheduleTexts &schedules) {
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  jit::Session session(os);
  if (Status status = session.openText(spec.text, "spec"); !status)
    return describe(status.takeError(), diagnostics);
  Result<attn::KernelFunction> kernel = session.findKernel(spec.entry);
  if (kernel && spec.backward)
    kernel = session.deriveBackward(*kernel);
  if (!kernel)
    return describe(kernel.takeError(), diagnostics);
  if (Status status = setSchedules(*kernel, schedules); !status)
    return status.takeError();
  Attribute target = parseAttribute(spec.target, &session.context());
  if (!target)
    return describe(Error(), diagnostics);
  Result<KernelImage> image = jit::compileToImage(session, *kernel, target);
  if (!image)
    return describe(image.takeError(), diagnostics);
  return image;
}

std::vector<Result<KernelImage>> tune::compileCandidates(const CandidateSpec &spec,
                                                         llvm::ArrayRef<ScheduleTexts> candidates, unsigned threads,
                                                         llvm::function_ref<void(double share)> progress) {
  std::vector<Result<KernelImage>> images(candidates.size(), Error{"it was not compiled"});
  llvm::DefaultThreadPool pool(
      llvm::hardware_concurrency(threads ? threads : runtime::ThreadPool::numAvailableCores()));
  std::vector<std::shared_future<void>> compiled;
  compiled.reserve(candidates.size());
  for (size_t index = 0; index < candidates.size(); ++index)
    compiled.push_back(pool.async([&, index] {
      // A fault of the compiler costs this candidate alone.
      Status status = codegen::runGuarded([&] { images[index] = compile(spec, candidates[index]); });
      if (!status)
        images[index] = status.takeError();
    }));
  for (size_t index = 0; index < compiled.size(); ++index) {
    compiled[index].wait();
    progress(static_cast<double>(index + 1) / static_cast<double>(compiled.size()));
  }
  return images;
}
