//===- CudaTools.cpp - Programs and libraries of the CUDA toolkit -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/CudaTools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>
#include <optional>

using namespace attnc;
using namespace attnc::nvptx;
using llvm::SmallString;
using llvm::StringRef;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string joinPath(const llvm::Twine &a, const llvm::Twine &b, const llvm::Twine &c = "") {
  SmallString<128> joined;
  path::append(joined, a, b, c);
  return joined.str().str();
}

/// The folders in `folder` whose names begin with `prefix`, later names first: newer versions, most often.
static std::vector<std::string> subfolders(const std::string &folder, StringRef prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (path::filename(it->path()).starts_with(prefix) && fs::is_directory(it->path()))
      found.push_back(it->path());
  llvm::sort(found, std::greater<>());
  return found;
}

/// The folders `nvidia/<part>` that packages of PyPI install, and what Triton brings, in the environments whose `bin`
/// is in the PATH and in the user's own.
static std::vector<std::string> pythonParts() {
  std::vector<std::string> prefixes;
  if (std::optional<std::string> variable = llvm::sys::Process::GetEnv("PATH")) {
    llvm::SmallVector<StringRef> folders;
    StringRef(*variable).split(folders, ':', -1, /*KeepEmpty=*/false);
    for (StringRef folder : folders)
      prefixes.push_back(path::parent_path(folder.rtrim('/')).str());
  }
  SmallString<128> home;
  if (path::home_directory(home))
    prefixes.push_back(joinPath(home, ".local"));
  std::vector<std::string> parts;
  for (const std::string &prefix : prefixes)
    for (const std::string &python : subfolders(joinPath(prefix, "lib"), "python3"))
      for (StringRef packages : {"site-packages", "dist-packages"}) {
        for (std::string &part : subfolders(joinPath(python, packages, "nvidia"), ""))
          parts.push_back(std::move(part));
        parts.push_back(joinPath(python, packages, "triton/backends/nvidia"));
      }
  return parts;
}

/// Where toolkits are, likeliest first.
static std::vector<std::string> toolkits() {
  std::vector<std::string> found;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> folder = llvm::sys::Process::GetEnv(name); folder && !folder->empty())
      found.push_back(*folder);
  found.emplace_back("/usr/local/cuda");
  for (std::string &part : pythonParts())
    found.push_back(std::move(part));
  return found;
}

std::string nvptx::findCudaProgram(StringRef name) {
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
    return *found;
  for (const std::string &toolkit : toolkits())
    if (std::string candidate = joinPath(toolkit, "bin", name); fs::can_execute(candidate))
      return candidate;
  return "";
}

std::vector<std::string> nvptx::findCudaLibrary(StringRef name) {
  std::vector<std::string> found = {name.str()};
  for (const std::string &toolkit : toolkits())
    for (StringRef folder : {"lib64", "lib"})
      if (std::string candidate = joinPath(toolkit, folder, name); fs::exists(candidate))
        found.push_back(std::move(candidate));
  return found;
}

bool nvptx::openCudaLibrary(StringRef stem,
                            llvm::function_ref<bool(void *library, StringRef path, StringRef major)> bind) {
  for (StringRef major : {"13", "12"})
    for (const std::string &path : findCudaLibrary((stem + major).str())) {
      // It takes long to open the first time.
      void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library)
        continue;
      if (bind(library, path, major))
        return true;
      dlclose(library);
    }
  return false;
}

std::string nvptx::describeTool(StringRef file) {
  fs::file_status status;
  if (fs::status(file, status))
    return file.str();
  auto time = status.getLastModificationTime().time_since_epoch();
  return file.str() + ' ' + std::to_string(status.getSize()) + ' ' + std::to_string(time.count());
}
