//===- PhiloxEmitter.h - Random numbers for accumulators --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_PHILOXEMITTER_H
#define ATTNC_CODEGEN_NVPTX_PHILOXEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits the numbers of a thread's elements: of a block of sixteen rows and columns a thread has eight, and they share
/// a call where rows are queries. Where rows are keys, they are of two calls, of which two lanes make one each.
class PhiloxEmitter {
public:
  explicit PhiloxEmitter(EmitContext &context) : context(context), ptx(context.ptx) {}

  void emit(tile::PhiloxOp op);

private:
  using Words = std::array<mlir::Value, 4>;
  Words ofQueryRows(const Words &words);
  Words ofKeyRows(const Words &words, mlir::Value isOdd);

  EmitContext &context;
  Ptx &ptx;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_PHILOXEMITTER_H
