//===- Targets.cpp - attnc targets ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/target/HostCpu.h"
#include "codegen/target/NvidiaGpu.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/ThreadPool.h"
#include "runtime/cuda/Device.h"
#include "runtime/jit/Target.h"
#include "tools/attnc/Commands.h"

using namespace attnc;
using namespace attnc::cli;

static ExitCode run(const llvm::opt::InputArgList &args) {
  llvm::raw_ostream &os = llvm::outs();
  bool automatic = true;
  for (const jit::Target *target : jit::getTargets()) {
    std::string why = target->whyUnavailable();
    os << llvm::left_justify(target->name, 13) << ' ' << target->description;
    if (!why.empty())
      os << " (not here: " << why << ')';
    else if (std::exchange(automatic, false))
      os << " (what 'auto' takes)";
    os << '\n';
  }
  os << "\nnvptx:ARCH, nvrtc:ARCH and sim:ARCH take " << target::getNvidiaGpuNames() << '\n';
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect>();
  attn::CpuTargetAttr cpu = target::getHostCpu(&context);
  os << "\nThis CPU: " << cpu.getCpu() << ", " << runtime::ThreadPool::numAvailableCores() << " cores, "
     << cpu.getVectorRegisters() << " SIMD registers of " << cpu.getVectorBits() << " bits, L1 "
     << cpu.getL1Bytes() / 1024 << " KiB, L2 " << cpu.getL2Bytes() / 1024 << " KiB\n";
  image::Result<cuda::DeviceFacts> gpu = cuda::Device::describeFirst();
  os << "This GPU: " << (gpu ? gpu->toString() : gpu.message()) << '\n';
  return ExitCode::Success;
}

const Command cli::targetsCommand = {
    "targets",
    TargetsCommand,
    "",
    "List what kernels can be compiled for",
    "Lists the targets, which of them this machine has, and what the compiler knows of it.\n",
    "  attnc targets\n",
    /*takes=*/"",
    run,
};
