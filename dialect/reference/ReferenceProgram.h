//===- ReferenceProgram.h - Regions as flat scalar programs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A score or mask region runs once for every pair of query and key, so it is compiled once to a list of instructions on
// numbered slots. Every instruction writes a slot of its own: after a run all intermediate values are there, which is
// what reverse-mode differentiation needs.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_REFERENCE_REFERENCEPROGRAM_H
#define ATTNC_DIALECT_REFERENCE_REFERENCEPROGRAM_H

#include "dialect/reference/Reference.h"
#include "dialect/reference/ReferenceRules.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace attnc::attn::reference {

/// What an argument of the function is bound to.
class Arguments {
public:
  explicit Arguments(llvm::ArrayRef<ReferenceValue> values) : values(values) {}

  /// The array of a tensor argument; null for a null value.
  const HostArray *getArray(mlir::Value value) const;
  /// A float scalar, an argument or a constant; nothing where it is neither.
  std::optional<double> getFloat(mlir::Value value) const;
  /// An integer or index scalar, sign-extended; nothing where it is neither argument nor constant.
  std::optional<int64_t> getInteger(mlir::Value value) const;

private:
  llvm::ArrayRef<ReferenceValue> values;
};

/// One scalar: a float of any type, or an integer sign-extended from its width.
union Slot {
  double f;
  int64_t i;
};

/// Slots that the caller sets before a run.
enum FixedSlot {
  SlotB,      ///< batch entry
  SlotH,      ///< query head
  SlotI,      ///< query position, with shift and offset (S2)
  SlotJ,      ///< key position
  SlotRow,    ///< query row in the tensor as stored: what a bare %i addresses
  SlotColumn, ///< key row in the tensor as stored
  SlotLogit,  ///< the logit of a score region
  NumFixedSlots
};

/// How to read one element of a captured tensor.
struct CapturedLoad {
  /// One dimension: its index is in `slot`, and is clamped to `size`, so that a size of 1 broadcasts.
  struct Dim {
    int slot;
    int64_t size, stride;
  };

  unsigned argument; ///< number of the function's argument
  ElementKind kind;
  void *data;
  llvm::SmallVector<Dim, 4> dims;

  /// Offset in elements of what the indices in `slots` address.
  int64_t offset(llvm::ArrayRef<Slot> slots) const;
  /// The same in an array of the same shape with strides of its own.
  int64_t offset(llvm::ArrayRef<Slot> slots, llvm::ArrayRef<int64_t> strides) const;
};

/// One step. `operands` and `result` number slots; the member of the union that `kind` names is set.
struct Instruction {
  enum Kind : uint8_t { Unary, Binary, Narrow, MultiplyAdd, Integer, TestFloat, ToFloat, ToInteger, Select, Load };

  Kind kind;
  ElementKind rounding = ElementKind::F64; ///< that a float result is rounded to
  uint8_t width = 64;                      ///< of integer operands, or of the result of ToInteger
  uint8_t resultWidth = 64;                ///< that an integer result wraps to
  int operands[3] = {0, 0, 0};             ///< Select: condition, then, else
  int result = 0;
  union {
    const UnaryRule *unary;
    const BinaryRule *binary;
    struct {
      ElementKind from, to;
    } narrow; ///< types that `arith.truncf` goes between
    IntegerFunction integer;
    FloatPredicate testFloat;
    double (*toFloat)(int64_t, unsigned);
    int64_t (*toInteger)(double, unsigned);
    unsigned load; ///< index in the program's loads
  };
};

/// A region, compiled.
class ScalarProgram {
public:
  /// Receives what a load contributes to the gradient of the element that it read.
  using LoadGradient = llvm::function_ref<void(const CapturedLoad &load, double gradient)>;

  /// Compiles a region that yields one value. An operation without a meaning here is a diagnostic at it.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Region &region, const Arguments &arguments, Precision precision);

  /// Slots to run on, with constants filled in; one set for each thread.
  std::vector<Slot> makeSlots() const { return initialSlots; }
  /// Runs on slots whose fixed ones are set; returns the yielded value.
  Slot run(std::vector<Slot> &slots) const;
  /// Reverse mode over the run that left `slots`: for a gradient of the yielded float, returns that of the logit and
  /// hands those of loaded elements and of float arguments to `onLoad`. `adjoints` is scratch.
  double differentiate(llvm::ArrayRef<Slot> slots, double gradient, std::vector<double> &adjoints,
                       LoadGradient onLoad) const;

private:
  friend class RegionCompiler;

  std::vector<Instruction> instructions;
  std::vector<CapturedLoad> loads;
  std::vector<std::pair<int, CapturedLoad>> scalars; ///< slots of float arguments, as loads of what has no dimensions
  std::vector<Slot> initialSlots;
  int resultSlot = 0;
};

} // namespace attnc::attn::reference

#endif // ATTNC_DIALECT_REFERENCE_REFERENCEPROGRAM_H
