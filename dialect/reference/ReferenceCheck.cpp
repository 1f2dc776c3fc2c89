//===- ReferenceCheck.cpp - Checks of arguments -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceProblem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::attn::reference;

namespace {

/// Holds what is known of the sizes that dimensions share.
class ShapeChecker {
public:
  explicit ShapeChecker(const KernelFunction &kernel)
      : kernel(kernel), sizes(kernel.symbols.size(), ShapedType::kDynamic) {}

  /// Requires `shape` to fit; the first dimension with a symbol gives it its size.
  LogicalResult check(const KernelArgument &argument, ArrayRef<int64_t> shape);

private:
  InFlightDiagnostic error() { return func::FuncOp(kernel.function).emitOpError(); }

  const KernelFunction &kernel;
  SmallVector<int64_t> sizes; ///< one a symbol
};

} // namespace

LogicalResult ShapeChecker::check(const KernelArgument &argument, ArrayRef<int64_t> shape) {
  if (shape.size() != argument.dims.size())
    return error() << "expected '" << argument.name << "' of rank " << argument.dims.size() << ", got " << shape.size()
                   << " [S18]";
  for (size_t number = 0; number < shape.size(); ++number) {
    const KernelDim &dim = argument.dims[number];
    int64_t size = shape[number], expected = dim.size;
    auto mismatch = [&]() -> LogicalResult {
      return error() << "expected dimension " << number << " of '" << argument.name << "' to be " << expected
                     << (dim.broadcast && expected != 1 ? " or 1" : "") << ", got " << size << " [S18]";
    };
    bool repeats = dim.broadcast && size == 1;
    if (size < 0 || (!ShapedType::isDynamic(expected) && size != expected && !repeats))
      return mismatch();
    if (size < dim.extra || (size == 0 && dim.indexed == IndexKind::Computed))
      return error() << "expected dimension " << number << " of '" << argument.name << "' not to be empty [S18]";
    if (dim.symbol < 0 || repeats)
      continue;
    int64_t &known = sizes[dim.symbol];
    if (ShapedType::isDynamic(known))
      known = dim.symbolSizeFor(size);
    expected = dim.sizeFor(known);
    // A size that is no multiple of a unit is that of no number of them.
    if (dim.symbolSizeFor(expected) != known)
      return error() << "expected a multiple of " << dim.unit << " keys for '" << argument.name << "', got " << known
                     << " [S19]";
    if (size != expected)
      return mismatch();
  }
  return success();
}

/// True where `array` has a stride for each dimension and elements of `type`, or of any float type where that is null.
static bool isWellFormed(const HostArray &array, Type type) {
  return array.elementType && array.strides.size() == array.shape.size() && getElementKind(array.elementType) &&
         (type ? array.elementType == type : isa<FloatType>(array.elementType));
}

/// The range that S18 asks of a scalar with this use, in words; empty where `value` is in it.
static StringRef findViolation(ArgumentUse use, double value) {
  switch (use) {
  case ArgumentUse::Probability:
    return value >= 0 && value <= 1 ? "" : "from 0 to 1";
  case ArgumentUse::Window:
    return value >= 0 ? "" : "of 0 or more";
  case ArgumentUse::Cap:
    return value > 0 ? "" : "above 0";
  case ArgumentUse::Scale:
    return std::isnan(value) ? "that is a number" : "";
  default:
    return "";
  }
}

/// Checks that `value` is what a parameter of this type takes; contents only of scalars.
static LogicalResult checkValue(func::FuncOp function, const KernelArgument &argument, const ReferenceValue &value) {
  auto expected = [&](const Twine &what) -> LogicalResult {
    return function.emitOpError() << "expected '" << argument.name << "' to be " << what << " [S18]";
  };
  if (auto tensor = dyn_cast<RankedTensorType>(argument.type)) {
    const HostArray *array = std::get_if<HostArray>(&value);
    if (!array || !isWellFormed(*array, tensor.getElementType()))
      return function.emitOpError() << "expected '" << argument.name << "' to be an array of "
                                    << tensor.getElementType() << " with one stride a dimension [S18]";
    return success();
  }
  double number;
  if (isa<FloatType>(argument.type)) {
    if (!std::holds_alternative<double>(value))
      return expected("a floating number");
    number = std::get<double>(value);
  } else {
    if (!std::holds_alternative<int64_t>(value))
      return expected("an integer");
    number = static_cast<double>(std::get<int64_t>(value));
  }
  for (ArgumentUse use : argument.uses)
    if (StringRef range = findViolation(use, number); !range.empty())
      return expected("a number " + range + ", got " + llvm::formatv("{0}", number).str());
  return success();
}

/// Checks the shapes of all tensors among `inputs`.
static LogicalResult checkInputShapes(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                      ShapeChecker &checker) {
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, inputs))
    if (const HostArray *array = std::get_if<HostArray>(&value))
      if (failed(checker.check(argument, array->shape)))
        return failure();
  return success();
}

LogicalResult attnc::attn::reference::checkInputs(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs) {
  func::FuncOp function = kernel.function;
  if (inputs.size() != kernel.inputs.size())
    return function.emitOpError() << "expected " << kernel.inputs.size() << " arguments, got " << inputs.size()
                                  << " [S18]";
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, inputs))
    if (failed(checkValue(function, argument, value)))
      return failure();
  ShapeChecker checker(kernel);
  return checkInputShapes(kernel, inputs, checker);
}

LogicalResult attnc::attn::reference::checkFloatArrays(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                                       StringRef what, ArrayRef<KernelArgument> described,
                                                       ArrayRef<std::optional<HostArray>> arrays) {
  func::FuncOp function = kernel.function;
  if (arrays.size() != described.size())
    return function.emitOpError() << "expected " << described.size() << " " << what << ", got " << arrays.size()
                                  << " [S18]";
  ShapeChecker checker(kernel);
  if (failed(checkInputShapes(kernel, inputs, checker)))
    return failure();
  for (auto [argument, array] : llvm::zip_equal(described, arrays)) {
    if (!array)
      continue;
    if (!isWellFormed(*array, Type()))
      return function.emitOpError() << "expected " << what << " of a float type with strides, but the one for '"
                                    << argument.name << "' is none [S18]";
    if (failed(checker.check(argument, array->shape)))
      return failure();
  }
  return success();
}
