//===- Passes.td - Passes on the attn dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_PASSES
#define ATTNC_PASSES_ATTN_PASSES

include "mlir/Pass/PassBase.td"

def AttnExpand : Pass<"attn-expand"> {
  let summary = "Lowers sugar operations to arith, math and attn.load";
  let description = [{
    Before: `%c = attn.causal %i, %j`. After: `%c = arith.cmpi sle, %j, %i : index`.

    Every later pass sees one language, so an expression that a user writes gets all that the sugar gets.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def AttnDefineArithmetic : Pass<"attn-define-arithmetic"> {
  let summary = "Defines region operations for all operands";
  let description = [{
    Division by zero, the least number divided by -1, shifts by the width or more, and conversions of numbers that the
    integer type does not have: MLIR leaves their results open, and LLVM and hardware differ or trap. Guards by
    `arith.select` make them what docs/spec.md says, and an index is cast to fewer bits by a truncation. Flags that
    promise something of operands (`nsw`, `exact`, `fastmath`) go. What ranges prove to be safe stays as it is.

    Before: `%r = arith.remsi %x, %y : i32`. After:

    ```mlir
    %zero = arith.cmpi eq, %y, %c0 : i32
    %some = arith.select %zero, %c1, %y : i32
    %least = arith.cmpi eq, %x, %c-2147483648 : i32
    %minus = arith.cmpi eq, %y, %c-1 : i32
    %wraps = arith.andi %least, %minus : i1
    %safe = arith.select %wraps, %c1, %some : i32
    %q = arith.remsi %x, %safe : i32
    %r = arith.select %zero, %x, %q : i32
    ```

    It comes before the first canonicalizer: folds may rely on what MLIR leaves open.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numGuards", "guards", "Operations that were given guards">];
}

def AttnExpandFunctions : Pass<"attn-expand-functions"> {
  let summary = "Expands functions that some targets lack";
  let description = [{
    Angles, hyperbolic and error functions, powers, roots and remainders of floats, powers of integers, clamps: of
    `arith` and the few functions that every target has (`exp`, `exp2`, `tanh`, `log`, `log2`, `sqrt`, `rsqrt` and
    roundings). So all targets give the same, as exactly as docs/spec.md says.

    What targets may approximate gets the flag `afn`: in the score region where inputs have 16 bits, `exp`, `log`, `log2`,
    and where the kernel has no LSE, `tanh`. Where it has one, and no more than 128 times the error of a `tanh` reaches
    it, `attn.error_of_one` allows an error of 2^-22 of 1, and says how many times it reaches the LSE.

    Before: `%y = math.clampf %x to [%low, %high] : f32`. After:

    ```mlir
    %raised = arith.maximumf %x, %low : f32
    %y = arith.minimumf %raised, %high : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def AttnOrderOperands : Pass<"attn-order-operands"> {
  let summary = "Puts the operands of a score's sums and distances in one order";
  let description = [{
    Addition commutes, and so does the magnitude of a difference. What follows looks at what is added to a logit, and at the
    distance of a key from its query: so a sum has what comes of the logit on its left, and a magnitude is that of i - j.

    Before: `%x = arith.addf %penalty, %s : f32`. After: `%x = arith.addf %s, %penalty : f32`.
  }];
  let statistics = [Statistic<"numOrdered", "ordered", "Operations whose operands were exchanged">];
}

def AttnDeriveBackward : Pass<"attn-derive-backward", "::mlir::ModuleOp"> {
  let summary = "Derives the backward of each kernel function";
  let description = [{
    Replaces a function of `attn.forward` operations by one that computes the gradients of its tensors (S15). After the
    arguments that it has, it takes for each operation the saved results `out` and `lse`, `d_out`, and where the function
    returns the LSE, `d_lse`; it returns `d_query`, `d_key`, `d_value` and, with sinks, `d_sinks`. Names are those of what they are gradients of,
    after `d_`.

    Before:

    ```mlir
    func.func @f(%q: tensor<...> {attn.name = "q"}, ...) -> (tensor<...> {attn.name = "out"}) {
      %o = attn.forward %q, %k, %v : ...
      return %o : tensor<...>
    }
    ```

    After:

    ```mlir
    func.func @f_backward(%q: tensor<...> {attn.name = "q"}, ..., %o: tensor<...> {attn.name = "out"},
                          %lse: tensor<...> {attn.name = "lse"}, %d_o: tensor<...> {attn.name = "d_out"})
        -> (tensor<...> {attn.name = "d_q"}, ...) {
      %d_q, %d_k, %d_v = attn.backward %q, %k, %v, %o, %lse, %d_o : ...
      return %d_q, %d_k, %d_v : ...
    }
    ```
  }];
}

def AttnDifferentiateScore : Pass<"attn-differentiate-score"> {
  let summary = "Derives the derivative of the score region";
  let description = [{
    Fills the region `derivative` of each `attn.backward` with a score region: reverse mode over its arith and math. Where
    the gradient comes through as it is, as under a bias, there is no region. It
    runs before anything is simplified, since of two equal operands of a maximum the first has the gradient, and before
    `attn-expand-functions`, which writes functions out that have a derivative of their own. Sugar is expanded on the way.

    Before: `score (%s, %b, %h, %i, %j) { %t = math.tanh %s : f32  attn.yield %t : f32 }`. After, in addition:

    ```mlir
    derivative (%ds, %s, %b, %h, %i, %j) {
      %t = math.tanh %s : f32
      %tt = arith.mulf %t, %t : f32
      %slope = arith.subf %c1, %tt : f32
      %dlogit = arith.mulf %ds, %slope : f32
      attn.yield %dlogit : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def AttnInferBounds : Pass<"attn-infer-bounds"> {
  let summary = "Infers from the mask which keys a tile of queries can see";
  let description = [{
    Adds the regions `bounds` and `blocks` to kernels whose mask region is not empty.

    `bounds` solves the mask's comparisons for the key position: comparisons that are affine in j, and divisions of j by
    constants, joined by and, or, not. Its results, as functions of the first and last query position of a tile, are the
    hull of the keys that may be kept and a stretch in which all are kept. `blocks` evaluates the mask over ranges of both
    positions, in three values; it is left out where `bounds` already says everything. `attn.backward` gets
    `query_bounds` as well: the same for the query positions that a tile of keys is seen from. Whatever cannot be decided counts
    as partial, so the results are conservative and never wrong.

    Before: `mask (...) { %c = arith.cmpi sle, %j, %i : index  attn.yield %c : i1 }`. After, besides:

    ```mlir
    bounds (%b, %h, %i_first, %i_last) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %full_high = arith.addi %i_first, %c1 : index
      %high = arith.addi %i_last, %c1 : index
      attn.yield %c0, %c0, %full_high, %high : index, index, index, index
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numExact", "exact", "Masks whose bounds say everything">,
    Statistic<"numBlocks", "blocks", "Masks that also need a decision for each tile">
  ];
}

def AttnNarrowDivisions : Pass<"attn-narrow-divisions"> {
  let summary = "Divides in 32 bits where dividends fit them, whatever divisors are";
  let description = [{
    Threads have no division of 64 bits: each becomes a branch, a division of 32 bits and a call, which the assembler needs
    seconds for where a tile has many. A quotient is no further from 0 than its dividend. So where this fits 32 bits, as
    positions and their differences do, the division is one of 32 bits, and where a divisor that is data does not fit,
    the result is known without it. Constants that fit need no look.

    Before, where a run-time `%n` may be anything but 0:

    ```mlir
    %block = arith.floordivsi %distance, %n : index
    ```

    After, but for casts between `index` and `i64`:

    ```mlir
    %x = arith.trunci %distance : i64 to i32
    %y = arith.trunci %n : i64 to i32
    %again = arith.extsi %y : i32 to i64
    %fits = arith.cmpi eq, %again, %n : i64
    %safe = arith.select %fits, %y, %c1 : i32
    %quotient = arith.floordivsi %x, %safe : i32
    %beyond = arith.select %differs, %c-1, %c0 : i32
    %result = arith.select %fits, %quotient, %beyond : i32
    %block = arith.extsi %result : i32 to i64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numNarrowed", "narrowed", "Divisions and remainders that compute in 32 bits">];
}

def AttnLegalizeIndex : Pass<"attn-legalize-index"> {
  let summary = "Narrows position arithmetic to 32 bits where ranges prove it exact";
  let description = [{
    Specs compute positions in `index`, which has 64 bits (S17); GPUs and SIMD lanes do it in 32. From the limits of
    positions and by the operations' own ranges (`InferIntRangeInterface`), this pass finds out which operations of a
    kernel's regions give the same in both. Those stay as they are, as in plain masks all of them do; others compute in
    i64 from here on: what may leave 32 bits, shifts by more, unsigned operations on what may be negative, counts of
    bits. Behind it `index` may have 32 bits.

    Before, where a run-time `%w` may be anything:

    ```mlir
    %last = arith.addi %i, %w : index
    %keep = arith.cmpi sle, %j, %last : index
    ```

    After:

    ```mlir
    %i64 = arith.index_cast %i : index to i64
    %w64 = arith.index_cast %w : index to i64
    %last = arith.addi %i64, %w64 : i64
    %j64 = arith.index_cast %j : index to i64
    %keep = arith.cmpi sle, %j64, %last : i64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numWidened", "widened", "Operations that compute in 64 bits">];
}

def AttnSelectSchedule : Pass<"attn-select-schedule"> {
  let summary = "Chooses a schedule for each kernel";
  let description = [{
    Chooses tile sizes from the module's `attn.target` and the kernel's head dims. A schedule that the spec carries is
    checked and kept.
  }];
}

#endif // ATTNC_PASSES_ATTN_PASSES
