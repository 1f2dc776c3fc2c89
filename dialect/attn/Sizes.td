//===- Sizes.td - Conditions on the sizes of launches ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Which launches a schedule is for, in one spelling for specs, tables, records and tile programs. What each size is of a
// kernel is said in LaunchSizes.cpp, and nowhere else.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_SIZES
#define ATTNC_DIALECT_ATTN_SIZES

def Attn_SizeQueries : I32EnumAttrCase<"Queries", 0, "queries">;
def Attn_SizeKeys : I32EnumAttrCase<"Keys", 1, "keys">;
def Attn_SizeBatch : I32EnumAttrCase<"Batch", 2, "batch">;
def Attn_SizeQueryHeads : I32EnumAttrCase<"QueryHeads", 3, "query_heads">;
def Attn_SizeAllHeads : I32EnumAttrCase<"AllHeads", 4, "all_heads">;

/// A size that a launch knows of itself before it starts. The words are those of conditions.
def Attn_Size : I32EnumAttr<"Size", "size of a launch",
                            [Attn_SizeQueries, Attn_SizeKeys, Attn_SizeBatch, Attn_SizeQueryHeads,
                             Attn_SizeAllHeads]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}

def Attn_SizesAttr : AttrDef<Attn_Dialect, "Sizes"> {
  let mnemonic = "sizes";
  let summary = "Launches, by their sizes";
  let description = [{
    A condition on the sizes of a launch. Each that is named lies in its range: `1025 to 4096`, `from 512`, `to 4`, or one
    number. Those that are absent may be anything.

    - `queries`: rows of queries of a sequence: Sq, or the mean of packed sequences, rounded up.
    - `keys`: the same of keys; where they lie in pages, as many as a sequence's pages hold.
    - `batch`: sequences.
    - `query_heads`: query heads of a sequence.
    - `all_heads`: those of all sequences together.

    Example: `#attn.sizes<queries = 1025 to 4096, keys = from 512, batch = to 4>`
  }];
  let parameters = (ins ArrayRefParameter<"SizeRange">:$ranges);
  let skipDefaultBuilders = 1;
  let builders = [
    // Of ranges in any order, of which those that say nothing are dropped; of none, it holds for all launches.
    AttrBuilder<(ins CArg<"::llvm::ArrayRef<SizeRange>", "{}">:$ranges), [{
      return $_get($_ctxt, ::llvm::ArrayRef<SizeRange>(canonicalizeRanges(ranges)));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The range of `size`: from 0 and without a limit where it is absent.
    SizeRange getRange(Size size) const;
    /// Whether it holds for all launches.
    bool isUniversal() const { return getRanges().empty(); }
    /// Whether it holds for all launches for which `other` does.
    bool contains(SizesAttr other) const;
    /// What holds where both do; null where there is nothing.
    SizesAttr intersect(SizesAttr other) const;
    /// What holds where one of both does, where one condition can say that; else null.
    SizesAttr unite(SizesAttr other) const;
    /// Adds conditions to `rest` that hold where this one does and `other` does not, one for each such launch.
    void subtract(SizesAttr other, ::llvm::SmallVectorImpl<SizesAttr> &rest) const;
    /// The same without sizes that `known` gives a number.
    SizesAttr without(SizesAttr known) const;
    /// "queries 1025 to 4096, keys from 512".
    ::std::string toString() const;
  }];
}

#endif // ATTNC_DIALECT_ATTN_SIZES
