//===- ReferenceTestSupport.h - Specs and arrays for tests ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_REFERENCE_REFERENCETESTSUPPORT_H
#define ATTNC_TEST_UNIT_REFERENCE_REFERENCETESTSUPPORT_H

#include "dialect/reference/Reference.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace attnc::test {

using Shape = llvm::ArrayRef<int64_t>;

/// What the text of a kernel with head dims of 8 depends on.
struct SpecOptions {
  std::string clauses = {};   ///< after the operands
  std::string arguments = {}; ///< more arguments of the function: ", %x: type"
  int queryHeads = 1, keyHeads = 1;
  std::string dtype = "f32";
  bool packed = false;
};

/// A function with one `attn.forward`, returning out and lse.
std::string forwardSpec(const SpecOptions &options);
/// The same with one `attn.weights`.
std::string weightsSpec(const SpecOptions &options);

/// A kernel with what it runs on. Elements are held in the dtypes of the spec; results in f64, poisoned with NaN.
class Call {
public:
  /// Parses `spec`; `expand` replaces sugar by its expansion, `simplify` canonicalizes then.
  explicit Call(const std::string &spec, bool expand = false, bool simplify = false);

  /// Binds the next argument: to given elements in row-major order, or to fixed pseudo-random ones in [-1, 1],
  /// multiples of 1/1024.
  Call &tensor(Shape shape, llvm::ArrayRef<double> elements);
  Call &random(Shape shape);
  Call &number(double value);
  Call &integer(int64_t value);
  /// Binds query, key and value of [B, S, H, 8] at random.
  Call &randomQkv(int64_t batch, int64_t queries, int64_t keys, int64_t queryHeads = 1, int64_t keyHeads = 1);

  /// Adds the shape of the next result.
  Call &result(Shape shape);
  /// Adds those of out and lse for randomQkv's shapes.
  Call &results(int64_t batch, int64_t queries, int64_t queryHeads = 1);

  /// Runs; false where the reference refuses. The last diagnostic is in `message`.
  bool run(attn::ReferenceOptions options = {});
  /// The gradients of sum(weight * result) for all floating tensors, where the weights are fixed pseudo-random numbers.
  bool runBackward(attn::ReferenceOptions options = {});
  /// The value of that sum after a run.
  double loss();

  double in(unsigned argument, Shape indices) const {
    return std::get<attn::HostArray>(inputs[argument]).load(indices);
  }
  double out(Shape indices) const { return outputs[0].load(indices); }
  double lse(Shape indices) const { return outputs[1].load(indices); }

  attn::KernelFunction kernel;
  std::vector<attn::ReferenceValue> inputs;
  std::vector<attn::HostArray> outputs;
  std::vector<std::optional<attn::HostArray>> gradients; ///< one an argument, after runBackward
  std::string message;

private:
  attn::HostArray allocate(mlir::Type type, Shape shape);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::deque<std::vector<double>> storage; ///< big enough for every element type
  unsigned drawn = 0;                      ///< streams of random numbers used so far
};

/// A fixed pseudo-random number in [-1, 1], a multiple of 1/1024.
double randomNumber(uint64_t stream, uint64_t index);

/// Score and mask of a plain implementation: (s, b, h, i, j) with i and j as stored rows.
using PlainScore = std::function<double(double s, int b, int h, int i, int j)>;
using PlainMask = std::function<bool(int b, int h, int i, int j)>;

/// Compares the results of a padded call to softmax written down once more, without sinks and dropout.
void expectPlain(const Call &call, double scale, const PlainScore &score, const PlainMask &mask);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_REFERENCE_REFERENCETESTSUPPORT_H
