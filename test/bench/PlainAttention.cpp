//===- PlainAttention.cpp - The peer: attention on OpenBLAS -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/PlainAttention.h"
#include "test/bench/PlainSoftmax.h"
#include <algorithm>
#include <cblas.h>
#include <cmath>

using namespace attnc;
using namespace attnc::bench;
using image::Result;
using runtime::Tensor;
using runtime::ThreadPool;

/// Whether heads go to cores, and not the rows of one head.
static bool splitsHeads(const Workload &workload) { return workload.heads >= ThreadPool::shared().numWorkers(); }

Result<PlainAttention> PlainAttention::make(const Workload &workload) {
  openblas_set_num_threads(1);
  PlainAttention plain(workload);
  int64_t buffers = splitsHeads(workload) ? ThreadPool::shared().numWorkers() : 1;
  Result<Tensor> scores = Tensor::allocate(image::DType::F32, {buffers, workload.sequence, workload.sequence});
  if (!scores)
    return scores.takeError();
  plain.scores = std::move(*scores);
  return plain;
}

std::string PlainAttention::version() {
  std::string config = openblas_get_config();
  config.erase(config.find_last_not_of(' ') + 1);
  return config + ", " + openblas_get_corename() + " kernels";
}

void PlainAttention::runRows(const Operands &operands, int64_t head, int64_t begin, int64_t end, float *scores) const {
  int64_t keys = workload.sequence, dim = workload.headDim, stride = workload.heads * dim;
  auto at = [&](const Tensor &tensor, int64_t row) { return tensor.data<float>() + row * stride + head * dim; };
  float scale = 1 / std::sqrt(static_cast<float>(dim));
  float *first = scores + begin * keys;
  int64_t rows = end - begin;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, dim, scale, at(operands.query, begin), stride,
              at(operands.key, 0), stride, 0, first, keys);
  for (int64_t i = begin; i < end; ++i) {
    float *row = scores + i * keys;
    auto [low, high] = workload.keysOf(i);
    std::fill(row, row + low, -INFINITY);
    std::fill(row + high, row + keys, -INFINITY);
    softmaxRow(row, keys);
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, dim, keys, 1, first, keys, at(operands.value, 0), stride,
              0, at(operands.out, begin), stride);
}

void PlainAttention::run(const Operands &operands) const {
  ThreadPool &pool = ThreadPool::shared();
  int64_t rows = workload.sequence;
  if (splitsHeads(workload))
    return pool.parallelFor(workload.heads, [&](int64_t head, unsigned worker) {
      runRows(operands, head, 0, rows, scores.data<float>() + worker * rows * rows);
    });
  int64_t parts = pool.numWorkers();
  for (int64_t head = 0; head < workload.heads; ++head)
    pool.parallelFor(parts, [&](int64_t part, unsigned) {
      runRows(operands, head, rows * part / parts, rows * (part + 1) / parts, scores.data<float>());
    });
}
