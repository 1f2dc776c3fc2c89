//===- NvJitLink.cpp - The toolkit's assembler as a library -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvJitLink.h"
#include "codegen/nvptx/CudaTools.h"
#include "llvm/ADT/ScopeExit.h"
#include <dlfcn.h>

using namespace attnc;
using namespace attnc::nvptx;
using image::Result;
using llvm::StringRef;

namespace {

/// The part of the library's interface that is used (nvJitLink.h of CUDA 12 and 13). Results are 0 for success.
struct Library {
  using Handle = struct OpaqueHandle *;

  int (*create)(Handle *handle, uint32_t numOptions, const char **options) = nullptr;
  int (*destroy)(Handle *handle) = nullptr;
  int (*addData)(Handle handle, int inputType, const void *data, size_t size, const char *name) = nullptr;
  int (*complete)(Handle handle) = nullptr;
  int (*getCubinSize)(Handle handle, size_t *size) = nullptr;
  int (*getCubin)(Handle handle, void *cubin) = nullptr;
  int (*getErrorLogSize)(Handle handle, size_t *size) = nullptr;
  int (*getErrorLog)(Handle handle, char *log) = nullptr;
  int (*getInfoLogSize)(Handle handle, size_t *size) = nullptr;
  int (*getInfoLog)(Handle handle, char *log) = nullptr;
  /// Since CUDA 12.3; null before.
  int (*getVersion)(unsigned *major, unsigned *minor) = nullptr;

  /// Whether it knows `arch`. Asked for one that it does not know, it ends the process.
  bool knows(StringRef arch) const {
    int number = 0;
    if (!arch.consume_front("sm_") || arch.rtrim("af").getAsInteger(10, number) || number < 75)
      return false;
    unsigned major = 12, minor = 0;
    if (getVersion && getVersion(&major, &minor) != 0)
      return false;
    // CUDA 12.0 knows those up to 9.0, CUDA 12.8 those up to 12.0.
    return number <= 90 || (number <= 120 && std::pair(major, minor) >= std::pair(12u, 8u));
  }
};

} // namespace

/// `NVJITLINK_INPUT_PTX`.
static constexpr int inputPtx = 2;

/// Finds `function` under its plain name, or under the one that headers of the library's major version give it.
template <typename Function>
static bool bindFunction(void *library, StringRef name, StringRef version, Function &function) {
  void *address = dlsym(library, ("nvJitLink" + name).str().c_str());
  if (!address)
    address = dlsym(library, ("__nvJitLink" + name + "_" + version).str().c_str());
  function = reinterpret_cast<Function>(address);
  return address;
}

/// The library's functions, or null.
static const Library *findLibrary() {
  static const Library *found = []() -> const Library * {
    static Library functions;
    auto bind = [](void *library, StringRef, StringRef major) {
      std::string version = (major + "_0").str();
      auto get = [&](StringRef name, auto &function) { return bindFunction(library, name, version, function); };
      (void)get("Version", functions.getVersion);
      return get("Create", functions.create) && get("Destroy", functions.destroy) &&
             get("AddData", functions.addData) && get("Complete", functions.complete) &&
             get("GetLinkedCubinSize", functions.getCubinSize) && get("GetLinkedCubin", functions.getCubin) &&
             get("GetErrorLogSize", functions.getErrorLogSize) && get("GetErrorLog", functions.getErrorLog) &&
             get("GetInfoLogSize", functions.getInfoLogSize) && get("GetInfoLog", functions.getInfoLog);
    };
    return openCudaLibrary("libnvJitLink.so.", bind) ? &functions : nullptr;
  }();
  return found;
}

bool nvptx::hasNvJitLink() { return findLibrary() != nullptr; }

std::string nvptx::getNvJitLinkPath() {
  const Library *library = findLibrary();
  Dl_info info = {};
  bool known = library && dladdr(reinterpret_cast<void *>(library->create), &info) != 0 && info.dli_fname;
  return known ? info.dli_fname : "";
}

Result<AssembledKernel> nvptx::assembleByNvJitLink(StringRef ptx, StringRef arch, int level) {
  const Library &library = *findLibrary();
  std::string archOption = ("-arch=" + arch).str();
  std::string levelOption = "-O" + std::to_string(level);
  const char *options[] = {archOption.c_str(), levelOption.c_str(), "-verbose"};
  Library::Handle handle = nullptr;
  if (!library.knows(arch) || library.create(&handle, std::size(options), options) != 0)
    return AssembledKernel();
  llvm::scope_exit destroy([&] { library.destroy(&handle); });
  // The library reads PTX as a string that ends with a zero.
  std::string text = ptx.str();
  size_t size = 0;
  AssembledKernel kernel;
  if (library.addData(handle, inputPtx, text.c_str(), text.size() + 1, "kernel") != 0 ||
      library.complete(handle) != 0 || library.getCubinSize(handle, &size) != 0)
    return image::Error{"nvJitLink: " +
                        summarizeAssemblerErrors(readCudaLog(handle, library.getErrorLogSize, library.getErrorLog))};
  kernel.cubin.resize(size);
  if (library.getCubin(handle, kernel.cubin.data()) != 0)
    return image::Error{"nvJitLink does not hand out what it made"};
  kernel.report = parseAssemblerLog(readCudaLog(handle, library.getInfoLogSize, library.getInfoLog));
  kernel.by = "nvJitLink";
  kernel.level = level;
  return kernel;
}
