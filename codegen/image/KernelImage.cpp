//===- KernelImage.cpp - Grid rules and image checks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Evaluates grid rules and checks that an image agrees with itself.
//
//===----------------------------------------------------------------------===//

#include "codegen/image/KernelImage.h"

#include <algorithm>
#include <cmath>

namespace attnc::image {
namespace {

using Op = GridRule::Op;

/// Whether `op` pushes a value instead of combining two.
bool isLeaf(Op op) { return op == Op::Const || op == Op::Symbol; }

/// Applies a binary operation to non-negative values; -1 where it has no value.
int64_t apply(Op op, int64_t lower, int64_t upper) {
  int64_t value = 0;
  switch (op) {
  case Op::Add:
    return __builtin_add_overflow(lower, upper, &value) ? -1 : value;
  case Op::Mul:
    return __builtin_mul_overflow(lower, upper, &value) ? -1 : value;
  case Op::CeilDiv:
    return upper == 0 ? -1 : lower / upper + (lower % upper != 0);
  case Op::FloorDiv:
    return upper == 0 ? -1 : lower / upper;
  case Op::Sub:
    return std::max<int64_t>(lower - upper, 0);
  case Op::Max:
    return std::max(lower, upper);
  case Op::Min:
    return std::min(lower, upper);
  default:
    return -1;
  }
}

/// Whether `index` names one of `symbols`, or none where that is allowed.
bool isSymbol(int index, const std::vector<std::string> &symbols) {
  return index >= 0 && static_cast<size_t>(index) < symbols.size();
}

/// Whether `dtype` is a type of lengths.
bool isOfLengths(DType dtype) { return dtype == DType::I32 || dtype == DType::I64; }

/// Checks a rule of the page table `arg`: its lengths have an element for each
/// row of it.
Status verifyPages(const KernelImage &image, const ArgSpec &arg, const PageRule &rule, const std::string &prefix) {
  if (arg.dims.size() != 2 || !isOfLengths(arg.dtype))
    return Error{prefix + "pages that are no matrix of i32 or i64"};
  if (!isSymbol(rule.pages, image.symbols) || rule.rows < 1)
    return Error{prefix + "pages of unknown symbol " + std::to_string(rule.pages)};
  if (rule.lengths == -1)
    return {};
  const bool known = rule.lengths >= 0 && static_cast<size_t>(rule.lengths) < image.args.size();
  const ArgSpec *lengths = known ? &image.args[rule.lengths] : nullptr;
  const auto isPlain = [](const DimSpec &dim) { return dim.symbol >= 0 && !dim.broadcast && dim.extra == 0; };
  if (!lengths || lengths->kind != ArgKind::Tensor || lengths->dims.size() != 1 || !isOfLengths(lengths->dtype) ||
      !isPlain(lengths->dims[0]) || !isPlain(arg.dims[0]) || lengths->dims[0].symbol != arg.dims[0].symbol)
    return Error{prefix + "pages without a length for each of their rows"};
  return {};
}

/// Checks one tensor argument.
Status verifyTensor(const KernelImage &image, const ArgSpec &arg, const std::string &prefix) {
  for (const DimSpec &dim : arg.dims) {
    if (dim.size < -1)
      return Error{prefix + "dimension of size " + std::to_string(dim.size)};
    if (dim.symbol != -1 && !isSymbol(dim.symbol, image.symbols))
      return Error{prefix + "dimension of unknown symbol " + std::to_string(dim.symbol)};
    if (dim.extra < 0 || (dim.extra > 0 && (dim.symbol < 0 || dim.broadcast)))
      return Error{prefix + "dimension of " + std::to_string(dim.extra) + " extra elements"};
    if (dim.unit < 1 || (dim.unit > 1 && (dim.symbol < 0 || dim.broadcast || dim.maxSize > INT64_MAX / dim.unit)))
      return Error{prefix + "dimension in units of " + std::to_string(dim.unit)};
  }
  if (arg.unitInnerStride && arg.dims.empty())
    return Error{prefix + "inner stride of a tensor without dimensions"};
  if (arg.min || arg.max || arg.notNaN || !arg.positions.empty())
    return Error{prefix + "scalar range on a tensor"};
  for (const PageRule &rule : arg.pages)
    if (Status status = verifyPages(image, arg, rule, prefix); !status)
      return status;
  if (arg.content == ContentRule::None)
    return arg.contentSymbols.empty() ? Status() : Error{prefix + "sizes of lengths without a rule"};
  if (arg.dims.size() != 1 || !isOfLengths(arg.dtype))
    return Error{prefix + "lengths that are not a vector of i32 or i64"};
  if (arg.contentSymbols.empty())
    return Error{prefix + "lengths of nothing"};
  for (int symbol : arg.contentSymbols)
    if (!isSymbol(symbol, image.symbols))
      return Error{prefix + "lengths of unknown symbol " + std::to_string(symbol)};
  return {};
}

/// Checks one scalar argument.
Status verifyScalar(const KernelImage &image, const ArgSpec &arg, const std::string &prefix) {
  if (!arg.dims.empty() || arg.unitInnerStride || arg.content != ContentRule::None)
    return Error{prefix + "tensor facts on a scalar"};
  if (arg.role != ArgRole::Input)
    return Error{prefix + "scalar output"};
  if ((arg.min && std::isnan(*arg.min)) || (arg.max && std::isnan(*arg.max)))
    return Error{prefix + "NaN as the end of a range"};
  if (!arg.positions.empty() && isFloat(arg.dtype))
    return Error{prefix + "positions of a number that is no integer"};
  for (const PositionRule &rule : arg.positions)
    if (!isSymbol(rule.queries, image.symbols) || (rule.keys != -1 && !isSymbol(rule.keys, image.symbols)))
      return Error{prefix + "positions of unknown symbol " +
                   std::to_string(isSymbol(rule.queries, image.symbols) ? rule.keys : rule.queries)};
  return {};
}

/// Whether `order` is none, or an order of `rank` dimensions with the last at its place.
bool isBoxOrder(const std::vector<int64_t> &order, size_t rank) {
  if (order.empty())
    return true;
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t dim = 0; dim < sorted.size(); ++dim)
    if (sorted[dim] != static_cast<int64_t>(dim))
      return false;
  return order.size() == rank && order.back() + 1 == static_cast<int64_t>(rank);
}

/// Checks one tensor map. The copy unit moves whole units of 16 bytes, and a row
/// of a swizzled box is no wider than the pattern.
Status verifyTensorMap(const KernelImage &image, const TensorMapSpec &map, const std::string &prefix) {
  if (map.arg < 0 || static_cast<size_t>(map.arg) >= image.args.size() || image.args[map.arg].kind != ArgKind::Tensor)
    return Error{prefix + "tensor map of argument " + std::to_string(map.arg) + ", which is no tensor"};
  const ArgSpec &arg = image.args[map.arg];
  const std::string where = prefix + "tensor map of argument '" + arg.name + "': expected ";
  const auto rank = static_cast<int>(arg.dims.size());
  if (rank < minTensorMapRank || rank > maxTensorMapRank)
    return Error{where + "rank " + std::to_string(minTensorMapRank) + " to " + std::to_string(maxTensorMapRank) +
                 ", got " + std::to_string(rank)};
  if (map.box.size() != arg.dims.size())
    return Error{where + "a box of rank " + std::to_string(rank) + ", got " + std::to_string(map.box.size())};
  for (int64_t size : map.box)
    if (size < 1 || size > maxTensorMapBox)
      return Error{where + "box sizes from 1 to " + std::to_string(maxTensorMapBox) + ", got " + std::to_string(size)};
  if (!isBoxOrder(map.order, arg.dims.size()))
    return Error{where + "an order of all " + std::to_string(rank) + " dimensions that keeps the last"};
  if (map.swizzleBytes != 0 && map.swizzleBytes != 32 && map.swizzleBytes != 64 && map.swizzleBytes != 128)
    return Error{where + "a swizzle of 0, 32, 64 or 128 bytes, got " + std::to_string(map.swizzleBytes)};
  const int64_t rowBytes = map.box.back() * byteSize(arg.dtype);
  if (rowBytes % tensorMapUnitBytes != 0)
    return Error{where + "box rows of a multiple of " + std::to_string(tensorMapUnitBytes) + " bytes, got " +
                 std::to_string(rowBytes)};
  if (map.swizzleBytes != 0 && rowBytes > map.swizzleBytes)
    return Error{where + "box rows within the swizzle of " + std::to_string(map.swizzleBytes) + " bytes, got " +
                 std::to_string(rowBytes)};
  return {};
}

/// Checks a condition on the sizes of launches, which must hold for some.
Status verifyCondition(const KernelImage &image, const SizeCondition &condition, const std::string &prefix) {
  for (const SizeRange &range : condition) {
    if (Status status = range.size.verify(image.symbols.size()); !status)
      return Error{prefix + "size of a launch: " + status.message()};
    if (range.min < 0 || range.min > range.max)
      return Error{prefix + "sizes from " + std::to_string(range.min) + " to " + std::to_string(range.max)};
  }
  return {};
}

/// Checks what an entry says of a launch.
Status verifyEntry(const KernelImage &image, const KernelEntry &entry) {
  const std::string prefix = "image '" + image.name + "', entry '" + entry.symbol + "': ";
  if (Status status = entry.grid.verify(image.symbols.size()); !status)
    return Error{prefix + status.message()};
  if (Status status = verifyCondition(image, entry.launches.when, prefix); !status)
    return status;
  for (const SizeCondition &condition : entry.launches.unless)
    if (Status status = verifyCondition(image, condition, prefix); !status)
      return status;
  if (entry.boxes) {
    if (entry.boxes->tensors.empty())
      return Error{prefix + "boxes of no tensor"};
    for (const BoxRule::Tensor &tensor : entry.boxes->tensors) {
      const bool isTensor = tensor.arg >= 0 && static_cast<size_t>(tensor.arg) < image.args.size() &&
                            image.args[tensor.arg].kind == ArgKind::Tensor;
      if (!isTensor)
        return Error{prefix + "boxes of argument " + std::to_string(tensor.arg) + ", which is no tensor"};
      if (const auto rank = static_cast<int>(image.args[tensor.arg].dims.size());
          tensor.rows < 0 || tensor.rows + 1 >= rank)
        return Error{prefix + "boxes of argument '" + image.args[tensor.arg].name +
                     "': expected a dimension of rows below " + std::to_string(rank - 1) + ", got " +
                     std::to_string(tensor.rows)};
    }
  }
  if (entry.scratchBytes < 0)
    return Error{prefix + "negative scratch size " + std::to_string(entry.scratchBytes)};
  if (entry.threads < 0 || entry.threads > maxBlockThreads)
    return Error{prefix + "expected blocks of at most " + std::to_string(maxBlockThreads) + " threads, got " +
                 std::to_string(entry.threads)};
  if (entry.sharedBytes < 0 || entry.sharedBytes > std::numeric_limits<int>::max())
    return Error{prefix + "shared memory of " + std::to_string(entry.sharedBytes) + " bytes"};
  if (entry.blocksPerMultiprocessor < 1)
    return Error{prefix + "expected at least 1 block for each multiprocessor, got " +
                 std::to_string(entry.blocksPerMultiprocessor)};
  if (entry.registers < 0 || entry.spillBytes < 0)
    return Error{prefix + "negative use of registers"};
  if (entry.workspaces.size() > maxEntryWorkspaces)
    return Error{prefix + "expected at most " + std::to_string(maxEntryWorkspaces) + " workspaces, got " +
                 std::to_string(entry.workspaces.size())};
  for (const WorkspaceRule &workspace : entry.workspaces) {
    if (workspace.workspace < 0 || static_cast<size_t>(workspace.workspace) >= image.workspaces.size())
      return Error{prefix + "workspace " + std::to_string(workspace.workspace) + " of " +
                   std::to_string(image.workspaces.size())};
    for (const GridRule *rule : {&workspace.rows, &workspace.columns})
      if (Status status = rule->verify(image.symbols.size()); !status)
        return Error{prefix + "workspace '" + image.workspaces[workspace.workspace] + "': " + status.message()};
  }
  if (entry.threads == 0 &&
      (entry.sharedBytes != 0 || entry.persistent || entry.takesCounter || entry.early || !entry.tensorMaps.empty()))
    return Error{prefix + "GPU facts without threads"};
  if (entry.tensorMaps.size() > maxEntryTensorMaps)
    return Error{prefix + "expected at most " + std::to_string(maxEntryTensorMaps) + " tensor maps, got " +
                 std::to_string(entry.tensorMaps.size())};
  for (const TensorMapSpec &map : entry.tensorMaps)
    if (Status status = verifyTensorMap(image, map, prefix); !status)
      return status;
  return {};
}

} // namespace

GridRule GridRule::combine(Op op, const GridRule &lower, const GridRule &upper) {
  GridRule rule = lower;
  rule.steps.insert(rule.steps.end(), upper.steps.begin(), upper.steps.end());
  rule.steps.push_back({op, 0});
  return rule;
}

Status GridRule::verify(size_t numSymbols) const {
  size_t depth = 0;
  for (const Step &step : steps) {
    if (step.op > Op::Sub)
      return Error{"grid rule has an unknown operation"};
    if (step.op == Op::Const && step.value < 0)
      return Error{"grid rule has the negative constant " + std::to_string(step.value)};
    if (step.op == Op::Symbol && (step.value < 0 || static_cast<uint64_t>(step.value) >= numSymbols))
      return Error{"grid rule has the unknown symbol " + std::to_string(step.value)};
    if (isLeaf(step.op)) {
      ++depth;
      continue;
    }
    if (depth < 2)
      return Error{"grid rule lacks an operand"};
    --depth;
  }
  if (depth != 1)
    return Error{"grid rule leaves " + std::to_string(depth) + " values, expected 1"};
  return {};
}

int64_t GridRule::evaluate(Span<const int64_t> symbolSizes) const {
  if (!verify(symbolSizes.size()))
    return -1;
  // As most conditions on sizes have them, for each entry of each launch.
  if (steps.size() == 1 && steps[0].op == Op::Symbol)
    return symbolSizes[steps[0].value];
  std::vector<int64_t> stack;
  for (const Step &step : steps) {
    if (isLeaf(step.op)) {
      stack.push_back(step.op == Op::Const ? step.value : symbolSizes[step.value]);
    } else {
      const int64_t upper = stack.back();
      stack.pop_back();
      stack.back() = apply(step.op, stack.back(), upper);
    }
    if (stack.back() < 0)
      return -1;
  }
  return stack.back();
}

int64_t WorkspaceRule::countBytes(Span<const int64_t> symbolSizes) const {
  const GridRule elements = GridRule::combine(GridRule::Op::Mul, rows, columns);
  constexpr int64_t elementBytes = 4;
  return GridRule::combine(GridRule::Op::Mul, elements, GridRule::constant(elementBytes)).evaluate(symbolSizes);
}

bool LaunchRule::holds(Span<const int64_t> symbolSizes) const {
  const auto isFor = [symbolSizes](const SizeCondition &condition) {
    return std::all_of(condition.begin(), condition.end(), [symbolSizes](const SizeRange &range) {
      const int64_t size = range.size.evaluate(symbolSizes);
      return size >= range.min && size <= range.max;
    });
  };
  return isFor(when) && std::none_of(unless.begin(), unless.end(), isFor);
}

WorkspacePlaces placeWorkspaces(const KernelImage &image, Span<const int64_t> symbolSizes) {
  constexpr int64_t alignment = 128;
  WorkspacePlaces places;
  std::vector<int64_t> &sizes = places.offsets;
  sizes.resize(image.workspaces.size());
  for (const KernelEntry &entry : image.entries) {
    if (entry.workspaces.empty() || entry.countTiles(symbolSizes) == 0)
      continue;
    for (const WorkspaceRule &rule : entry.workspaces) {
      const int64_t bytes = rule.countBytes(symbolSizes);
      if (bytes < 0)
        return {-1, {}};
      sizes[rule.workspace] = std::max(sizes[rule.workspace], bytes);
    }
  }
  for (int64_t &size : sizes) {
    const int64_t offset = places.bytes;
    if (size > std::numeric_limits<int64_t>::max() - alignment - offset)
      return {-1, {}};
    places.bytes += (size + alignment - 1) / alignment * alignment;
    size = offset;
  }
  return places;
}

const char *GridRule::nameOf(Op op) {
  switch (op) {
  case Op::CeilDiv:
    return "ceildiv";
  case Op::FloorDiv:
    return "floordiv";
  case Op::Max:
    return "max";
  default:
    return "min";
  }
}

std::string GridRule::toString(Span<const std::string> symbols) const {
  if (!verify(symbols.size()))
    return "<malformed>";
  /// A formula, and whether its outermost operation is a sum, which a product
  /// has to put in parentheses.
  struct Formula {
    std::string text;
    bool isSum;
  };
  std::vector<Formula> stack;
  const auto factor = [](const Formula &formula) { return formula.isSum ? "(" + formula.text + ")" : formula.text; };
  for (const Step &step : steps) {
    if (isLeaf(step.op)) {
      stack.push_back({step.op == Op::Const ? std::to_string(step.value) : symbols[step.value], false});
      continue;
    }
    const Formula upper = std::move(stack.back());
    stack.pop_back();
    Formula &lower = stack.back();
    if (step.op == Op::Add) {
      lower = {lower.text + " + " + upper.text, true};
    } else if (step.op == Op::Sub) {
      lower = {lower.text + " - " + factor(upper), true};
    } else if (step.op == Op::Mul) {
      lower = {factor(lower) + " * " + factor(upper), false};
    } else {
      lower = {nameOf(step.op) + ("(" + lower.text) + ", " + upper.text + ")", false};
    }
  }
  return stack.back().text;
}

Status verify(const KernelImage &image) {
  for (const ArgSpec &arg : image.args) {
    const std::string prefix = "image '" + image.name + "', argument '" + arg.name + "': unexpected ";
    if (arg.isIndex && arg.dtype != DType::I64)
      return Error{prefix + "index of dtype " + std::string(name(arg.dtype))};
    Status status = arg.kind == ArgKind::Tensor ? verifyTensor(image, arg, prefix) : verifyScalar(image, arg, prefix);
    if (!status)
      return status;
  }
  for (const KernelEntry &entry : image.entries)
    if (Status status = verifyEntry(image, entry); !status)
      return status;
  return {};
}

} // namespace attnc::image
