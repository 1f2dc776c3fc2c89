//===- CachedCompile.cpp - Kernels that are compiled once -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/engine/CachedCompile.h"
#include "runtime/engine/BuildId.h"

using namespace mlir;
using namespace attnc;
using cache::CachedImage;
using cache::Digest;
using cache::KernelCache;
using cache::KeyBuilder;
using image::KernelImage;
using image::Result;

Digest engine::getBuild(Attribute target) {
  return KeyBuilder("build").add(getBuildId()).add(jit::getBackend(target).describeTools(target)).digest();
}

/// `attribute` as MLIR writes it.
static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// `function` in the form that has no names of values, and no places.
static std::string print(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope().enableDebugInfo(false));
  return text;
}

Digest engine::getKey(const attn::KernelFunction &kernel, Attribute target) {
  const Digest build = getBuild(target);
  return KeyBuilder("kernel")
      .add(print(kernel.function))
      .add(print(target))
      .add({reinterpret_cast<const char *>(build.data()), build.size()})
      .digest();
}

Result<KernelImage> engine::compile(jit::Session &session, const attn::KernelFunction &kernel, Attribute target) {
  Result<KernelImage> image = jit::compileToImage(session, kernel, target);
  if (image)
    image->buildId = getBuildId();
  return image;
}

Result<CachedImage> engine::compileCached(jit::Session &session, const attn::KernelFunction &kernel, Attribute target,
                                          KernelCache &cache) {
  target = jit::targetOrHost(&session.context(), target);
  return cache.getOrMake(getKey(kernel, target), [&] { return compile(session, kernel, target); });
}

Result<KernelImage> engine::compileInto(KernelCache &cache, jit::Session &session, const attn::KernelFunction &kernel,
                                        Attribute target) {
  target = jit::targetOrHost(&session.context(), target);
  Result<KernelImage> image = compile(session, kernel, target);
  if (image)
    cache.put(getKey(kernel, target), *image);
  return image;
}
