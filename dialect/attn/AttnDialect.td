//===- AttnDialect.td - The attn dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_DIALECT
#define ATTNC_DIALECT_ATTN_DIALECT

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attnc::attn";
  let summary = "What an attention variant computes";
  let description = [{
    One function is one kernel. Its body holds `attn.forward` (or `attn.weights`), whose regions say what a logit becomes
    (`score`) and which logits are kept (`mask`), in ordinary `arith` and `math` plus the sugar operations below. Nothing
    here says how it is computed.

    Rules are numbered S1 to S18; docs/spec.md lists them, and a diagnostic ends with the number of the rule it enforces.
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
