//===- Shapes.cpp - Sizes for a kernel's arguments --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Shapes.h"
#include "dialect/attn/LaunchSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attnc;
using namespace attnc::jit;
using image::Error;
using image::Result;
using llvm::StringRef;
using mlir::ShapedType;

/// Splits "NAME=SIZE"; false where it is not of that form.
static bool parseSize(StringRef text, StringRef &name, int64_t &size) {
  auto [left, right] = text.rsplit('=');
  name = left.trim();
  return !name.empty() && !right.trim().getAsInteger(10, size) && size >= 0 && size <= (int64_t(1) << 40);
}

/// Splits "NAME.N" at its last point; false where it is not of that form.
static bool parseDim(StringRef text, StringRef &name, unsigned &dim) {
  auto [left, right] = text.rsplit('.');
  name = left;
  return !left.empty() && !right.getAsInteger(10, dim);
}

Result<ShapeRequest> jit::parseShape(StringRef shape, llvm::ArrayRef<std::string> dims) {
  ShapeRequest request;
  llvm::SmallVector<StringRef> parts;
  shape.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    StringRef name;
    int64_t size = 0;
    if (!parseSize(part, name, size))
      return Error{"shape '" + shape.str() + "': expected NAME=SIZE, as in B=2,Sq=128, got '" + part.str() + "'"};
    if (!request.symbols.try_emplace(name.str(), size).second)
      return Error{"shape '" + shape.str() + "': '" + name.str() + "' is given twice"};
  }
  for (StringRef text : dims) {
    StringRef left, name;
    int64_t size = 0;
    unsigned dim = 0;
    if (!parseSize(text, left, size) || !parseDim(left, name, dim))
      return Error{"dimension '" + text.str() + "': expected NAME.N=SIZE, as in bias.0=1"};
    if (!request.dims.try_emplace({name.str(), dim}, size).second)
      return Error{"dimension '" + left.str() + "' is given twice"};
  }
  return request;
}

namespace {

/// Fills in the sizes of one kernel, from the request and from what the spec fixes.
class Resolver {
public:
  Resolver(const attn::KernelFunction &kernel, const ShapeRequest &request)
      : kernel(kernel), request(request), sizes(kernel.symbols.size(), ShapedType::kDynamic) {}

  Result<std::vector<int64_t>> run();

  /// Dimensions that were asked to have size 1 where another size is possible.
  std::map<std::pair<std::string, unsigned>, int64_t> broadcast;

private:
  std::optional<Error> set(StringRef name, int64_t size, StringRef because);
  std::optional<Error> applyStatic(const attn::KernelArgument &argument);
  std::optional<Error> applyDims();
  std::optional<std::pair<std::string, unsigned>> findDim(StringRef text) const;
  std::string listInputs() const {
    return llvm::join(llvm::map_range(kernel.inputs, [](const attn::KernelArgument &input) { return input.name; }),
                      ", ");
  }
  std::string listSymbols() const { return llvm::join(kernel.symbols, ", "); }

  const attn::KernelFunction &kernel;
  const ShapeRequest &request;
  std::vector<int64_t> sizes;
};

} // namespace

std::optional<Error> Resolver::set(StringRef name, int64_t size, StringRef because) {
  int index = kernel.findSymbol(name);
  if (index < 0)
    return Error{"unknown size '" + name.str() + "'; this spec has " +
                 (kernel.symbols.empty() ? "none" : listSymbols())};
  if (size < 0)
    return Error{"size '" + name.str() + "' must be 0 or more, got " + std::to_string(size) +
                 ": of cumulative lengths there is one more than of sequences"};
  int64_t &known = sizes[static_cast<size_t>(index)];
  if (!ShapedType::isDynamic(known) && known != size)
    return Error{"size '" + name.str() + "' is " + std::to_string(known) + because.str() + ", got " +
                 std::to_string(size)};
  known = size;
  return std::nullopt;
}

std::optional<Error> Resolver::applyStatic(const attn::KernelArgument &argument) {
  for (const attn::KernelDim &dim : argument.dims)
    if (dim.symbol >= 0 && !ShapedType::isDynamic(dim.size) && !dim.broadcast)
      if (auto error =
              set(kernel.symbols[static_cast<size_t>(dim.symbol)], dim.symbolSizeFor(dim.size), " in the spec"))
        return error;
  return std::nullopt;
}

/// The dimension of one tensor that stands in a shape, if it is no size that has a name.
std::optional<std::pair<std::string, unsigned>> Resolver::findDim(StringRef text) const {
  StringRef name;
  unsigned index = 0;
  if (kernel.findSymbol(text) >= 0 || !parseDim(text, name, index))
    return std::nullopt;
  return std::pair(name.str(), index);
}

std::optional<Error> Resolver::applyDims() {
  auto dims = request.dims;
  for (const auto &[text, size] : request.symbols) {
    if (auto dim = findDim(text); dim && !dims.try_emplace(*dim, size).second)
      return Error{"dimension '" + text + "' is given twice"};
  }
  for (const auto &[key, size] : dims) {
    const std::string &name = key.first;
    unsigned index = key.second;
    std::string place = "dimension '" + name + "." + std::to_string(index) + "'";
    const auto *argument = llvm::find_if(kernel.inputs, [&name](const auto &input) { return input.name == name; });
    if (argument == kernel.inputs.end())
      return Error{place + ": the spec has no argument '" + name + "'; it has " + listInputs()};
    if (index >= argument->dims.size())
      return Error{place + ": '" + name + "' has rank " + std::to_string(argument->dims.size())};
    const attn::KernelDim &dim = argument->dims[index];
    if (dim.broadcast && size == 1)
      broadcast[key] = 1;
    else if (dim.symbol >= 0) {
      if (auto error = set(kernel.symbols[static_cast<size_t>(dim.symbol)], dim.symbolSizeFor(size), ""))
        return error;
    } else if (dim.size != size)
      return Error{place + " is " + std::to_string(dim.size) + " in the spec, got " + std::to_string(size)};
  }
  return std::nullopt;
}

Result<std::vector<int64_t>> Resolver::run() {
  for (const auto *list : {&kernel.inputs, &kernel.outputs})
    for (const attn::KernelArgument &argument : *list)
      if (auto error = applyStatic(argument))
        return *error;
  for (const auto &[name, size] : request.symbols) {
    if (findDim(name))
      continue;
    // The number of sequences may be given as such, or as the size of the cumulative lengths.
    attn::KernelOpInterface op = kernel.kernels.front();
    bool viaOffsets = op.isPacked() && name == "B+1";
    if (auto error = viaOffsets ? set("B", size - 1, "") : set(name, size, " in the spec"))
      return *error;
  }
  if (auto error = applyDims())
    return *error;

  // A size that only broadcast dimensions name may be anything; they take 1.
  std::string missing;
  for (auto [name, size] : llvm::zip_equal(kernel.symbols, sizes))
    if (ShapedType::isDynamic(size))
      missing += (missing.empty() ? "" : ",") + name + "=…";
  if (!missing.empty())
    return Error{"the spec leaves sizes open: expected " + missing + " in the shape"};
  for (const attn::KernelArgument &argument : kernel.inputs)
    for (const attn::KernelDim &dim : argument.dims)
      if (dim.unit > 1 && sizes[static_cast<size_t>(dim.symbol)] % dim.unit != 0)
        return Error{"size '" + kernel.symbols[static_cast<size_t>(dim.symbol)] + "' must be a multiple of " +
                     std::to_string(dim.unit) + ", the rows of a page of '" + argument.name + "', got " +
                     std::to_string(sizes[static_cast<size_t>(dim.symbol)])};
  return sizes;
}

Result<Shapes> Shapes::resolve(const attn::KernelFunction &kernel, const ShapeRequest &request) {
  Resolver resolver(kernel, request);
  Result<std::vector<int64_t>> sizes = resolver.run();
  if (!sizes)
    return sizes.takeError();
  Shapes shapes;
  shapes.names.assign(kernel.symbols.begin(), kernel.symbols.end());
  shapes.sizes = std::move(*sizes);
  shapes.broadcast = std::move(resolver.broadcast);
  auto op = kernel.kernels.front();
  shapes.isPacked = op.isPacked();
  auto sizeOf = [&](mlir::Value tensor, size_t dim) {
    return shapes.shapeOf(kernel.inputs[mlir::cast<mlir::BlockArgument>(tensor).getArgNumber()])[dim];
  };
  shapes.queries = sizeOf(op.getQuery(), shapes.isPacked ? 0 : 1);
  shapes.keys =
      op.isPaged() ? sizeOf(op.getPageTable(), 1) * op.getPageRows() : sizeOf(op.getKey(), op.areKeysPacked() ? 0 : 1);
  shapes.sequences = shapes.isPacked ? sizeOf(op.getQueryOffsets(), 0) - 1 : sizeOf(op.getQuery(), 0);
  return shapes;
}

attn::SizesAttr Shapes::launchSizes(const attn::KernelFunction &kernel, attn::KernelOpInterface op) const {
  return attn::getKnownSizes(op, [&](mlir::Value tensor, int64_t dim) {
    unsigned number = mlir::cast<mlir::BlockArgument>(tensor).getArgNumber();
    return mlir::getAffineConstantExpr(shapeOf(kernel.inputs[number])[static_cast<size_t>(dim)], op.getContext());
  });
}

runtime::Dims Shapes::shapeOf(const attn::KernelArgument &argument) const {
  runtime::Dims shape;
  for (auto [index, dim] : llvm::enumerate(argument.dims)) {
    auto one = broadcast.find({argument.name, static_cast<unsigned>(index)});
    if (one != broadcast.end())
      shape.push_back(one->second);
    else
      shape.push_back(ShapedType::isDynamic(dim.size) ? dim.sizeFor(sizes[static_cast<size_t>(dim.symbol)]) : dim.size);
  }
  return shape;
}

std::string Shapes::toString() const {
  std::string text;
  for (auto [name, size] : llvm::zip_equal(names, sizes)) {
    text += text.empty() ? "" : ", ";
    text += name + "=" + std::to_string(size);
  }
  return text;
}
