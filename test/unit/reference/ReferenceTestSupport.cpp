//===- ReferenceTestSupport.cpp - Specs and arrays for tests ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::test;

static std::string rowsType(const SpecOptions &options, int heads) {
  return std::string(options.packed ? "tensor<?x" : "tensor<?x?x") + std::to_string(heads) + "x8x" + options.dtype +
         ">";
}

std::string attnc::test::forwardSpec(const SpecOptions &options) {
  std::string query = rowsType(options, options.queryHeads), key = rowsType(options, options.keyHeads);
  std::string lse =
      std::string(options.packed ? "tensor<" : "tensor<?x") + std::to_string(options.queryHeads) + "x?xf32>";
  std::string results = "(" + query + ", " + lse + ")";
  return "func.func @kernel(%q: " + query + ", %k: " + key + ", %v: " + key + options.arguments + ") -> " + results +
         " {\n  %o, %lse = attn.forward %q, %k, %v " + options.clauses + " : (" + query + ", " + key + ", " + key +
         ") -> " + results + "\n  return %o, %lse : " + query + ", " + lse + "\n}\n";
}

std::string attnc::test::weightsSpec(const SpecOptions &options) {
  std::string query = rowsType(options, options.queryHeads), key = rowsType(options, options.keyHeads);
  std::string weights = "tensor<?x" + std::to_string(options.queryHeads) + "x?x?x" + options.dtype + ">";
  return "func.func @kernel(%q: " + query + ", %k: " + key + options.arguments + ") -> " + weights +
         " {\n  %w = attn.weights %q, %k " + options.clauses + " : (" + query + ", " + key + ") -> " + weights +
         "\n  return %w : " + weights + "\n}\n";
}

double attnc::test::randomNumber(uint64_t stream, uint64_t index) {
  uint64_t z = stream * 1000003 + index + 1; // splitmix64
  z *= 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return (static_cast<double>(z % 2049) - 1024) / 1024;
}

Call::Call(const std::string &spec, bool expand, bool simplify) {
  context.loadDialect<AttnDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { message = diagnostic.str(); });
  module = parseSourceString<ModuleOp>(spec, &context);
  if (!module) {
    ADD_FAILURE() << message << "\n" << spec;
    return;
  }
  if (expand) {
    module->walk([](SugarOpInterface sugar) {
      OpBuilder builder(sugar);
      sugar->getResult(0).replaceAllUsesWith(sugar.expand(builder));
      sugar->erase();
    });
  }
  if (simplify) {
    PassManager pm(&context);
    pm.addPass(createCanonicalizerPass());
    EXPECT_TRUE(succeeded(pm.run(*module))) << message;
  }
  FailureOr<KernelFunction> read = KernelFunction::get(*module->getOps<func::FuncOp>().begin());
  if (failed(read))
    ADD_FAILURE() << message;
  else
    kernel = *read;
}

HostArray Call::allocate(Type type, Shape shape) {
  int64_t size = 1;
  for (int64_t dim : shape)
    size *= dim;
  storage.emplace_back(size, std::numeric_limits<double>::quiet_NaN());
  return HostArray::dense(type, storage.back().data(), shape);
}

Call &Call::tensor(Shape shape, ArrayRef<double> elements) {
  Type type = cast<RankedTensorType>(kernel.inputs[inputs.size()].type).getElementType();
  HostArray array = allocate(type, shape);
  for (auto [index, element] : llvm::enumerate(elements))
    storeElement(*getElementKind(type), array.data, index, element);
  inputs.emplace_back(array);
  return *this;
}

Call &Call::random(Shape shape) {
  int64_t size = 1;
  for (int64_t dim : shape)
    size *= dim;
  std::vector<double> elements(size);
  for (int64_t index = 0; index < size; ++index)
    elements[index] = randomNumber(drawn, index);
  ++drawn;
  return tensor(shape, elements);
}

Call &Call::number(double value) {
  inputs.emplace_back(value);
  return *this;
}

Call &Call::integer(int64_t value) {
  inputs.emplace_back(value);
  return *this;
}

Call &Call::randomQkv(int64_t batch, int64_t queries, int64_t keys, int64_t queryHeads, int64_t keyHeads) {
  random({batch, queries, queryHeads, 8});
  random({batch, keys, keyHeads, 8});
  return random({batch, keys, keyHeads, 8});
}

Call &Call::result(Shape shape) {
  outputs.push_back(allocate(Float64Type::get(&context), shape));
  return *this;
}

Call &Call::results(int64_t batch, int64_t queries, int64_t queryHeads) {
  result({batch, queries, queryHeads, 8});
  return result({batch, queryHeads, queries});
}

bool Call::run(ReferenceOptions options) { return succeeded(runReference(kernel, inputs, outputs, options)); }

/// Elements of a dense f64 array.
static llvm::MutableArrayRef<double> elementsOf(const HostArray &array) {
  size_t size = 1;
  for (int64_t dim : array.shape)
    size *= dim;
  return {static_cast<double *>(array.data), size};
}

bool Call::runBackward(ReferenceOptions options) {
  std::vector<std::optional<HostArray>> resultGradients;
  for (auto [number, output] : llvm::enumerate(outputs)) {
    resultGradients.emplace_back(allocate(output.elementType, output.shape));
    for (auto [index, element] : llvm::enumerate(elementsOf(*resultGradients.back())))
      element = randomNumber(1000 + number, index);
  }
  gradients.clear();
  for (const ReferenceValue &value : inputs) {
    const HostArray *array = std::get_if<HostArray>(&value);
    bool isFloat = array && isa<FloatType>(array->elementType);
    gradients.push_back(isFloat ? std::optional(allocate(Float64Type::get(&context), array->shape)) : std::nullopt);
  }
  return succeeded(runReferenceBackward(kernel, inputs, resultGradients, gradients, options));
}

double Call::loss() {
  double sum = 0;
  for (auto [number, output] : llvm::enumerate(outputs))
    for (auto [index, element] : llvm::enumerate(elementsOf(output)))
      // A row of nothing has an lse of -inf and no gradient.
      if (std::isfinite(element))
        sum += element * randomNumber(1000 + number, index);
  return sum;
}

void attnc::test::expectPlain(const Call &call, double scale, const PlainScore &score, const PlainMask &mask) {
  Shape query = std::get<HostArray>(call.inputs[0]).shape, key = std::get<HostArray>(call.inputs[1]).shape;
  for (int b = 0; b < query[0]; ++b)
    for (int h = 0; h < query[2]; ++h)
      for (int i = 0; i < query[1]; ++i) {
        int keyHead = h / (query[2] / key[2]);
        double sum = 0, numerator[8] = {};
        for (int j = 0; j < key[1]; ++j) {
          if (mask && !mask(b, h, i, j))
            continue;
          double s = 0;
          for (int d = 0; d < 8; ++d)
            s += call.in(0, {b, i, h, d}) * call.in(1, {b, j, keyHead, d});
          s *= scale;
          double weight = std::exp(score ? score(s, b, h, i, j) : s);
          sum += weight;
          for (int d = 0; d < 8; ++d)
            numerator[d] += weight * call.in(2, {b, j, keyHead, d});
        }
        for (int d = 0; d < 8; ++d)
          EXPECT_NEAR(call.out({b, i, h, d}), sum == 0 ? 0 : numerator[d] / sum, 1e-12)
              << "b " << b << " h " << h << " i " << i << " d " << d;
        if (sum == 0)
          EXPECT_EQ(call.lse({b, h, i}), -std::numeric_limits<double>::infinity());
        else
          EXPECT_NEAR(call.lse({b, h, i}), std::log(sum), 1e-12);
      }
}
