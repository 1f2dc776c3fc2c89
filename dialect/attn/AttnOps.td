//===- AttnOps.td - Operations of the attn dialect ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_OPS
#define ATTNC_DIALECT_ATTN_OPS

include "dialect/attn/AttnAttrs.td"
include "dialect/attn/AttnDialect.td"
include "dialect/attn/AttnInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// Errors name types as specs write them.
class Attn_Named<Type type, string name> : ConfinedType<type, [], name>;
def Attn_FloatTensor : Attn_Named<RankedTensorOf<[F32, BF16, F16]>, "a tensor of f32, bf16 or f16">;
def Attn_LseTensor : Attn_Named<RankedTensorOf<[F32]>, "a tensor of f32">;
def Attn_IdTensor : Attn_Named<RankedTensorOf<[I32]>, "a tensor of i32">;
def Attn_LengthTensor : Attn_Named<1DTensorOf<[I32]>, "a tensor<?xi32> of lengths or offsets">;
def Attn_PageTable : Attn_Named<2DTensorOf<[I32]>, "a tensor<?x?xi32> of pages">;
def Attn_Seed : Attn_Named<AnyTypeOf<[I64, 1DTensorOf<[I32]>]>, "a seed: an i64, a tensor<2xi32> or a tensor<4xi32>">;
def Attn_LearnedValue : AnyTypeOf<[Attn_FloatTensor, F32]>;

class Attn_KernelOp<string mnemonic, dag operands, list<string> ownMethods = [], list<Trait> ownTraits = []>
    : Attn_Op<mnemonic, !listconcat(ownTraits, [
        Pure, AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<Attn_KernelOpInterface, !listconcat(["getValueOrNull"], ownMethods)>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>])> {
  let arguments = !con(operands, (ins
    Optional<F32>:$scale,
    Optional<Attn_FloatTensor>:$sinks,
    Optional<F32>:$dropout,
    Optional<Attn_Seed>:$seed,
    Optional<Index>:$q_offset,
    Optional<Attn_LengthTensor>:$query_lengths,
    Optional<Attn_LengthTensor>:$key_lengths,
    Optional<Attn_LengthTensor>:$query_offsets,
    Optional<Attn_LengthTensor>:$key_offsets,
    Optional<Attn_PageTable>:$page_table,
    OptionalAttr<F32Attr>:$static_scale,
    OptionalAttr<F32Attr>:$static_dropout,
    DefaultValuedAttr<Attn_AlignmentAttr, "::attnc::attn::Alignment::BottomRight">:$align,
    OptionalAttr<TypedArrayAttrBase<Attn_ScheduleAttr, "schedules">>:$schedules));
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask, MaxSizedRegion<1>:$bounds,
                        MaxSizedRegion<1>:$blocks);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_ForwardOp : Attn_KernelOp<"forward",
    (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key, Attn_FloatTensor:$value)> {
  let summary = "Attention, forward";
  let description = [{
    For query position i and key position j of one batch entry and head:

        s = scale * dot(q_i, k_j)        f32; scale defaults to 1/sqrt(D)                        (S1)
        s = score(s, b, h, i, j)         in the order written                                    (S2)
        s = mask(b, h, i, j) ? s : -inf                                                          (S3)
        p = softmax over j, sinks in the maximum and the denominator                             (S6, S7)
        out_i = sum_j dropout(p_ij) * v_j,   lse_i = ln(sum_j exp(s_ij) + sum exp(sinks))        (S8, S9)

    Clauses, in any order, each at most once:

    - `scale(0.125)` or `scale(%s)`
    - `sinks(%t : tensor<16x1xf32>)`: f32 logits [Hq, n], or [n] for every head
    - `dropout(0.1, %seed)` or `dropout(%p, %seed)`: f32 probability, i64 seed; or `%seed : tensor<2xi32>`, its low half
      and its high half, where the seed lies on the device; or `tensor<4xi32>`, with the numbers of the first batch entry
      and of the first head, where a problem is shared out
    - `align(top_left)`; the default is `bottom_right`, which adds Sk - Sq to every query position, per sequence
    - `q_offset(%n)`: an index added to every query position
    - `lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)`: padded sequences; either may be absent
    - `varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)`: packed sequences by cumulative lengths
    - `paged(%table : tensor<?x?xi32>)`: keys and values are [P, n, Hkv, D], P pages of n rows; row [b, j / n] of the table
      [B, Sk / n] names the page whose row j % n is key j of sequence b. Queries may be packed, by `varlen(query = ...)`
    - `score (%s, %b, %h, %i, %j) { ... attn.yield %x }`
    - `mask (%b, %h, %i, %j) { ... attn.yield %keep }`
    - `schedule(#attn.schedule<...>)`, or several: together they serve every number of queries, each number once
    - `bounds (...) {...}` and `blocks (...) {...}`: derived from the mask by `attn-infer-bounds`

    A row that keeps no key and has no sink gives out 0 and lse -inf (S7). Key head of query head h is
    h / (Hq / Hkv) (S10).

    Example:

    ```mlir
    %o, %lse = attn.forward %q, %k, %v scale(0.0625)
        score (%s, %b, %h, %i, %j) {
          %c = attn.softcap %s, 50.0
          attn.yield %c : f32
        }
        mask (%b, %h, %i, %j) {
          %c = attn.causal %i, %j
          attn.yield %c : i1
        }
        : (tensor<?x?x16x256xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>)
        -> (tensor<?x?x16x256xbf16>, tensor<?x16x?xf32>)
    ```
  }];
  let results = (outs Attn_FloatTensor:$out, Optional<Attn_LseTensor>:$lse);
}

def Attn_WeightsOp : Attn_KernelOp<"weights", (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key)> {
  let summary = "Attention probabilities";
  let description = [{
    The probabilities [B, Hq, Sq, Sk] that `attn.forward` with the same clauses multiplies the values with, after dropout.
    They take O(Sq * Sk) memory by nature; packed sequences are refused.

    Example:

    ```mlir
    %w = attn.weights %q, %k scale(0.125)
        : (tensor<?x?x16x64xf32>, tensor<?x?x16x64xf32>) -> tensor<?x16x?x?xf32>
    ```
  }];
  let results = (outs Attn_FloatTensor:$weights);
}

def Attn_BackwardOp : Attn_KernelOp<"backward",
    (ins Attn_FloatTensor:$query, Attn_FloatTensor:$key, Attn_FloatTensor:$value, Attn_FloatTensor:$out,
         Attn_LseTensor:$lse, Attn_FloatTensor:$d_out, Optional<Attn_LseTensor>:$d_lse,
         Variadic<Attn_LearnedValue>:$captured, OptionalAttr<StrArrayAttr>:$captured_axes),
    ["getDerivativeOrNull", "getQueryBoundsOrNull"], [AttrSizedResultSegments]> {
  let summary = "Attention, backward (S15)";
  let description = [{
    The gradients of what `attn.forward` with the same clauses and regions computes. `out` and `lse` are its results,
    `d_out` and `d_lse` their gradients; without `d_lse`, that of the LSE is 0. With p, the probabilities before dropout,
    z, the factors of dropout (0 or 1 / (1 - probability)), and ds', the gradient of a score:

        p_ij = exp(s'_ij - lse_i)                   delta_i = sum_d out_id * d_out_id - d_lse_i
        dv_j = sum_i z_ij * p_ij * d_out_i          ds'_ij = p_ij * (z_ij * dot(d_out_i, v_j) - delta_i)
        ds   = score's derivative of ds'            dq_i = scale * sum_j ds_ij * k_j,  dk_j = scale * sum_i ds_ij * q_i
        d_sink = -sum_i exp(sink - lse_i) * delta_i

    Gradients of keys and values are sums over the query heads of their group (S10). Rows of queries that keep nothing, and
    rows behind the lengths of padded sequences, have none, and give none: theirs are 0.

    Those of sinks are sums over batch entries, and over heads where they are for every head.

    `captured(%slopes[h] : tensor<16xf32>, %bias[h, i, j] : tensor<16x?x?xbf16>)` asks for the gradients of tensors that
    the score reads, and says by which coordinate each dimension is addressed, as every `attn.load` of the tensor there
    does (S4). A scalar, `%factor : f32`, has a gradient of one element, tensor<1xf32>. A dimension may be `n`, a computed index: `captured(%table[n, h] : tensor<32x16xf32>)`. Where a tensor is read by a
    computed index, or by coordinates that differ, each read has its axes: `%table[n][n]`. A gradient is the sum over all elements that read the same number; a dimension of size 1 has but one, and
    any other that has an axis has its size, also where the type leaves that open.

    A spec says what forward computes; `attn-derive-backward` makes this of it. The regions `derivative`, (ds', s, b, h, i, j)
    to ds and the gradient of what is read of each captured tensor (see `CapturedGradient::yieldedTypes`), and `query_bounds`, the transpose of `bounds`, come of
    the score and mask regions by `attn-differentiate-score` and `attn-infer-bounds`.

    Example:

    ```mlir
    %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %d_o scale(0.125)
        : (tensor<?x?x16x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x16x64xbf16>,
           tensor<?x16x?xf32>, tensor<?x?x16x64xbf16>)
        -> (tensor<?x?x16x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>)
    ```
  }];
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask, MaxSizedRegion<1>:$bounds,
                        MaxSizedRegion<1>:$blocks, MaxSizedRegion<1>:$derivative, MaxSizedRegion<1>:$query_bounds);
  let results = (outs Attn_FloatTensor:$d_query, Attn_FloatTensor:$d_key, Attn_FloatTensor:$d_value,
                      Optional<Attn_FloatTensor>:$d_sinks, Variadic<Attn_FloatTensor>:$d_captured);
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator,
                                    ParentOneOf<["ForwardOp", "WeightsOp", "BackwardOp"]>]> {
  let summary = "Ends a region of a kernel";
  let description = [{
    A score yields an f32, a mask an i1.

    Example:

    ```mlir
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> tensor<?x?x16x128xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

def Attn_CapturedTensor
    : Attn_Named<RankedTensorOf<[F32, BF16, F16, I1, I8, I32, I64]>, "a tensor of f32, bf16, f16, i1, i8, i32 or i64">;

def Attn_LoadOp : Attn_Op<"load", [Pure, DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>,
    TypesMatchWith<"result type matches the element type", "tensor", "result",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "One element of a captured tensor";
  let description = [{
    A coordinate of the region used as it is addresses its own axis: `%b` the batch entry, `%h` the query head, `%i` the
    query's row and `%j` the key's row in the tensors as stored, whatever the alignment (packed sequences: the packed
    row). That dimension has the axis's size, or 1, which broadcasts (S4). An index that is computed is taken as it is,
    and clamped to the tensor.

    Which is which is settled when the region is read. Rewriting a computed index into a bare `%i` leaves it a computed
    one: `coordinates` says so, with one entry for each index, true for a coordinate. It is printed where it differs
    from what the operands look like; without it, they decide.

    Example: `%x = attn.load %bias[%b, %h, %i, %j] : tensor<1x16x?x?xbf16>`
  }];
  let arguments = (ins Attn_CapturedTensor:$tensor, Variadic<Index>:$indices,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `[` $indices `]` `` custom<IndexedAttrs>(attr-dict) `:` type($tensor)";
  let hasVerifier = 1;
}

def Attn_LoadRangeOp : Attn_Op<"load_range", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>]> {
  let summary = "Minimum and maximum of a box of a captured tensor";
  let description = [{
    What `attn-infer-bounds` makes of an `attn.load` when coordinates become ranges: for each dimension the first and the
    last index, both inside; indices follow the rules of `attn.load`, and a dimension is addressed by a coordinate where
    both ends are that coordinate. Results have the element type; for i1 they mean "all
    are set" and "some is set". An empty box gives an inverted range.

    Example: `%lo, %hi = attn.load_range %ids[%b, %i0 to %i1] : tensor<?x?xi32>`
  }];
  let arguments = (ins Attn_CapturedTensor:$tensor, Variadic<Index>:$first, Variadic<Index>:$last,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs AnyType:$min, AnyType:$max);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sugar for scores
//===----------------------------------------------------------------------===//

class Attn_SugarOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<Attn_SugarOpInterface>])>;

def Attn_SoftcapOp : Attn_SugarOp<"softcap", [AllTypesMatch<["logit", "result"]>]> {
  let summary = "cap * tanh(logit / cap) (S4)";
  let description = [{
    The cap is a literal or an f32 value; it must not be zero or negative. An infinite cap folds away.

    Example: `%c = attn.softcap %s, 50.0`
  }];
  let arguments = (ins F32:$logit, Optional<F32>:$cap, OptionalAttr<F32Attr>:$static_cap);
  let results = (outs F32:$result);
  let assemblyFormat = "$logit `,` custom<FloatOrValue>($cap, $static_cap) attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Attn_AlibiOp : Attn_SugarOp<"alibi", [AllTypesMatch<["logit", "result"]>,
    DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>]> {
  let summary = "logit - slope[h] * |i - j| (S4)";
  let description = [{
    Slopes are a tensor [Hq]; the head follows the rules of `attn.load`.

    Example: `%a = attn.alibi %s, %slopes[%h], %i, %j : tensor<16xf32>`
  }];
  let arguments = (ins F32:$logit, Attn_FloatTensor:$slopes, Index:$head, Index:$i, Index:$j,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs F32:$result);
  let assemblyFormat = [{
    $logit `,` $slopes `[` $head `]` `,` $i `,` $j `` custom<IndexedAttrs>(attr-dict) `:` type($slopes)
  }];
  let hasVerifier = 1;
}

def Attn_BiasOp : Attn_SugarOp<"bias", [AllTypesMatch<["logit", "result"]>,
    DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>]> {
  let summary = "logit + tensor[indices] (S4)";
  let description = [{
    Indices follow the rules of `attn.load`.

    Example: `%x = attn.bias %s, %bias[%h, %i, %j] : tensor<16x?x?xbf16>`
  }];
  let arguments = (ins F32:$logit, Attn_FloatTensor:$tensor, Variadic<Index>:$indices,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs F32:$result);
  let assemblyFormat = "$logit `,` $tensor `[` $indices `]` `` custom<IndexedAttrs>(attr-dict) `:` type($tensor)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sugar for masks
//===----------------------------------------------------------------------===//

def Attn_CausalOp : Attn_SugarOp<"causal"> {
  let summary = "keep where j <= i";
  let description = [{
    Example: `%c = attn.causal %i, %j`
  }];
  let arguments = (ins Index:$i, Index:$j);
  let results = (outs I1:$keep);
  let assemblyFormat = "$i `,` $j attr-dict";
}

def Attn_WindowOp : Attn_SugarOp<"window", [AttrSizedOperandSegments]> {
  let summary = "keep where i - left <= j <= i + right (S5)";
  let description = [{
    Each side is a literal or an index value, and unbounded where absent; 0 keeps only i itself on that side; a negative
    one is an error. One of 2^31 or more reaches every position.

    Example: `%w = attn.window %i, %j left(4095) right(0)`, `%w = attn.window %i, %j left(%size)`,
    or with attributes: `%w = attn.window %i, %j {left = 4095, right = 0}`
  }];
  let arguments = (ins Index:$i, Index:$j, Optional<Index>:$left_value, Optional<Index>:$right_value,
                       OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let results = (outs I1:$keep);
  let assemblyFormat = [{
    $i `,` $j (`left` `(` custom<IntOrValue>($left_value, $left)^ `)`)? (`right` `(` custom<IntOrValue>($right_value, $right)^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Attn_SameSegmentOp : Attn_SugarOp<"same_segment", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>]> {
  let summary = "keep where the ids of query and key are equal and not negative (S12)";
  let description = [{
    Indices follow the rules of `attn.load`; entries of `coordinates` for the query's come before those for the key's.

    Example: `%m = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>`
  }];
  let arguments = (ins Attn_IdTensor:$query_ids, Variadic<Index>:$query_indices,
                       Attn_IdTensor:$key_ids, Variadic<Index>:$key_indices,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs I1:$keep);
  let assemblyFormat = [{
    $query_ids `[` $query_indices `]` `,` $key_ids `[` $key_indices `]` `` custom<IndexedAttrs>(attr-dict) `:`
    type($query_ids) `,` type($key_ids)
  }];
  let hasVerifier = 1;
}

def Attn_PrefixOp : Attn_SugarOp<"prefix", [DeclareOpInterfaceMethods<Attn_IndexedOpInterface, ["getIndexOperands"]>]> {
  let summary = "keep where j < length[indices]";
  let description = [{
    The bidirectional prefix of a prefix language model; join it with `attn.causal` by `arith.ori`. Indices follow the
    rules of `attn.load`.

    Example: `%p = attn.prefix %j, %length[%b] : tensor<?xi32>`
  }];
  let arguments = (ins Index:$j, Attn_IdTensor:$lengths, Variadic<Index>:$indices,
                       OptionalAttr<DenseBoolArrayAttr>:$coordinates);
  let results = (outs I1:$keep);
  let assemblyFormat = "$j `,` $lengths `[` $indices `]` `` custom<IndexedAttrs>(attr-dict) `:` type($lengths)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tables of schedules
//===----------------------------------------------------------------------===//

def Attn_ScheduleTableOp : Attn_Op<"schedule_table", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "schedules of an architecture";
  let description = [{
    What a file of schedules holds (docs/rationale/schedules.md). It is nothing that a spec has: a spec's function may bring
    tables along in `attn.schedule_tables`.

    Example:

    ```mlir
    attn.schedule_table <archs = ["sm_90a"], entries = [
      <kernels = <max_dim = 64, masked = true>,
       schedule = <query_tile = 128, key_tile = 128, panel = 64,
                   pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>>>
    ]>
    ```
  }];
  let arguments = (ins Attn_ScheduleTableAttr:$table);
  let assemblyFormat = "$table attr-dict";
}

#endif // ATTNC_DIALECT_ATTN_OPS
