//===- KernelFunction.h - A kernel's arguments and shapes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What a function of a spec asks of whoever calls it: names, types, and which dimensions must agree. Everything outside
// the compiler (argument checks, random inputs, output shapes) is derived from this.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_KERNELFUNCTION_H
#define ATTNC_DIALECT_ATTN_KERNELFUNCTION_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <string>

namespace attnc::attn {

/// What an argument is for, where it may not be any numbers: decides the checks on its content and how random inputs
/// are drawn.
enum class ArgumentUse {
  QueryLengths,  ///< each in [0, Sq] (S11)
  KeyLengths,    ///< each in [0, Sk] (S11)
  QueryOffsets,  ///< cumulative lengths of packed queries (S11)
  KeyOffsets,    ///< cumulative lengths of packed keys (S11)
  PageTable,     ///< the pages of each sequence's keys, each in [0, P) (S19)
  SegmentIds,    ///< equal ids see each other, negative ones nothing (S12)
  PrefixLengths, ///< lengths of bidirectional prefixes
  Probability,   ///< dropout probability, in [0, 1] (S9)
  Seed,          ///< dropout seed, a number, or two or four words (S9)
  Window,        ///< side of a window, 0 or more (S5)
  Cap,           ///< soft cap, above 0 (S4)
  Scale,         ///< scale of the logits, not NaN (S1)
  QueryOffset,   ///< offset of query positions (S2)
};

/// How a dimension of a captured tensor is indexed.
enum class IndexKind {
  None,       ///< not at all: no captured tensor
  Coordinate, ///< by a coordinate of the region as it is
  Computed,   ///< by a computed index
};

/// One dimension of an argument or result.
struct KernelDim {
  int64_t size;   ///< static size, or ShapedType::kDynamic
  int symbol;     ///< index in KernelFunction::symbols of the size it shares with other dimensions, or -1
  bool broadcast; ///< a size of 1 serves every index (S4)
  IndexKind indexed = IndexKind::None;
  int64_t extra = 0; ///< elements beyond the symbol's size: 1 for cumulative lengths, [B+1]
  int64_t unit = 1;  ///< of the symbol's size that an element stands for: the rows of a page, of its table [B, Sk / n]

  /// The dimension's size where the symbol's is `size`, and the symbol's where the dimension's is.
  int64_t sizeFor(int64_t symbolSize) const { return llvm::divideCeil(symbolSize, unit) + extra; }
  int64_t symbolSizeFor(int64_t ownSize) const { return (ownSize - extra) * unit; }
};

/// An argument or result of a kernel function.
struct KernelArgument {
  std::string name; ///< `attn.name`, or arg0, arg1, … and out0, out1, …
  mlir::Type type;  ///< ranked tensor or scalar
  llvm::SmallVector<KernelDim> dims;
  llvm::SmallVector<ArgumentUse, 1> uses; ///< each once; none where it is plain
  bool unitInnerStride = false;           ///< queries, keys, values and results: last dimension contiguous

  bool isTensor() const { return mlir::isa<mlir::RankedTensorType>(type); }
  bool isUsedAs(ArgumentUse use) const { return llvm::is_contained(uses, use); }
};

/// A function that holds attention kernels, and what it asks of its callers.
struct KernelFunction {
  mlir::func::FuncOp function;
  llvm::SmallVector<KernelOpInterface> kernels;
  /// Names of the sizes that dimensions share: B, Sq, Sk; packed B, Tq, Tk; P, pages of keys; and `NAME.N` for a
  /// dimension of a captured tensor that computed indices address.
  llvm::SmallVector<std::string> symbols;
  llvm::SmallVector<KernelArgument> inputs, outputs;

  /// Index of a symbol, or -1.
  int findSymbol(llvm::StringRef name) const;

  /// Reads a function; a function that is no kernel is an error at the place that makes it none.
  static mlir::FailureOr<KernelFunction> get(mlir::func::FuncOp function);
};

/// Finds the function to compile: `entry`, or the only public one. Errors name what is there.
mlir::FailureOr<mlir::func::FuncOp> findKernelFunction(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_KERNELFUNCTION_H
