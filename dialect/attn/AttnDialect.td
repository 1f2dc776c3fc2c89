//===- AttnDialect.td - The attn dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_DIALECT
#define ATTNC_DIALECT_ATTN_DIALECT

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attnc::attn";
  let summary = "What an attention variant computes, and the machines and schedules that it is compiled for";
  let description = [{
    One function is one kernel. Its body holds `attn.forward` (or `attn.weights`, or of gradients `attn.backward`), whose
    regions say what a logit becomes (`score`) and which logits are kept (`mask`), in ordinary `arith` and `math` plus the
    sugar operations below. What an operation means depends on nothing else.

    How it is computed is said by attributes that may stand beside: targets (`#attn.cpu`, `#attn.gpu`) have the facts of
    a machine, and schedules (`#attn.schedule`) tile sizes and how steps overlap. Passes attach them, or a spec carries a
    schedule of its own; results mean the same with any, up to rounding.

    Rules are numbered S1 to S19; docs/spec.md lists them, and a diagnostic ends with the number of the rule it enforces.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes of AttnAttrs.td.
    void registerAttributes();
  }];
}

#endif // ATTNC_DIALECT_ATTN_DIALECT
