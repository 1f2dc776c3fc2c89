//===- KernelFunction.cpp - A kernel's arguments and shapes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/KernelFunction.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/Coordinates.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Collects which dimensions must agree, then names the classes.
class ShapeSolver {
public:
  explicit ShapeSolver(KernelFunction &kernel) : kernel(kernel) {}

  /// Reads all kernels of the function. Axes are one set for the function, shared by its kernels.
  void run();

private:
  using Dim = std::pair<Value, unsigned>;

  int axis(StringRef name);
  int find(int node) { return parent[node] == node ? node : parent[node] = find(parent[node]); }
  void unite(int a, int b);
  void place(Value tensor, unsigned dim, StringRef axisName);
  void use(Value value, ArgumentUse use);
  void placeAs(Value like, Value tensor, unsigned dim);
  void placeAlong(KernelOpInterface op, Value tensor, unsigned dim, Coordinate axis);
  void readTensors(KernelOpInterface op);
  void readRegion(KernelOpInterface op, Region &region);
  void readIndices(KernelOpInterface op, IndexedOpInterface inner, Value tensor, unsigned first);
  void describe(KernelArgument &argument, Value value);

  KernelFunction &kernel;
  llvm::SmallVector<int> parent;
  llvm::SmallVector<std::string> names;
  llvm::StringMap<int> axes;
  llvm::DenseMap<Dim, int> dims;
  llvm::DenseSet<Dim> own;                ///< dimensions of the problem's own tensors, which never broadcast
  llvm::DenseMap<Dim, IndexKind> indexed; ///< dimensions of captured tensors
  llvm::DenseMap<Dim, int64_t> headDims;  ///< dimensions that query heads index, with their number, or 1
  llvm::DenseMap<Value, SmallVector<ArgumentUse, 1>> uses;
  llvm::DenseSet<Value> unitStride;
  llvm::DenseSet<Value> cumulative;        ///< lengths of packed sequences: one element more than there are sequences
  llvm::DenseMap<Value, int64_t> pageRows; ///< of page tables: rows of keys that an entry stands for
};

} // namespace

int ShapeSolver::axis(StringRef name) {
  auto [it, inserted] = axes.try_emplace(name, static_cast<int>(parent.size()));
  if (inserted) {
    parent.push_back(it->second);
    names.push_back(name.str());
  }
  return it->second;
}

/// Joins two classes; the earlier name stays.
void ShapeSolver::unite(int a, int b) {
  a = find(a);
  b = find(b);
  parent[std::max(a, b)] = std::min(a, b);
}

void ShapeSolver::place(Value tensor, unsigned dim, StringRef axisName) {
  int node = axis(axisName);
  auto [it, inserted] = dims.try_emplace({tensor, dim}, node);
  if (!inserted)
    unite(it->second, node);
}

void ShapeSolver::use(Value value, ArgumentUse use) {
  if (!value)
    return;
  SmallVector<ArgumentUse, 1> &all = uses[value];
  if (!llvm::is_contained(all, use))
    all.push_back(use);
}

/// What the rows of queries or keys of a kernel are called.
static StringRef getRowSymbol(KernelOpInterface op, Coordinate axis) {
  if (axis == Coordinate::Query)
    return op.isPacked() ? "Tq" : "Sq";
  return op.areKeysPacked() ? "Tk" : "Sk";
}

void ShapeSolver::readTensors(KernelOpInterface op) {
  bool packed = op.isPacked();
  auto placeRows = [&](Value tensor, Coordinate axis) {
    unitStride.insert(tensor);
    bool ofKeys = axis == Coordinate::Key;
    if (ofKeys && op.isPaged())
      return place(tensor, 0, "P");
    if (ofKeys ? op.areKeysPacked() : packed)
      return place(tensor, 0, getRowSymbol(op, axis));
    place(tensor, 0, "B");
    place(tensor, 1, getRowSymbol(op, axis));
  };
  placeRows(op.getQuery(), Coordinate::Query);
  placeRows(op.getKey(), Coordinate::Key);
  if (Value value = op.getValueOrNull())
    placeRows(value, Coordinate::Key);
  if (Value table = op.getPageTable()) {
    place(table, 0, "B");
    place(table, 1, getRowSymbol(op, Coordinate::Key));
    pageRows[table] = op.getPageRows();
  }
  for (Value lengths : {op.getQueryLengths(), op.getKeyLengths()})
    if (lengths)
      place(lengths, 0, "B");
  for (Value offsets : {op.getQueryOffsets(), op.getKeyOffsets()})
    if (offsets) {
      place(offsets, 0, "B");
      cumulative.insert(offsets);
    }

  use(op.getScale(), ArgumentUse::Scale);
  use(op.getDropout(), ArgumentUse::Probability);
  use(op.getSeed(), ArgumentUse::Seed);
  use(op.getQOffset(), ArgumentUse::QueryOffset);
  use(op.getQueryLengths(), ArgumentUse::QueryLengths);
  use(op.getKeyLengths(), ArgumentUse::KeyLengths);
  use(op.getQueryOffsets(), ArgumentUse::QueryOffsets);
  use(op.getKeyOffsets(), ArgumentUse::KeyOffsets);
  use(op.getPageTable(), ArgumentUse::PageTable);

  for (Value result : op->getResults())
    unitStride.insert(result);
  auto placeLse = [&](Value lse) {
    if (!lse)
      return;
    if (packed)
      return place(lse, 1, "Tq");
    place(lse, 0, "B");
    place(lse, 2, "Sq");
  };
  if (auto forward = dyn_cast<ForwardOp>(op.getOperation())) {
    placeRows(forward.getOut(), Coordinate::Query);
    placeLse(forward.getLse());
  } else if (auto backward = dyn_cast<BackwardOp>(op.getOperation())) {
    for (Value tensor : {backward.getOut(), backward.getDOut(), backward.getDQuery()})
      placeRows(tensor, Coordinate::Query);
    for (Value tensor : {backward.getDKey(), backward.getDValue()})
      placeRows(tensor, Coordinate::Key);
    for (Value tensor : {backward.getLse(), backward.getDLse()})
      placeLse(tensor);
    for (const CapturedGradient &captured : getCapturedGradients(backward))
      for (Value tensor : {captured.tensor, captured.gradient})
        for (auto [dim, axis] : llvm::enumerate(captured.axes())) {
          // What has a gradient broadcasts by its type alone.
          own.insert({tensor, dim});
          if (captured.form == CapturedForm::Scattered)
            placeAs(captured.tensor, tensor, dim);
          else if (axis)
            placeAlong(op, tensor, dim, *axis);
        }
  } else if (auto weights = dyn_cast<WeightsOp>(op.getOperation())) {
    place(weights.getWeights(), 0, "B");
    place(weights.getWeights(), 2, "Sq");
    place(weights.getWeights(), 3, "Sk");
  }
}

/// What the size of a dimension is called that nothing else has.
static std::string getSizeName(const KernelArgument &argument, unsigned dim) {
  return argument.name + "." + std::to_string(dim);
}

/// A dimension of `tensor` has the size of that of `like`, an argument that is a tensor.
void ShapeSolver::placeAs(Value like, Value tensor, unsigned dim) {
  if (!cast<RankedTensorType>(like.getType()).isDynamicDim(dim))
    return;
  place(tensor, dim, getSizeName(kernel.inputs[cast<BlockArgument>(like).getArgNumber()], dim));
}

/// A dimension of a captured tensor, or of its gradient, lies along an axis where it is not of size 1.
void ShapeSolver::placeAlong(KernelOpInterface op, Value tensor, unsigned dim, Coordinate axis) {
  if (getGradientType(tensor).getDimSize(dim) == 1)
    return;
  switch (axis) {
  case Coordinate::Batch:
    return place(tensor, dim, "B");
  case Coordinate::Head: {
    // Query heads are static, whatever the tensor's type says. Kernels with different numbers of them can share 1.
    auto [it, inserted] = headDims.try_emplace({tensor, dim}, op.getQueryHeads());
    if (it->second != op.getQueryHeads())
      it->second = 1;
    return;
  }
  case Coordinate::Query:
  case Coordinate::Key:
    return place(tensor, dim, getRowSymbol(op, axis));
  }
}

/// Reads the indices of a captured tensor, from index `first` of `inner` on: one for each dimension (S4).
void ShapeSolver::readIndices(KernelOpInterface op, IndexedOpInterface inner, Value tensor, unsigned first) {
  for (unsigned dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(inner, first + dim);
    if (!coordinate) {
      indexed[{tensor, dim}] = IndexKind::Computed;
      continue;
    }
    indexed.try_emplace({tensor, dim}, IndexKind::Coordinate);
    placeAlong(op, tensor, dim, *coordinate);
  }
}

void ShapeSolver::readRegion(KernelOpInterface op, Region &region) {
  region.walk([&](Operation *inner) {
    forCapturedReads(
        inner, [&](Value tensor, unsigned first) { readIndices(op, cast<IndexedOpInterface>(inner), tensor, first); });
    if (auto segment = dyn_cast<SameSegmentOp>(inner)) {
      use(segment.getQueryIds(), ArgumentUse::SegmentIds);
      use(segment.getKeyIds(), ArgumentUse::SegmentIds);
    } else if (auto prefix = dyn_cast<PrefixOp>(inner)) {
      use(prefix.getLengths(), ArgumentUse::PrefixLengths);
    } else if (auto window = dyn_cast<WindowOp>(inner)) {
      use(window.getLeftValue(), ArgumentUse::Window);
      use(window.getRightValue(), ArgumentUse::Window);
    } else if (auto softcap = dyn_cast<SoftcapOp>(inner)) {
      use(softcap.getCap(), ArgumentUse::Cap);
    }
  });
}

void ShapeSolver::describe(KernelArgument &argument, Value value) {
  argument.uses = uses.lookup(value);
  argument.unitInnerStride = unitStride.contains(value);
  auto tensor = dyn_cast<RankedTensorType>(argument.type);
  if (!tensor)
    return;
  for (auto [dim, typeSize] : llvm::enumerate(tensor.getShape())) {
    int64_t size = typeSize;
    IndexKind kind = indexed.lookup({value, dim});
    // A static 1 has one element for computed indices too, which are clamped to it.
    bool mayBroadcast =
        size == 1 ? kind != IndexKind::None : kind == IndexKind::Coordinate && ShapedType::isDynamic(size);
    bool broadcast = mayBroadcast && (size == 1 || !own.contains({value, dim}));
    if (int64_t heads = headDims.lookup({value, dim}); heads && ShapedType::isDynamic(size))
      size = heads;
    KernelDim out{size, -1, broadcast, kind};
    if (cumulative.contains(value)) {
      out.extra = 1;
      out.broadcast = false;
    }
    if (int64_t rows = pageRows.lookup(value); rows && dim == 1) {
      out.unit = rows;
      out.broadcast = false;
    }
    if (auto it = dims.find({value, dim}); it != dims.end())
      out.symbol = find(it->second);
    else if (ShapedType::isDynamic(size))
      out.symbol = axis(getSizeName(argument, dim));
    argument.dims.push_back(out);
  }
}

void ShapeSolver::run() {
  for (StringRef name : {"B", "Sq", "Sk"})
    if (!kernel.kernels.front().isPacked())
      axis(name);
  for (StringRef name : {"Tq", "Tk", "B"})
    if (kernel.kernels.front().isPacked())
      axis(name);
  for (KernelOpInterface op : kernel.kernels) {
    readTensors(op);
    for (auto &[dim, node] : dims)
      own.insert(dim);
  }
  for (KernelOpInterface op : kernel.kernels) {
    readRegion(op, op.getScore());
    readRegion(op, op.getMask());
  }
  for (auto [argument, value] : llvm::zip_equal(kernel.inputs, kernel.function.getArguments()))
    describe(argument, value);
  Operation *ret = kernel.function.getBody().front().getTerminator();
  for (auto [argument, value] : llvm::zip_equal(kernel.outputs, ret->getOperands()))
    describe(argument, value);

  // Number the classes that are left.
  llvm::MapVector<int, int> numbers;
  auto renumber = [&](KernelDim &dim) {
    if (dim.symbol < 0)
      return;
    auto [it, inserted] = numbers.try_emplace(find(dim.symbol), static_cast<int>(kernel.symbols.size()));
    if (inserted)
      kernel.symbols.push_back(names[it->first]);
    dim.symbol = it->second;
  };
  for (KernelArgument &argument : kernel.inputs)
    llvm::for_each(argument.dims, renumber);
  for (KernelArgument &argument : kernel.outputs)
    llvm::for_each(argument.dims, renumber);
}

int KernelFunction::findSymbol(StringRef name) const {
  for (auto [index, symbol] : llvm::enumerate(symbols))
    if (symbol == name)
      return static_cast<int>(index);
  return -1;
}

/// Name of argument or result `index`: its `attn.name`, or `prefix` and its number.
static std::string argumentName(DictionaryAttr attrs, StringRef prefix, unsigned index) {
  if (attrs)
    if (auto name = attrs.getAs<StringAttr>("attn.name"))
      return name.str();
  return (prefix + Twine(index)).str();
}

/// A page table has one size of pages, and no dimension of entries that is one of rows: there are fewer of them.
static LogicalResult verifyPageTables(const KernelFunction &kernel) {
  llvm::SmallDenseMap<Value, int64_t> pageRows;
  for (KernelOpInterface op : kernel.kernels) {
    if (!op.isPaged())
      continue;
    auto [it, isNew] = pageRows.try_emplace(op.getPageTable(), op.getPageRows());
    if (it->second != op.getPageRows())
      return op->emitOpError() << "expected pages of " << it->second
                               << " rows, as another kernel has them by this table, got " << op.getPageRows()
                               << " [S19]";
  }
  for (KernelOpInterface op : kernel.kernels)
    for (Region *region : op.getElementRegions()) {
      WalkResult result = region->walk([&](IndexedOpInterface inner) {
        bool isRow = false;
        forCapturedReads(inner, [&](Value tensor, unsigned first) {
          if (pageRows.lookup(tensor) < 2)
            return;
          std::optional<Coordinate> index = getIndexCoordinate(inner, first + 1);
          isRow |= index && *index != Coordinate::Head;
        });
        if (!isRow)
          return WalkResult::advance();
        inner->emitOpError(
            "expected an index of its own for the entries of a page table, of which each is for several keys "
            "[S19]");
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return failure();
    }
  return success();
}

FailureOr<KernelFunction> KernelFunction::get(func::FuncOp function) {
  if (function.isExternal())
    return function.emitOpError("expected a body");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a body of one block");
  KernelFunction kernel;
  kernel.function = function;
  for (Operation &op : function.getBody().front()) {
    if (auto attention = dyn_cast<KernelOpInterface>(op)) {
      kernel.kernels.push_back(attention);
      if (attention.isPacked() != kernel.kernels.front().isPacked())
        return op.emitOpError("expected all kernels of a function to be packed, or none [S11]");
      continue;
    }
    if (!isa<func::ReturnOp>(op) && !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError("does not belong in a kernel function; expected attn operations, constants and return");
  }
  if (kernel.kernels.empty())
    return function.emitOpError("expected an attn.forward or attn.weights");

  llvm::StringSet<> taken;
  auto add = [&](SmallVectorImpl<KernelArgument> &list, Type type, std::string name) -> LogicalResult {
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
      return function.emitOpError() << "expected ranked tensors and scalars, got " << type << " for '" << name << "'";
    if (!taken.insert(name).second)
      return function.emitOpError() << "names two arguments or results '" << name << "'";
    KernelArgument &argument = list.emplace_back();
    argument.name = std::move(name);
    argument.type = type;
    return success();
  };
  SmallVector<DictionaryAttr> attrs;
  function.getAllArgAttrs(attrs);
  function.getAllResultAttrs(attrs);
  for (DictionaryAttr dictionary : attrs)
    if (Attribute name = dictionary ? dictionary.get("attn.name") : Attribute(); name && !isa<StringAttr>(name))
      return function.emitOpError() << "expected attn.name to be a string, got " << name;
  for (StringRef name : {deterministicAttrName, tf32AttrName})
    if (Attribute asked = function->getAttr(name); asked && !isa<UnitAttr>(asked))
      return function.emitOpError() << "expected " << name << " to be a unit attribute, got " << asked;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (failed(add(kernel.inputs, argument.getType(), argumentName(function.getArgAttrDict(index), "arg", index))))
      return failure();
  }
  Operation *ret = function.getBody().front().getTerminator();
  if (ret->getNumOperands() == 0)
    return ret->emitOpError("expected results of attn operations; nothing is computed without them");
  for (auto [index, value] : llvm::enumerate(ret->getOperands())) {
    if (!isa_and_nonnull<KernelOpInterface>(value.getDefiningOp()))
      return ret->emitOpError() << "expected results of attn operations, but result " << index << " is none";
    unsigned number = static_cast<unsigned>(index);
    if (failed(add(kernel.outputs, value.getType(), argumentName(function.getResultAttrDict(number), "out", number))))
      return failure();
  }
  // What regions read from outside, too, is an argument: no kernel sees a tensor that the function computes.
  auto isReadable = [](Value operand) {
    return !isa<RankedTensorType>(operand.getType()) || isa<BlockArgument>(operand);
  };
  for (KernelOpInterface op : kernel.kernels) {
    WalkResult walked = op->walk([&](Operation *reader) {
      if (llvm::all_of(reader->getOperands(), isReadable))
        return WalkResult::advance();
      reader->emitOpError("expected tensors that are arguments of the function");
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
  }

  if (failed(verifyPageTables(kernel)))
    return failure();
  ShapeSolver(kernel).run();
  return kernel;
}

FailureOr<func::FuncOp> attnc::attn::findKernelFunction(ModuleOp module, StringRef entry) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  if (!entry.empty()) {
    for (func::FuncOp function : functions)
      if (function.getName() == entry)
        return function;
    return module.emitError() << "no function is named '" << entry << "'";
  }
  llvm::erase_if(functions, [](func::FuncOp function) { return !function.isPublic(); });
  if (functions.size() == 1)
    return functions.front();
  if (functions.empty())
    return module.emitError("expected a function that is not private");
  InFlightDiagnostic diagnostic = module.emitError("expected one function, or its name by --entry");
  for (func::FuncOp function : functions)
    diagnostic.attachNote(function.getLoc()) << "'" << function.getName() << "' is one";
  return diagnostic;
}
