//===- ShippedKernels.cpp - Kernels that were compiled elsewhere *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/Place.h"
#include "runtime/cache/CacheKey.h"
#include "runtime/capi/Compiler.h"

using namespace attnc;
using namespace attnc::capi;
using cache::CachedImage;
using cache::Digest;
using cache::KernelCache;

std::string capi::describeMachine(const cuda::DeviceFacts &gpu) {
  std::string facts = gpu.architecture();
  for (int64_t number : {int64_t{gpu.multiprocessors}, gpu.sharedBytes, gpu.l2Bytes})
    facts += ' ' + std::to_string(number);
  return facts;
}

/// The targets whose machine code runs on `gpu`, the best first: code of an architecture with a letter runs on that one
/// alone, other code on later ones of its major version.
static std::vector<std::string> listTargets(const cuda::DeviceFacts &gpu) {
  const std::string major = std::string(runtime::gpuTarget) + ":sm_" + std::to_string(gpu.major);
  std::vector<std::string> targets = {major + std::to_string(gpu.minor) + "a"};
  for (int minor = gpu.minor; minor >= 0; --minor)
    targets.push_back(major + std::to_string(minor));
  return targets;
}

Compiled capi::findWithoutCompiler(const CompileRequest &request, KernelCache &cache) {
  const SpecSource &spec = *request.spec;
  const std::string wish = request.target, machine = request.gpu ? describeMachine(request.gpu->facts()) : "";
  std::vector<Digest> requests;
  for (std::string_view choice : {cache::anyChoice, std::string_view()})
    requests.push_back(
        cache::keyOf({spec.text, spec.entry, wish, machine, request.schedule, request.backward, choice}));
  const std::vector<std::string> targets =
      request.gpu && wish == runtime::gpuTarget ? listTargets(request.gpu->facts()) : std::vector<std::string>{wish};
  for (const std::string &target : targets)
    requests.push_back(cache::keyOf({spec.text, spec.entry, target, "", request.schedule, request.backward}));
  for (const Digest &key : requests)
    for (const Digest &kernel : cache.findAliases(key))
      if (std::optional<CachedImage> image = cache.find(kernel))
        return {*image, std::nullopt};
  std::string tried;
  for (const std::string &target : targets)
    tried += (tried.empty() ? "" : ", ") + target;
  const std::string place =
      cache.files() ? "the kernel cache '" + cache.files()->path() + "'" : "no kernel cache is used, which";
  return {{},
          Fault({"this library holds no compiler, and " + place + " has no kernel of spec '" + spec.name + "' for " +
                 tried + "; 'attnc cache import --help' says how kernels come there"},
                ATTNC_ERROR_COMPILER)};
}
