//===- Passes.h - Simulating tile programs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_PASSES_H
#define ATTNC_CODEGEN_SIM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::sim {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/sim/Passes.h.inc"

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_PASSES_H
