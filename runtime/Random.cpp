//===- Random.cpp - Random tensors ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/Random.h"

using attnc::image::normalAt;
using attnc::image::uniformAt;

namespace attnc::runtime {

void fillUniform(const Tensor &tensor, uint64_t seed, uint64_t stream, double low, double high) {
  tensor.forEach([&](int64_t linear, void *element) {
    const double u = uniformAt(seed, stream, linear);
    storeScalar(tensor.dtype(), element, low + (high - low) * u);
  });
}

void fillNormal(const Tensor &tensor, uint64_t seed, uint64_t stream, double mean, double deviation) {
  tensor.forEach([&](int64_t linear, void *element) {
    const double z = normalAt(seed, stream, linear);
    storeScalar(tensor.dtype(), element, mean + deviation * z);
  });
}

} // namespace attnc::runtime
