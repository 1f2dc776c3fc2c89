//===- RandomInputs.h - Inputs to test a kernel with ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Draws arguments by what the kernel uses them for, so that any spec can be tested without a word about its inputs: the
// same seed gives the same inputs on every machine.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_RANDOMINPUTS_H
#define ATTNC_RUNTIME_JIT_RANDOMINPUTS_H

#include "runtime/Arguments.h"
#include "runtime/jit/Shapes.h"

namespace attnc::jit {

/// How to draw inputs.
struct RandomOptions {
  uint64_t seed = 0;
  /// Multiplies queries, keys and values.
  double valueScale = 1;
  /// Whether tensors that no mask reads are drawn; what looks at masks alone leaves them unspecified.
  bool drawValues = true;
  /// Whether what a backward takes of forward is what forward gives, by the reference, which long sequences take long
  /// for. Else it is drawn as well: gradients are then those of no forward, and take as long.
  bool computeSaved = true;
};

/// An error where there are more than 2^20 sequences, or where arguments and results together take more bytes than this
/// machine has memory.
image::Status checkSizes(const attn::KernelFunction &kernel, const Shapes &shapes);

/// A value for each input of `kernel`. Plain floats are normal; lengths lie in [0, S] with 0 and 1 among them;
/// cumulative lengths make sequences of all sizes, empty ones among them; segment ids run in documents and end in
/// padding; masks keep most; scalars take values that models use; what a backward takes of forward is as `options`
/// says. Fails where there is not enough memory.
image::Result<std::vector<runtime::ArgValue>> makeRandomInputs(const attn::KernelFunction &kernel, const Shapes &shapes,
                                                               const RandomOptions &options = {});

/// Row-major results for `kernel`, poisoned so that an element that is not written shows. `dtype` replaces that of each
/// result where it is given. Fails where there is not enough memory.
image::Result<std::vector<runtime::Tensor>> allocateOutputs(const attn::KernelFunction &kernel, const Shapes &shapes,
                                                            std::optional<image::DType> dtype = std::nullopt);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_RANDOMINPUTS_H
