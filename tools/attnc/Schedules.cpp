//===- Schedules.cpp - attnc schedules --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/ScheduleTables.h"
#include "mlir/Parser/Parser.h"
#include "runtime/jit/InputFile.h"
#include "runtime/jit/ScheduleTableFile.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/SpecText.h"
#include "runtime/jit/Target.h"
#include "tools/attnc/Commands.h"

using namespace attnc;
using namespace attnc::cli;
using image::Result;

/// Whether kernels for `gpu` ask a table of `file`; those for any GPU ask all.
static bool isAsked(const attnc::gpu::ScheduleFile &file, attn::GpuTargetAttr gpu, mlir::MLIRContext *context) {
  if (!gpu)
    return true;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(file.text, mlir::ParserConfig(context), file.name);
  if (!module)
    return false;
  mlir::FailureOr<llvm::SmallVector<attn::ScheduleTableAttr>> tables = attnc::gpu::readScheduleTables(*module);
  return mlir::succeeded(tables) && llvm::any_of(*tables, [&](attn::ScheduleTableAttr table) {
           return table.isForAll() || table.names(gpu.getArch());
         });
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  jit::Session session;
  attn::GpuTargetAttr gpu;
  if (args.hasArg(OPT_target)) {
    llvm::StringRef name = args.getLastArgValue(OPT_target);
    Result<mlir::Attribute> target = jit::findMachine(&session.context(), name);
    if (!target)
      return fail(target.takeError());
    gpu = mlir::dyn_cast<attn::GpuTargetAttr>(*target);
    if (!gpu)
      return fail("'" + name + "' has no table: its schedules follow from its registers and caches");
  }
  for (const std::string &path : args.getAllArgValues(OPT_schedules)) {
    if (Result<llvm::SmallVector<mlir::Attribute>> tables =
            jit::readScheduleTables(path, llvm::errs(), &session.context());
        !tables)
      return fail(tables.takeError());
    auto file = jit::readInput(path, jit::longestSpec);
    if (!file)
      return fail(file.takeError());
    llvm::outs() << (*file)->getBuffer() << '\n';
  }
  llvm::StringRef between = "";
  for (const attnc::gpu::ScheduleFile &file : attnc::gpu::getScheduleFiles())
    if (isAsked(file, gpu, &session.context())) {
      llvm::outs() << between << file.text;
      between = "\n";
    }
  return ExitCode::Success;
}

const Command cli::schedulesCommand = {
    "schedules",
    SchedulesCommand,
    "[options]",
    "Show the tables that schedules of GPUs come from",
    "Prints the tables of schedules, in the order in which they are asked: for which kernels and sizes there is which\n"
    "schedule, and what elements take of registers. They are what a kernel has without tuning. The output is a file "
    "that\n"
    "the other commands take as --schedules, changed or not; entries of one's own come before those of attnc.\n"
    "\n"
    "With --schedules FILE that file is checked, and printed first: a fault is shown with its line. Schedules of CPUs "
    "have\n"
    "no table: they follow from registers and caches.\n",
    "  attnc schedules --target nvptx:sm_90a\n"
    "  attnc schedules --schedules mine.mlir\n"
    "  attnc compile llama3.mlir --target nvptx:sm_90a --schedules mine.mlir --emit attn\n",
    /*takes=*/"",
    run,
};
