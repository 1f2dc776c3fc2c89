//===- JitTestSupport.cpp - Specs that are open -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/jit/JitTestSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace attnc;
using namespace attnc::test;

/// "%n: tensor<?xi32> {attn.name = "n"}" of each of `arguments`, which commas part.
static std::string declare(llvm::StringRef arguments) {
  std::string text;
  for (llvm::StringRef argument : llvm::split(arguments, ", "))
    if (!argument.empty())
      text += (", " + argument + " {attn.name = \"" + argument.split(':').first.drop_front() + "\"}").str();
  return text;
}

/// A spec whose rows are of type `rows`, "?x?x" or "?x".
static std::string makeSpec(const std::string &rows, const std::string &lse, const std::string &arguments,
                            const std::string &body) {
  std::string q = "tensor<" + rows + "2x8xf32>", k = "tensor<" + rows + "1x8xf32>";
  std::string named = declare("%q: " + q + ", %k: " + k + ", %v: " + k);
  return "func.func @kernel(" + named.substr(2) + declare(arguments) + ")\n    -> (" + q + " {attn.name = \"out\"}, " +
         lse + " {attn.name = \"lse\"}) {\n  %o, %lse = attn.forward %q, %k, %v " + body + "\n    : (" + q + ", " + k +
         ", " + k + ") -> (" + q + ", " + lse + ")\n  return %o, %lse : " + q + ", " + lse + "\n}\n";
}

std::string test::paddedSpec(const std::string &arguments, const std::string &body) {
  return makeSpec("?x?x", "tensor<?x2x?xf32>", arguments, body);
}

std::string test::packedSpec(const std::string &arguments, const std::string &body) {
  std::string offsets = "%qo: tensor<?xi32>, %ko: tensor<?xi32>";
  return makeSpec("?x", "tensor<2x?xf32>", offsets + (arguments.empty() ? "" : ", ") + arguments,
                  "varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>) " + body);
}

OpenSpec::OpenSpec(const std::string &text) {
  image::Status status = session.openText(text, "spec");
  EXPECT_TRUE(static_cast<bool>(status)) << diagnostics << text;
  auto found = session.findKernel();
  EXPECT_TRUE(static_cast<bool>(found)) << diagnostics << text;
  kernel = std::move(*found);
}

jit::Shapes test::shapesOf(const attn::KernelFunction &kernel, const std::string &shape,
                           llvm::ArrayRef<std::string> dims) {
  auto request = jit::parseShape(shape, dims);
  EXPECT_TRUE(static_cast<bool>(request)) << request.message();
  auto shapes = jit::Shapes::resolve(kernel, *request);
  EXPECT_TRUE(static_cast<bool>(shapes)) << shapes.message();
  return std::move(*shapes);
}

size_t test::inputIndex(const attn::KernelFunction &kernel, llvm::StringRef name) {
  for (auto [index, input] : llvm::enumerate(kernel.inputs))
    if (input.name == name)
      return index;
  ADD_FAILURE() << "no input is called '" << name.str() << "'";
  return 0;
}

std::vector<double> test::elements(const runtime::Tensor &tensor) {
  std::vector<double> values;
  tensor.forEach([&](int64_t, void *element) { values.push_back(image::loadScalar(tensor.dtype(), element)); });
  return values;
}

std::string test::bytes(const runtime::Tensor &tensor) {
  EXPECT_TRUE(tensor.isContiguous());
  return {static_cast<const char *>(tensor.data()), static_cast<size_t>(tensor.numBytes())};
}
