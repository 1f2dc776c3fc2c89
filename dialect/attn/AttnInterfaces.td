//===- AttnInterfaces.td - Interfaces of the attn dialect --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_INTERFACES
#define ATTNC_DIALECT_ATTN_INTERFACES

include "mlir/IR/OpBase.td"

def Attn_SugarOpInterface : OpInterface<"SugarOpInterface"> {
  let cppNamespace = "::attnc::attn";
  let description = [{
    A named piece of a score or mask region. It means exactly what its expansion into `arith`, `math` and `attn.load`
    means, so no pass but `attn-expand` knows its name.
  }];
  let methods = [
    InterfaceMethod<"Builds the expansion before the operation and returns the value that replaces its result.",
                    "::mlir::Value", "expand", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def Attn_IndexedOpInterface : OpInterface<"IndexedOpInterface"> {
  let cppNamespace = "::attnc::attn";
  let description = [{
    An operation that reads captured tensors by indices. Which of its indices are coordinates is said once, when the
    region is read, so that no rewrite of an index changes what it means (see `getIndexCoordinate`).
  }];
  let methods = [
    InterfaceMethod<[{Indices of the captured tensors, in order; of a range the first ones. The operands need not be
                      verified: there are no indices where their number makes no sense.}],
                    "::llvm::SmallVector<::mlir::Value>", "getIndexOperands">,
    InterfaceMethod<"Which indices are coordinates; null where that goes by the operands.",
                    "::mlir::DenseBoolArrayAttr", "getCoordinatesAttr">,
    InterfaceMethod<"Says which indices are coordinates.", "void", "setCoordinatesAttr",
                    (ins "::mlir::DenseBoolArrayAttr":$coordinates)>,
  ];
}

def Attn_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::attnc::attn";
  let description = [{
    What `attn.forward`, `attn.weights` and `attn.backward` share: queries, keys, clauses and regions. Passes speak to this, so every
    clause works the same in each.
  }];
  let methods = [
    InterfaceMethod<"Queries [B, Sq, Hq, D], or packed [T, Hq, D].", "::mlir::Value", "getQuery">,
    InterfaceMethod<"Keys [B, Sk, Hkv, D], or packed [T, Hkv, D], or in pages [P, n, Hkv, D].", "::mlir::Value", "getKey">,
    InterfaceMethod<"Values, as keys are, with Dv; null where the kernel uses none.", "::mlir::Value", "getValueOrNull">,
    InterfaceMethod<"Run-time scale (S1), or null.", "::mlir::Value", "getScale">,
    InterfaceMethod<"Scale written in the spec (S1).", "::std::optional<::llvm::APFloat>", "getStaticScale">,
    InterfaceMethod<"Sink logits [Hq, n] or [n] (S6), or null.", "::mlir::Value", "getSinks">,
    InterfaceMethod<"Run-time dropout probability (S9), or null.", "::mlir::Value", "getDropout">,
    InterfaceMethod<"Dropout probability written in the spec (S9).", "::std::optional<::llvm::APFloat>",
                    "getStaticDropout">,
    InterfaceMethod<"Dropout seed (S9), i64 or a tensor of two or four words, or null.", "::mlir::Value", "getSeed">,
    InterfaceMethod<"Offset added to query positions (S2), or null.", "::mlir::Value", "getQOffset">,
    InterfaceMethod<"Lengths of padded queries (S11), or null.", "::mlir::Value", "getQueryLengths">,
    InterfaceMethod<"Lengths of padded keys (S11), or null.", "::mlir::Value", "getKeyLengths">,
    InterfaceMethod<"Cumulative lengths of packed queries (S11), or null.", "::mlir::Value", "getQueryOffsets">,
    InterfaceMethod<"Cumulative lengths of packed keys (S11), or null.", "::mlir::Value", "getKeyOffsets">,
    InterfaceMethod<"The pages of each sequence's keys [B, Sk / n] (S19), or null.", "::mlir::Value", "getPageTable">,
    InterfaceMethod<"Alignment of queries to keys (S2).", "::attnc::attn::Alignment", "getAlign">,
    InterfaceMethod<"Schedules: a launch has the first of a program that is for its sizes; null before any is selected.",
                    "::mlir::ArrayAttr", "getSchedulesAttr">,
    InterfaceMethod<"Attaches schedules.", "void", "setSchedulesAttr", (ins "::mlir::ArrayAttr":$schedules)>,
    InterfaceMethod<"Score region: (logit, b, h, i, j) to logit (S2); may be empty.", "::mlir::Region &", "getScore">,
    InterfaceMethod<"Mask region: (b, h, i, j) to keep (S3); may be empty.", "::mlir::Region &", "getMask">,
    InterfaceMethod<[{Key range of a query tile, derived from the mask: (b, h, first i, last i) to
                      (low, full_low, full_high, high) as key positions; may be empty.}],
                    "::mlir::Region &", "getBounds">,
    InterfaceMethod<[{Kind of one tile, derived from the mask: (b, h, first i, last i, first j, last j) to
                      (may keep some, keeps all); may be empty.}],
                    "::mlir::Region &", "getBlocks">,
    InterfaceMethod<[{Derivative of the score region: (gradient of the score, logit, b, h, i, j) to the gradients of the
                      logit and of what the score reads of captured tensors that have gradients (S15); null where the
                      kernel has no gradients.}],
                    "::mlir::Region *", "getDerivativeOrNull", (ins), "", "return nullptr;">,
    InterfaceMethod<[{Query range of a key tile, derived from the mask: (b, h, first j, last j) to
                      (low, full_low, full_high, high) as query positions, i64 each, since they may be past the ends of 32
                      bits; null where no program of the kernel goes over queries.}],
                    "::mlir::Region *", "getQueryBoundsOrNull", (ins), "", "return nullptr;">,
  ];
  let extraClassDeclaration = [{
    /// True where queries are packed without padding (S11); keys are as well, unless they lie in pages.
    bool isPacked() { return static_cast<bool>((*this).getQueryOffsets()); }
    /// True where keys are packed.
    bool areKeysPacked() { return static_cast<bool>((*this).getKeyOffsets()); }
    /// True where keys lie in pages (S19), and the rows of a page.
    bool isPaged() { return static_cast<bool>((*this).getPageTable()); }
    int64_t getPageRows();
    /// Query heads, head dim and key heads, all static.
    int64_t getQueryHeads();
    int64_t getKeyHeads();
    int64_t getHeadDim();
    /// Rows of queries of a sequence, or dynamic: Sq, or the mean of packed sequences, rounded up.
    int64_t getQueryRows();
    /// The schedules in order; none before any is selected.
    ::llvm::SmallVector<::attnc::attn::ScheduleAttr> getSchedules();
    /// The first schedule for launches of these sizes, or null.
    ::attnc::attn::ScheduleAttr getScheduleFor(::attnc::attn::SizesAttr sizes);
    void setSchedules(::llvm::ArrayRef<::attnc::attn::ScheduleAttr> schedules);
    /// The scale where no run-time value gives it: the literal, or 1/sqrt(D) (S1).
    float getLiteralScale();
    /// The regions that compute something for an element: score and mask, and the score's derivative.
    ::llvm::SmallVector<::mlir::Region *> getElementRegions();
    /// True where products may round f32 to the eleven bits of TF32 (S13).
    bool mayRoundToTf32();
    /// True where dropout may drop something.
    bool hasDropout() { return (*this).getDropout() || (*this).getStaticDropout(); }
  }];
}

#endif // ATTNC_DIALECT_ATTN_INTERFACES
