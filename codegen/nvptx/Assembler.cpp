//===- Assembler.cpp - PTX to machine code ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Assembler.h"
#include "codegen/llvm/Programs.h"
#include "codegen/nvptx/CudaTools.h"
#include "codegen/nvptx/NvJitLink.h"

using namespace attnc;
using namespace attnc::nvptx;
using codegen::ProgramResult;
using codegen::runProgram;
using codegen::TemporaryFile;
using image::Result;
using llvm::StringRef;

/// Where programs and libraries of the toolkit are looked for, for messages.
static std::string places() { return "the PATH, " + cudaPlaces.str(); }

/// Assembles by ptxas at a level of optimization. The result is empty where it is too old for `arch` or for this PTX,
/// which the driver may know.
static Result<AssembledKernel> assembleByPtxas(const std::string &program, const PtxModule &ptx, StringRef arch,
                                               bool keepLines, int level) {
  Result<TemporaryFile> input = TemporaryFile::create("attnc", "ptx", ptx.text);
  Result<TemporaryFile> output = TemporaryFile::create("attnc", "cubin");
  if (!input || !output)
    return input ? output.takeError() : input.takeError();
  std::vector<std::string> arguments = {"-arch=" + arch.str(), "-O" + std::to_string(level), "-v", input->path(), "-o",
                                        output->path()};
  if (keepLines)
    arguments.emplace_back("-lineinfo");
  // The same code in less time: kernels with schedules for short and for long sequences have an entry of each.
  if (ptx.kernels > 1)
    arguments.emplace_back("--split-compile=0");
  Result<ProgramResult> result = runProgram(program, arguments);
  // Assemblers before CUDA 12.1 do not know the option.
  if (result && result->exitCode != 0 && (result->output + result->log).find("split-compile") != std::string::npos) {
    arguments.pop_back();
    result = runProgram(program, arguments);
  }
  if (!result)
    return result.takeError();
  // Reports go to standard output or error, as the version likes.
  const std::string report = result->output + result->log;
  for (const char *sign : {"is not defined for option 'gpu-name'", "Unsupported .version"})
    if (report.find(sign) != std::string::npos)
      return AssembledKernel();
  if (result->exitCode != 0)
    return image::Error{"ptxas: " + summarizeAssemblerErrors(report)};
  Result<std::string> bytes = output->read();
  if (!bytes)
    return bytes.takeError();
  AssembledKernel kernel;
  kernel.cubin.assign(bytes->begin(), bytes->end());
  kernel.report = parseAssemblerLog(report);
  kernel.by = "ptxas";
  kernel.level = level;
  return kernel;
}

/// Assembles `ptx` at a level of optimization, and leaves no files behind. The result is empty where the assembler is
/// too old.
static Result<AssembledKernel> assembleBy(const AssemblerOptions &options, const PtxModule &ptx, StringRef arch,
                                          int level) {
  Assembler assembler = options.assembler;
  bool any = assembler == Assembler::Auto;
  if (any || assembler == Assembler::Ptxas) {
    if (std::string program = findCudaProgram("ptxas"); !program.empty())
      return assembleByPtxas(program, ptx, arch, options.keepLines, level);
    if (!any)
      return image::Error{"there is no ptxas in " + places()};
  }
  if (assembler == Assembler::NvJitLink || (any && !ptx.exchangesRegisters)) {
    if (hasNvJitLink())
      return assembleByNvJitLink(ptx.text, arch, level);
    if (!any)
      return image::Error{"there is no libnvJitLink in the loader's path, " + places()};
  }
  if (options.required)
    return image::Error{"nothing assembles this kernel: there is no ptxas in " + places() +
                        "; 'pip install nvidia-cuda-nvcc' gives one"};
  return AssembledKernel();
}

Result<AssembledKernel> nvptx::assemble(const PtxModule &ptx, StringRef arch, const AssemblerOptions &options) {
  Result<AssembledKernel> kernel = assembleBy(options, ptx, arch, mostOptimized);
  if (kernel && kernel->report.findMostSpilled() > mostSpilled)
    kernel = assembleBy(options, ptx, arch, leastOptimized);
  bool mayBeEmpty = options.assembler == Assembler::None || (options.assembler == Assembler::Auto && !options.required);
  if (kernel && kernel->cubin.empty() && !mayBeEmpty)
    return image::Error{"the assembler is too old for " + arch.str() + " or for this version of PTX"};
  if (kernel || !options.keepRefused)
    return kernel;
  image::Error error = kernel.takeError();
  if (Result<TemporaryFile> file = TemporaryFile::create("attnc-refused", "ptx", ptx.text)) {
    error.message += "; the PTX is in " + file->path();
    file->keep();
  }
  return error;
}

std::string nvptx::describeAssembler() {
  std::string file = findCudaProgram("ptxas");
  if (file.empty())
    file = getNvJitLinkPath();
  return file.empty() ? file : describeTool(file);
}

Result<std::string> nvptx::disassemble(llvm::ArrayRef<uint8_t> cubin) {
  std::string program = findCudaProgram("nvdisasm");
  if (program.empty())
    return image::Error{"there is no nvdisasm in " + places() + "; 'pip install nvidia-cuda-nvdisasm' gives one"};
  StringRef bytes(reinterpret_cast<const char *>(cubin.data()), cubin.size());
  Result<TemporaryFile> input = TemporaryFile::create("attnc", "cubin", bytes);
  if (!input)
    return input.takeError();
  Result<ProgramResult> result = runProgram(program, {"--print-code", input->path()});
  if (!result)
    return result.takeError();
  if (result->exitCode != 0)
    return image::Error{"nvdisasm: " + StringRef(result->log).trim().str()};
  return std::move(result->output);
}
