//===- Compile.cpp - attnc compile ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "codegen/shared/SharedObject.h"
#include "runtime/engine/CachedCompile.h"
#include "runtime/jit/Target.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/CudaFile.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/Spec.h"
#include "tools/attnc/UserCache.h"
#include "tools/attnc/UserRecords.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace attnc;
using namespace attnc::cli;
using image::Result;

/// The stage after the image.
static constexpr llvm::StringLiteral sharedStage = "shared";

/// `image` as a file holds it.
static Result<std::string> toBytes(Result<image::KernelImage> image) {
  if (!image)
    return image.takeError();
  std::vector<uint8_t> bytes = image::serialize(*image);
  return std::string(bytes.begin(), bytes.end());
}

/// Whether the kernel is that of the spec as it is written, which a program gets that asks for the spec alone.
static bool isAsWritten(const llvm::opt::InputArgList &args) { return !args.hasArg(OPT_deterministic, OPT_tf32); }

/// The image of the kernel of `spec`, which is kept in the user's cache as well: also under what was asked for, so that
/// programs without a compiler find it.
static Result<image::KernelImage> compileImage(const Spec &spec, mlir::Attribute machine,
                                               const llvm::opt::InputArgList &args) {
  cache::KernelCache cache(readUserCache());
  Result<image::KernelImage> image = engine::compileInto(cache, *spec.session, spec.kernel, machine);
  if (!image)
    return image.takeError();
  if (!isAsWritten(args))
    return image;
  std::string target = jit::getTargetName(machine);
  cache::TextRequest request{spec.session->text(), args.getLastArgValue(OPT_entry),    target,
                             /*machine=*/"",       args.getLastArgValue(OPT_schedule), args.hasArg(OPT_backward)};
  cache.addAlias(cache::keyOf(request), {engine::getBuild(machine), engine::getKey(spec.kernel, machine)});
  return image;
}

/// What a kernel becomes that has code: an image, or a shared object called `path` around one.
static Result<std::string> package(Result<image::KernelImage> image, llvm::StringRef emit, llvm::StringRef path,
                                   mlir::Attribute machine) {
  if (emit != sharedStage || !image)
    return toBytes(std::move(image));
  return shared::link({*image, llvm::sys::path::filename(path), jit::getBackend(machine).getHostFeatures(machine)});
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  llvm::StringRef emit = args.getLastArgValue(OPT_emit, "image"), path = args.getLastArgValue(OPT_output);
  const bool hasCode = emit == "image" || emit == sharedStage;
  if (!hasCode && !jit::isStage(emit))
    return fail("unknown stage '" + emit + "'; there are " + jit::getStageNames() + ", " + sharedStage);
  if (emit == sharedStage && (path.empty() || path == "-"))
    return fail("a shared object is called as its file is; give one by -o");
  if (jit::isBinary(emit) && (path.empty() || path == "-") && llvm::sys::Process::StandardOutIsDisplayed())
    return fail("a kernel image is no text; give a file by -o");
  llvm::StringRef target = args.getLastArgValue(OPT_target, jit::anyTarget);
  if (const jit::Target *kind = jit::findKind(target); kind && kind->compiles == jit::Compiles::Nothing)
    return fail("target '" + target + "' runs the spec as it is; there is nothing to compile");
  if (image::Status status = checkOutput(path, {args.getLastArgValue(OPT_INPUT)}); !status)
    return fail(status.takeError());
  Result<Spec> spec = Spec::openAlone(args);
  if (!spec)
    return fail(spec.takeError());
  // The machine need not be this one.
  Result<mlir::Attribute> machine = jit::findMachine(&spec->session->context(), target);
  if (!machine)
    return fail(machine.takeError());
  Result<std::optional<target::SourceFile>> source = readCudaFile(args);
  if (!source)
    return fail(source.takeError());
  if (*source && !hasCode)
    return fail("--cuda makes an image or a shared object; '--emit " + emit +
                "' prints what the compiler makes by itself");
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return fail(records.takeError());
  if (!*source)
    if (Result<tune::Choice> choice = records->choose(*spec->session, spec->kernel, *machine, /*shapes=*/nullptr);
        !choice)
      return fail(choice.takeError());
  // An edited file is kept nowhere: the cache holds what specs become.
  Result<std::string> bytes =
      *source   ? package(jit::compileSource(*spec->session, spec->kernel, **source, *machine), emit, path, *machine)
      : hasCode ? package(compileImage(*spec, *machine, args), emit, path, *machine)
                : jit::compileToStage(*spec->session, spec->kernel, emit, *machine);
  if (!bytes)
    return fail(bytes.takeError());
  if (image::Status status = writeFile(path, [&](llvm::raw_ostream &os) { os << *bytes; }); !status)
    return fail(status.takeError());
  return ExitCode::Success;
}

/// The stages and the machines, as the backends tell them, and what else there is to know.
static void describe(llvm::raw_ostream &os) {
  auto describeStage = [&](llvm::StringRef name, llvm::StringRef description) {
    os << "  " << llvm::left_justify(name, 7) << ' ' << description << '\n';
  };
  for (const target::Stage &stage : jit::getStages())
    describeStage(stage.name, stage.description);
  describeStage(sharedStage, "a shared object that launches the kernel, for programs and for TVM FFI; takes -o, and a "
                             "linker in the PATH");
  os << "\n--target is " << jit::describeMachines()
     << ".\nA GPU need not be here. --cuda FILE makes the image of an edited file.\n"
        "An image is kept in the cache as well ('attnc cache --help'), which is never asked: this always compiles.\n"
        "A shared object needs libattnc-runtime where it is loaded, and exports NAME_launch and __tvm_ffi_NAME\n"
        "(docs/embedding.md).\n"
        "Without ptxas an image holds PTX, which the driver assembles when it is loaded.\n";
}

const Command cli::compileCommand = {
    "compile",
    CompileCommand,
    "SPEC [options]",
    "Compile a spec, or show what it becomes on the way",
    "Compiles a kernel of SPEC and writes it, or the stage of it that --emit names:\n",
    "  attnc compile llama3.mlir -o llama3.image\n"
    "  attnc compile llama3.mlir --emit shared -o llama3.so\n"
    "  attnc compile llama3.mlir --emit attn           the bounds and the schedule, as IR\n"
    "  attnc compile models.mlir --entry gemma2_local --emit asm -o gemma2.s\n"
    "  attnc compile llama3.mlir --target nvptx:sm_90a --emit ptx\n"
    "  attnc compile llama3.mlir --target nvrtc:sm_90a --emit cuda -o llama3.cu\n",
    /*takes=*/"spec",
    run,
    /*getVerbs=*/nullptr,
    describe,
};
