//===- AttnAttrs.td - Attributes of the attn dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_ATTRS
#define ATTNC_DIALECT_ATTN_ATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/attn/AttnDialect.td"

def Attn_AlignTopLeft : I32EnumAttrCase<"TopLeft", 0, "top_left">;
def Attn_AlignBottomRight : I32EnumAttrCase<"BottomRight", 1, "bottom_right">;

/// Where query 0 stands among the keys (S2).
def Attn_Alignment : I32EnumAttr<"Alignment", "position of the first query among the keys",
                                 [Attn_AlignTopLeft, Attn_AlignBottomRight]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_AlignmentAttr : EnumAttr<Attn_Dialect, Attn_Alignment, "alignment">;

def Attn_ScheduleAttr : AttrDef<Attn_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a kernel is tiled and ordered";
  let description = [{
    Data that `attn-select-schedule` attaches and `attn-to-tile` follows; a spec may carry its own, and then that one is
    checked and kept.

    - `query_tile`: query rows of one tile program.
    - `key_tile`: keys of one step of its loop.
    - `panel`: rows that go through the softmax together: the SIMD lanes of one register block on a CPU, the rows of one
      consumer on a GPU. Divides `query_tile`.

    Example: `#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>`
  }];
  let parameters = (ins "int64_t":$query_tile, "int64_t":$key_tile, "int64_t":$panel);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_CpuTargetAttr : AttrDef<Attn_Dialect, "CpuTarget"> {
  let mnemonic = "cpu";
  let summary = "Facts about a CPU";
  let description = [{
    The machine to compile for, as the module attribute `attn.target`; `codegen/target` fills it in for the host.

    - `cpu`, `features`: names in LLVM's form.
    - `vector_bits`, `vector_registers`: SIMD registers.
    - `l1_bytes`, `l2_bytes`: data caches of one core.

    Example: `#attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16,
    l1_bytes = 32768, l2_bytes = 524288>`
  }];
  let parameters = (ins StringRefParameter<"LLVM name of the CPU">:$cpu, StringRefParameter<"LLVM features">:$features,
                        "int64_t":$vector_bits, "int64_t":$vector_registers, "int64_t":$l1_bytes, "int64_t":$l2_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // ATTNC_DIALECT_ATTN_ATTRS
