//===- HostCpu.cpp - Facts about the machine we run on ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/target/HostCpu.h"
#include "codegen/image/MatrixTiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace mlir;
using namespace attnc;

/// Bytes of a cache as the system tells, or `otherwise` where it does not.
static int64_t cacheBytes(int name, int64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

attn::CpuTargetAttr target::getHostCpu(MLIRContext *context) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  bool tiles = host.lookup("amx-bf16") && host.lookup("avx512bf16") && image::permitMatrixTiles();
  SmallVector<std::string> features;
  for (const auto &feature : host)
    if (feature.second && (tiles || !feature.first().starts_with("amx")))
      features.push_back(("+" + feature.first()).str());
  llvm::sort(features);

  // Zen starts as many of them in a cycle as multiply-adds, Intel's cores half as many.
  bool dots = !tiles && host.lookup("avx512bf16") && llvm::sys::getHostCPUName().starts_with("znver");

  // Wider registers pay only with fused multiply-add at that width.
  int64_t bits = 128, registers = 16;
  if (host.lookup("avx512f")) {
    bits = 512;
    registers = 32;
  } else if (host.lookup("avx2") && host.lookup("fma")) {
    bits = 256;
  }
  return attn::CpuTargetAttr::get(context, llvm::sys::getHostCPUName(), llvm::join(features, ","), bits, registers,
                                  cacheBytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10),
                                  cacheBytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10), tiles, dots);
}
