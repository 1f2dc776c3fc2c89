//===- Nvrtc.cpp - CUDA C++ to machine code ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/Nvrtc.h"
#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/CudaTools.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace attnc;
using namespace attnc::nvrtc;
using image::Result;
using llvm::StringRef;

namespace {

/// The part of the library's interface that is used (nvrtc.h of CUDA 12 and 13). Results are 0 for success.
struct Library {
  using Program = struct OpaqueProgram *;

  int (*version)(int *major, int *minor) = nullptr;
  const char *(*errorText)(int result) = nullptr;
  int (*create)(Program *program, const char *source, const char *name, int numHeaders, const char *const *headers,
                const char *const *headerNames) = nullptr;
  int (*destroy)(Program *program) = nullptr;
  int (*compile)(Program program, int numOptions, const char *const *options) = nullptr;
  int (*logSize)(Program program, size_t *size) = nullptr;
  int (*log)(Program program, char *text) = nullptr;
  int (*ptxSize)(Program program, size_t *size) = nullptr;
  int (*ptx)(Program program, char *text) = nullptr;
  int (*cubinSize)(Program program, size_t *size) = nullptr;
  int (*cubin)(Program program, char *bytes) = nullptr;
};

} // namespace

/// Opens what the library at `path` opens by name alone when it compiles. That file is in the same folder, where the
/// loader does not look.
static void openBuiltins(StringRef path) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(llvm::sys::path::parent_path(path), error), end; !error && it != end;
       it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with("libnvrtc-builtins.so."))
      (void)dlopen(it->path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// The library that the environment asks for, empty where it asks for none.
static StringRef askedFor() {
  const char *path = std::getenv("ATTNC_NVRTC");
  return path ? path : "";
}

/// The library's functions, or null.
static const Library *findLibrary() {
  static const Library *found = []() -> const Library * {
    static Library functions;
    auto bind = [](void *library, StringRef path, StringRef) {
      if (llvm::sys::path::has_parent_path(path))
        openBuiltins(path);
      auto get = [&](const char *name, auto &function) {
        void *address = dlsym(library, name);
        function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
        return address != nullptr;
      };
      return get("nvrtcVersion", functions.version) && get("nvrtcGetErrorString", functions.errorText) &&
             get("nvrtcCreateProgram", functions.create) && get("nvrtcDestroyProgram", functions.destroy) &&
             get("nvrtcCompileProgram", functions.compile) && get("nvrtcGetProgramLogSize", functions.logSize) &&
             get("nvrtcGetProgramLog", functions.log) && get("nvrtcGetPTXSize", functions.ptxSize) &&
             get("nvrtcGetPTX", functions.ptx) && get("nvrtcGetCUBINSize", functions.cubinSize) &&
             get("nvrtcGetCUBIN", functions.cubin);
    };
    if (StringRef path = askedFor(); !path.empty()) {
      void *library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
      return library && bind(library, path, "") ? &functions : nullptr;
    }
    return nvptx::openCudaLibrary("libnvrtc.so.", bind) ? &functions : nullptr;
  }();
  return found;
}

/// The errors of a log of the compiler, at most `most` of them, as lines; all of it where there are none.
static std::string summarizeErrors(StringRef log) {
  constexpr size_t most = 8;
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string errors;
  size_t count = 0;
  for (StringRef line : lines)
    if (line.contains("error") && count++ < most)
      errors += "\n  " + line.trim().str();
  return errors.empty() ? log.trim().str() : errors;
}

/// Compiles at a level of optimization of the assembler.
static Result<CompiledCuda> compileAt(int level, const CudaSource &source, StringRef arch, bool toPtx) {
  const Library *library = findLibrary();
  if (!library)
    return image::Error{explainMissing()};
  Library::Program program = nullptr;
  std::string header = getDeviceHeader().str();
  const char *headers[] = {header.c_str()}, *names[] = {"attnc_device.cuh"};
  if (int result = library->create(&program, source.text.c_str(), source.name.c_str(), 1, headers, names))
    return image::Error{std::string("NVRTC: ") + library->errorText(result)};
  llvm::scope_exit destroy([&] { library->destroy(&program); });

  std::string number = arch.substr(arch.find('_') + 1).str();
  std::string archOption = std::string("--gpu-architecture=") + (toPtx ? "compute_" : "sm_") + number;
  llvm::SmallVector<const char *> options = {archOption.c_str(), "--std=c++17", "--fmad=false", "--generate-line-info"};
  std::string levelOption = "--ptxas-options=-O" + std::to_string(level);
  if (!toPtx)
    options.append({"--ptxas-options=-v", levelOption.c_str()});
  int result = library->compile(program, static_cast<int>(options.size()), options.data());
  std::string log = nvptx::readCudaLog(program, library->logSize, library->log);
  if (result)
    return image::Error{std::string("NVRTC: ") + (log.empty() ? library->errorText(result) : summarizeErrors(log))};

  CompiledCuda compiled;
  compiled.report = nvptx::parseAssemblerLog(log);
  auto getSize = toPtx ? library->ptxSize : library->cubinSize;
  auto get = toPtx ? library->ptx : library->cubin;
  size_t size = 0;
  if (getSize(program, &size) != 0)
    return image::Error{"NVRTC does not hand out what it made"};
  compiled.code.resize(size);
  if (size == 0 || get(program, reinterpret_cast<char *>(compiled.code.data())) != 0)
    return image::Error{"NVRTC does not hand out what it made"};
  return compiled;
}

Result<CompiledCuda> nvrtc::compileCuda(const CudaSource &source, StringRef arch, bool toPtx) {
  Result<CompiledCuda> compiled = compileAt(nvptx::mostOptimized, source, arch, toPtx);
  if (compiled && compiled->report.findMostSpilled() > nvptx::mostSpilled)
    return compileAt(nvptx::leastOptimized, source, arch, toPtx);
  return compiled;
}

std::string nvrtc::explainMissing() {
  if (!askedFor().empty())
    return "'" + askedFor().str() + "', which ATTNC_NVRTC names, is no NVRTC of CUDA 12 or 13 that can be opened";
  return "there is no libnvrtc.so.13 or libnvrtc.so.12 in the loader's path, " + nvptx::cudaPlaces.str() +
         "; 'pip install nvidia-cuda-nvrtc' gives one";
}

std::string nvrtc::describeNvrtc() {
  const Library *library = findLibrary();
  if (!library)
    return "";
  int major = 0, minor = 0;
  Dl_info info = {};
  if (library->version(&major, &minor) != 0 || dladdr(reinterpret_cast<void *>(library->create), &info) == 0)
    return "";
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor) + " " + nvptx::describeTool(info.dli_fname);
}
