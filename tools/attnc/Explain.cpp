//===- Explain.cpp - attnc explain ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/engine/CachedCompile.h"
#include "runtime/explain/Explanation.h"
#include "runtime/jit/GpuTarget.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/Spec.h"
#include "tools/attnc/UserCache.h"
#include "tools/attnc/UserRecords.h"
#include "llvm/Support/Process.h"

using namespace attnc;
using namespace attnc::cli;
using image::Result;

namespace {

/// What a kernel is compiled for.
struct Machine {
  mlir::Attribute target;
  bool isHere = false; ///< whether it is a GPU of this machine, which runs would use
};

} // namespace

/// What runs on `target` compile for: a GPU that is at hand has facts of its own, and another need not be here.
static Result<Machine> findMachine(mlir::MLIRContext &context, llvm::StringRef target) {
  if (const jit::Target *kind = jit::findKind(target); kind && kind->isDevice)
    if (Result<cuda::DeviceFacts> gpu = cuda::Device::describeFirst())
      if (jit::explainGpu(*gpu, target.split(':').second).empty()) {
        Result<attn::GpuTargetAttr> machine = jit::chooseGpuTarget(&context, *gpu, target);
        if (!machine)
          return machine.takeError();
        return Machine{*machine, /*isHere=*/true};
      }
  Result<mlir::Attribute> machine = jit::findMachine(&context, target);
  if (!machine)
    return machine.takeError();
  return Machine{*machine};
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  Result<int64_t> seed = getInteger(args, OPT_seed, 0, 0);
  if (!seed)
    return fail(seed.takeError());
  if (args.hasArg(OPT_svg))
    if (image::Status status = checkOutput(args.getLastArgValue(OPT_svg), {args.getLastArgValue(OPT_INPUT)}); !status)
      return fail(status.takeError());
  Result<Spec> spec = Spec::openAlone(args);
  if (!spec)
    return fail(spec.takeError());
  // The machine need not be this one. The reference has no schedule; what this CPU's would be is shown instead.
  llvm::StringRef target = args.getLastArgValue(OPT_target, jit::anyTarget);
  const jit::Target *kind = jit::findKind(target);
  if (target == jit::anyTarget || (kind && kind->compiles == jit::Compiles::Nothing))
    target = jit::getHostName();
  Result<Machine> machine = findMachine(spec->session->context(), target);
  if (!machine)
    return fail(machine.takeError());
  bool sized = args.hasArg(OPT_shape) || args.hasArg(OPT_dim);
  Result<jit::Shapes> shapes = spec->resolveShapes(args);
  if (!shapes && (sized || args.hasArg(OPT_svg)))
    return fail(shapes.takeError());
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return fail(records.takeError());
  Result<tune::Choice> choice =
      records->choose(*spec->session, spec->kernel, machine->target, shapes ? &*shapes : nullptr, machine->isHere);
  if (!choice)
    return fail(choice.takeError());
  explain::Subject subject{*spec->session, spec->kernel,       machine->target,
                           target.str(),   std::move(*choice), std::move(shapes)};
  subject.seed = static_cast<uint64_t>(*seed);
  if (!kind || kind->compiles != jit::Compiles::Program) {
    subject.key = engine::getKey(spec->kernel, machine->target);
    const cache::CacheOptions cache = readUserCache();
    subject.cacheDirectory = cache.directory;
    subject.cacheComplaint = cache.complaint;
  }
  Result<explain::Explanation> explanation = explain::Explanation::get(std::move(subject));
  if (!explanation)
    return fail(explanation.takeError());
  unsigned columns = llvm::sys::Process::StandardOutColumns();
  explanation->print(llvm::outs(), columns > 20 ? std::min(columns, 140U) - 10 : 80);
  // Last, so that nothing is written where standard output fails.
  if (image::Status status = flushStandardOutput(); !status)
    return fail(status.takeError());
  if (args.hasArg(OPT_svg))
    if (image::Status status =
            writeFile(args.getLastArgValue(OPT_svg), [&](llvm::raw_ostream &os) { explanation->drawSvg(os); });
        !status)
      return fail(status.takeError());

  return ExitCode::Success;
}

const Command cli::explainCommand = {
    "explain",
    ExplainCommand,
    "SPEC [--shape B=1,Sq=8192,Sk=8192] [options]",
    "Show what the compiler decided, and why",
    "Shows what became of a spec: score and mask as formulas, the keys that each tile of queries can see (bounds), "
    "the\n"
    "decision for each tile where positions do not settle it (blocks), and the schedule with the registers and the\n"
    "memory that it takes. --target takes what 'attnc compile' does: a GPU need not be here. Where short and long\n"
    "sequences have schedules of their own, sizes tell which is used. Last comes the file of the kernel in the cache.\n"
    "\n"
    "With sizes it draws the mask's tiles, · empty (never visited), ▒ partial (mask evaluated), █ full (no mask), and\n"
    "counts the work that the mask leaves: FLOPs and exponentials on kept pairs, bytes, FLOPs for each byte "
    "(intensity).\n"
    "Beside it stands what this CPU does at most, measured: where the intensity is below its balance, memory binds; "
    "the\n"
    "limit is the least time of the part that binds. Captured tensors hold the random inputs of 'attnc verify'.\n",
    "  attnc explain mistral.mlir\n"
    "  attnc explain mistral.mlir --shape B=1,Sq=16384,Sk=16384\n"
    "  attnc explain llama3.mlir --target nvptx:sm_90a --shape B=1,Sq=1024,Sk=1024\n"
    "  attnc explain packed_documents.mlir --shape B=1,Sq=4096 --svg documents.svg\n",
    /*takes=*/"spec",
    run,
};
