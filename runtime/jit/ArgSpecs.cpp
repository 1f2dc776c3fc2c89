//===- ArgSpecs.cpp - A kernel's arguments for the runtime ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/ArgSpecs.h"
#include "runtime/jit/Types.h"
#include <limits>

using namespace attnc;
using attn::ArgumentUse;
using runtime::ArgSpec;
using runtime::ContentRule;

/// What the elements or the value of an argument must be, by what it is for (S18).
static void applyUse(ArgSpec &spec, const attn::KernelFunction &kernel, ArgumentUse use) {
  auto content = [&](ContentRule rule, llvm::StringRef first, llvm::StringRef second) {
    spec.content = rule;
    int symbol = kernel.findSymbol(first);
    spec.contentSymbol = symbol >= 0 ? symbol : kernel.findSymbol(second);
  };
  switch (use) {
  case ArgumentUse::QueryLengths:
    return content(ContentRule::Lengths, "Sq", "Sk");
  case ArgumentUse::KeyLengths:
    return content(ContentRule::Lengths, "Sk", "Sq");
  case ArgumentUse::QueryOffsets:
    return content(ContentRule::CumulativeLengths, "Tq", "Tk");
  case ArgumentUse::KeyOffsets:
    return content(ContentRule::CumulativeLengths, "Tk", "Tq");
  case ArgumentUse::Probability:
    spec.min = 0;
    spec.max = 1;
    spec.notNaN = true;
    return;
  case ArgumentUse::Window:
    spec.min = 0;
    return;
  case ArgumentUse::Cap:
    spec.min = std::numeric_limits<float>::denorm_min();
    spec.notNaN = true;
    return;
  case ArgumentUse::Scale:
    spec.notNaN = true;
    return;
  default:
    return;
  }
}

runtime::KernelImage jit::describeArguments(const attn::KernelFunction &kernel) {
  runtime::KernelImage image;
  mlir::func::FuncOp function = kernel.function;
  image.name = function.getName().str();
  image.symbols.assign(kernel.symbols.begin(), kernel.symbols.end());
  auto add = [&](const attn::KernelArgument &argument, runtime::ArgRole role) {
    ArgSpec &spec = image.args.emplace_back();
    spec.name = argument.name;
    spec.kind = argument.isTensor() ? runtime::ArgKind::Tensor : runtime::ArgKind::Scalar;
    spec.role = role;
    spec.dtype = elementDType(argument);
    spec.isIndex = getElementTypeOrSelf(argument.type).isIndex();
    spec.unitInnerStride = argument.unitInnerStride;
    for (const attn::KernelDim &dim : argument.dims)
      spec.dims.push_back({mlir::ShapedType::isDynamic(dim.size) ? -1 : dim.size, dim.symbol, dim.broadcast});
    applyUse(spec, kernel, argument.use);
  };
  for (const attn::KernelArgument &input : kernel.inputs)
    add(input, runtime::ArgRole::Input);
  for (const attn::KernelArgument &output : kernel.outputs)
    add(output, runtime::ArgRole::Output);
  return image;
}
