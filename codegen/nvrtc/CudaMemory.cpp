//===- CudaMemory.cpp - Memory, threads and instructions --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

using OptionalExpr = std::optional<Expr>;

/// Address spaces of NVPTX.
static constexpr unsigned globalSpace = 1, sharedSpace = 3;

static unsigned getSpace(Value pointer) { return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace(); }

/// The one index of `element`: a value, or a number in `constant`. Null where there are several, or the number counts.
static bool readIndex(LLVM::GEPOp element, Value &index, int64_t &constant) {
  if (element.getIndices().size() != 1)
    return false;
  LLVM::GEPIndicesAdaptor<ValueRange> indices = element.getIndices();
  if (auto value = dyn_cast<Value>(indices[0]))
    index = value;
  else
    constant = cast<IntegerAttr>(indices[0]).getInt();
  return true;
}

/// The number of a lane of a vector, where it is known.
static std::optional<int64_t> findLane(Value position) {
  APInt lane;
  if (!matchPattern(position, m_ConstantInt(&lane)))
    return std::nullopt;
  return lane.getZExtValue();
}

/// A position in memory, which may lie in front of what it is counted from.
std::string CudaWriter::writeIndex(Value index, int64_t constant) {
  if (!index)
    return std::to_string(constant);
  return (index.getType().isInteger(64) ? "i64(" : "i32(") + use(index).text + ")";
}

/// What `pointer` points to as a place that is read or written: "p[2]", "slot".
std::string CudaWriter::writePlace(Value address, Type type, bool isVolatile) {
  if (auto it = variables.find(address); it != variables.end() && !isVolatile)
    return it->second;
  std::string name = getTypeName(type), held = (isVolatile ? "volatile " : "") + name;
  auto element = address.getDefiningOp<LLVM::GEPOp>();
  Value index;
  int64_t constant = 0;
  // An address that was left to be printed here.
  if (element && exprs[address].binding == Binding::Sum && !isVolatile && getTypeName(element.getElemType()) == name &&
      readIndex(element, index, constant))
    return pointer(element.getBase(), name) + "[" + writeIndex(index, constant) + "]";
  if (!isVolatile && pointee(address) == name)
    return "*" + use(address, Binding::Unary);
  return "*(" + held + " *)" + use(address, Binding::Unary);
}

OptionalExpr CudaWriter::writeMemory(Operation &op) {
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](LLVM::GEPOp element) -> OptionalExpr {
        Value index;
        int64_t constant = 0;
        std::string type = getTypeName(element.getElemType());
        if (type.empty() || !readIndex(element, index, constant))
          return std::nullopt;
        pointees[element] = type;
        std::string base = pointer(element.getBase(), type);
        if (!index && constant == 0)
          return Expr{base};
        return Expr{base + " + " + writeIndex(index, constant), Binding::Sum};
      })
      .Case([&](LLVM::LoadOp load) -> OptionalExpr {
        if (getTypeName(load.getType()).empty())
          return std::nullopt;
        return Expr{writePlace(load.getAddr(), load.getType(), load.getVolatile_()), Binding::Unary};
      })
      .Case([&](LLVM::IntToPtrOp cast) -> OptionalExpr {
        std::string function = getSpace(cast) == globalSpace   ? "globalPointer<"
                               : getSpace(cast) == sharedSpace ? "sharedPointer<"
                                                               : "reinterpret_cast<";
        bool isGeneric = getSpace(cast) == 0;
        return Expr{function + pointee(cast) + (isGeneric ? " *" : "") + ">(" + use(cast.getArg()).text + ")"};
      })
      .Case([&](LLVM::PtrToIntOp cast) -> OptionalExpr {
        std::string type = getTypeName(cast.getType()), operand = use(cast.getArg()).text;
        if (getSpace(cast.getArg()) == sharedSpace)
          return Expr{type + "(__cvta_generic_to_shared(" + operand + "))"};
        return Expr{type == "u64" ? "u64(" + operand + ")" : type + "(u64(" + operand + "))"};
      })
      .Case([&](LLVM::AddrSpaceCastOp cast) {
        pointees[cast] = pointee(cast.getArg());
        return use(cast.getArg());
      })
      .Case([&](LLVM::AddressOfOp address) {
        pointees[address] = "u8";
        return Expr{address.getGlobalName().str()};
      })
      .Case([&](LLVM::ExtractValueOp extract) -> OptionalExpr {
        auto it = exprs.find(extract.getContainer());
        if (it == exprs.end() || extract.getPosition().size() != 1)
          return std::nullopt;
        elements[extract] = {it->second.text, extract.getPosition().front()};
        return Expr{it->second.text + "[" + std::to_string(extract.getPosition().front()) + "]"};
      })
      .Case([&](LLVM::ExtractElementOp extract) -> OptionalExpr {
        std::optional<int64_t> lane = findLane(extract.getPosition());
        if (!lane)
          return std::nullopt;
        return Expr{use(extract.getVector(), Binding::Primary) + "." + "xyzw"[*lane]};
      })
      .Case([&](LLVM::InsertElementOp insert) -> OptionalExpr {
        auto type = cast<VectorType>(insert.getType());
        std::optional<int64_t> lane = findLane(insert.getPosition());
        std::string name = getTypeName(type);
        if (!lane || (!StringRef(name).starts_with("uint") && !StringRef(name).starts_with("float")))
          return std::nullopt;
        // A chain that fills all lanes is one expression: what it begins with is printed nowhere.
        SmallVector<Value> lanes(type.getDimSize(0));
        for (LLVM::InsertElementOp link = insert; link; link = link.getVector().getDefiningOp<LLVM::InsertElementOp>())
          if (std::optional<int64_t> at = findLane(link.getPosition()); at && !lanes[*at])
            lanes[*at] = link.getValue();
        std::string list;
        for (Value value : lanes)
          list += (list.empty() ? "" : ", ") + (value ? use(value).text : "0");
        return Expr{"make_" + name + "(" + list + ")"};
      })
      .Case<LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp, ub::PoisonOp>([&](Operation *) -> OptionalExpr {
        Type type = op.getResult(0).getType();
        std::string name = getTypeName(type);
        if (isa<VectorType>(type) && name != "u32")
          return Expr{name + "{}"};
        return name.empty() ? OptionalExpr() : Expr{name + "()"};
      })
      .Default(OptionalExpr());
}

/// Votes, shuffles and numbers of threads.
OptionalExpr CudaWriter::writeThread(Operation &op) {
  auto all = [&](Value mask) { return use(mask).text; };
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](NVVM::ThreadIdXOp) { return Expr{"threadIdx.x"}; })
      .Case([&](NVVM::BlockIdXOp) { return Expr{"blockIdx.x"}; })
      .Case([&](NVVM::GridDimXOp) { return Expr{"gridDim.x"}; })
      .Case([&](NVVM::ShflOp shuffle) -> OptionalExpr {
        bool isXor = shuffle.getKind() == NVVM::ShflKind::bfly;
        if (!isXor && shuffle.getKind() != NVVM::ShflKind::idx)
          return std::nullopt;
        return Expr{(isXor ? "__shfl_xor_sync(" : "__shfl_sync(") + all(shuffle.getThreadMask()) + ", " +
                    use(shuffle.getVal()).text + ", " + use(shuffle.getOffset()).text + ")"};
      })
      .Case([&](NVVM::PermuteOp permute) -> OptionalExpr {
        if (permute.getMode() != NVVM::PermuteMode::DEFAULT)
          return std::nullopt;
        return Expr{"__byte_perm(" + use(permute.getLo()).text + ", " + use(permute.getHi()).text + ", " +
                    use(permute.getSelector()).text + ")"};
      })
      .Case([&](NVVM::ReduxOp reduce) -> OptionalExpr {
        std::string mask = all(reduce.getMaskAndClamp()), value = use(reduce.getVal()).text;
        switch (reduce.getKind()) {
        case NVVM::ReduxKind::MIN:
          return Expr{"u32(__reduce_min_sync(" + mask + ", i32(" + value + ")))"};
        case NVVM::ReduxKind::MAX:
          return Expr{"u32(__reduce_max_sync(" + mask + ", i32(" + value + ")))"};
        case NVVM::ReduxKind::UMIN:
          return Expr{"__reduce_min_sync(" + mask + ", " + value + ")"};
        case NVVM::ReduxKind::UMAX:
          return Expr{"__reduce_max_sync(" + mask + ", " + value + ")"};
        case NVVM::ReduxKind::ADD:
          return Expr{"__reduce_add_sync(" + mask + ", " + value + ")"};
        case NVVM::ReduxKind::AND:
          return Expr{"__reduce_and_sync(" + mask + ", " + value + ")"};
        case NVVM::ReduxKind::OR:
          return Expr{"__reduce_or_sync(" + mask + ", " + value + ")"};
        case NVVM::ReduxKind::XOR:
          return Expr{"__reduce_xor_sync(" + mask + ", " + value + ")"};
        default:
          return std::nullopt;
        }
      })
      .Case([&](NVVM::VoteSyncOp vote) -> OptionalExpr {
        StringRef function = vote.getKind() == NVVM::VoteSyncKind::any      ? "bool(__any_sync("
                             : vote.getKind() == NVVM::VoteSyncKind::all    ? "bool(__all_sync("
                             : vote.getKind() == NVVM::VoteSyncKind::ballot ? "u32(__ballot_sync("
                                                                            : "";
        if (function.empty())
          return std::nullopt;
        return Expr{(function + all(vote.getMask()) + ", " + use(vote.getPred()).text + "))").str()};
      })
      .Case([&](LLVM::SSubSat) { return Expr{call("subSaturated", op.getOperands())}; })
      .Case([&](LLVM::SAddSat) { return Expr{call("addSaturated", op.getOperands())}; })
      .Case([&](LLVM::AbsOp abs) { return Expr{call("magnitude", abs.getIn())}; })
      .Case([&](LLVM::AtomicRMWOp atomic) -> OptionalExpr {
        bool isOfDevice = atomic.getSyncscope() == "device" && atomic.getOrdering() == LLVM::AtomicOrdering::monotonic;
        if (!isOfDevice || atomic.getBinOp() != LLVM::AtomicBinOp::uinc_wrap || !atomic.getType().isInteger(32))
          return std::nullopt;
        return Expr{"incrementCounter(u64(" + use(atomic.getPtr()).text + "), " + use(atomic.getVal()).text + ")"};
      })
      .Case([&](LLVM::TanhOp) { return Expr{call("tanhApprox", op.getOperands())}; })
      .Case([&](LLVM::CallIntrinsicOp intrinsic) { return writeIntrinsic(intrinsic); })
      .Default(OptionalExpr());
}

OptionalExpr CudaWriter::writeIntrinsic(LLVM::CallIntrinsicOp intrinsic) {
  StringRef function = llvm::StringSwitch<StringRef>(intrinsic.getIntrin())
                           .Case("llvm.nvvm.ex2.approx.ftz.f32", "exp2Approx")
                           .Case("llvm.nvvm.lg2.approx.ftz.f", "log2Approx")
                           .Case("llvm.nvvm.rcp.approx.ftz.f", "reciprocalApprox")
                           .Case("llvm.nvvm.rsqrt.approx.f", "rsqrtApprox")
                           .Case("llvm.nvvm.saturate.f", "__saturatef")
                           .Case("llvm.nvvm.mma.m16n8k16.row.col.f32.f32", "mmaF16")
                           .Case("llvm.nvvm.mma.m16n8k16.row.col.bf16", "mmaBf16")
                           .Case("llvm.nvvm.mma.m16n8k8.row.col.tf32", "mmaTf32")
                           .Default("");
  if (function.empty())
    return std::nullopt;
  return Expr{call(function, intrinsic.getArgs())};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Whether nothing reads what is stored at `address`.
static bool isNeverRead(Value address) {
  return address.getDefiningOp<LLVM::AllocaOp>() && llvm::all_of(address.getUsers(), [&](Operation *user) {
           auto store = dyn_cast<LLVM::StoreOp>(user);
           return store && store.getAddr() == address;
         });
}

/// A variable of one number is one of C++; what has an index is an array.
void CudaWriter::writeAlloca(LLVM::AllocaOp op) {
  if (isNeverRead(op))
    return;
  APInt count;
  bool isOne = matchPattern(op.getArraySize(), m_ConstantInt(&count)) && count.isOne();
  std::string type = getTypeName(op.getElemType()), name = nameFor(op, isOne ? "slot" : "local");
  pointees[op] = type;
  auto isAccess = [&](Operation *user) {
    auto load = dyn_cast<LLVM::LoadOp>(user);
    auto store = dyn_cast<LLVM::StoreOp>(user);
    return (load && load.getType() == op.getElemType()) ||
           (store && store.getAddr() == op && store.getValue().getType() == op.getElemType());
  };
  if (isOne) {
    line(type + " " + name + ";");
    exprs[op] = {"&" + name, Binding::Unary};
    if (llvm::all_of(op->getUsers(), isAccess))
      variables[op] = name;
    return;
  }
  line(type + " " + name + "[" + Twine(count.getZExtValue()) + "];");
  exprs[op] = {name};
}

/// A call of the function that the assembly has become.
void CudaWriter::writeAssembly(LLVM::InlineAsmOp op) {
  const InstructionCall &function = calls[op];
  SmallVector<std::string> arguments;
  if (function.results) {
    std::string name = nameFor(op.getResult(0), "tile");
    std::string type = getTypeName(cast<LLVM::LLVMStructType>(op.getResult(0).getType()).getBody().front());
    std::string array, declared = "Array<" + type + ", " + std::to_string(function.results) + "> " + name;
    ValueRange before = op.getOperands().take_front(function.firstInput);
    if (isWholeArray(before, array)) {
      line(declared + " = " + array + ";");
    } else if (before.empty()) {
      line(declared + ";");
    } else {
      std::string list;
      for (Value value : before)
        list += (list.empty() ? "" : ", ") + use(value).text;
      line(declared + " = {" + list + "};");
    }
    exprs[op.getResult(0)] = {name};
    arrays[name] = function.results;
    arguments.push_back(name);
  }
  for (Value operand : op.getOperands().drop_front(function.firstInput))
    arguments.push_back(isa<LLVM::LLVMPointerType>(operand.getType()) ? "u64(" + use(operand).text + ")"
                                                                      : use(operand).text);
  std::string called = function.function + "(" + llvm::join(arguments, ", ") + ")";
  bool returns = op.getNumResults() && !function.results;
  if (!returns)
    return line(called + ";");
  Value result = op.getResult(0);
  if (isa<LLVM::LLVMPointerType>(result.getType()))
    called = (getSpace(result) == globalSpace ? "globalPointer<" + pointee(result) + ">("
                                              : "reinterpret_cast<" + pointee(result) + " *>(") +
             called + ")";
  if (result.use_empty())
    return line(called + ";");
  define(*op, {called});
}

/// A call of the device header's function for an instruction that orders threads, copies or products; empty where it
/// has none.
std::string CudaWriter::writeOrder(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](NVVM::BarrierOp barrier) -> std::string {
        if (barrier.getReductionOp() || barrier.getNumResults() > 0)
          return "";
        if (!barrier.getBarrierId() && !barrier.getNumberOfThreads())
          return "__syncthreads()";
        if (!barrier.getBarrierId() || !barrier.getNumberOfThreads())
          return "";
        return call("barrierSync", ValueRange{barrier.getBarrierId(), barrier.getNumberOfThreads()});
      })
      .Case([&](NVVM::Barrier0Op) { return "__syncthreads()"; })
      .Case([&](NVVM::SyncWarpOp sync) { return "__syncwarp(" + use(sync.getMask()).text + ")"; })
      .Case([&](NVVM::FenceMbarrierInitOp) { return "fenceBarrierInit()"; })
      .Case([&](NVVM::FenceProxyOp fence) {
        bool ofBlock = fence.getSpace() == NVVM::SharedSpace::shared_cta;
        return ofBlock && fence.getKind() == NVVM::ProxyKind::async_shared ? "fenceAsync()" : "";
      })
      .Case([&](NVVM::CpAsyncOp copy) {
        bool isPiece = copy.getSize() == 16 && copy.getModifier() == NVVM::LoadCacheModifierKind::CG;
        return isPiece && copy.getCpSize() ? call("copyPiece", copy.getOperands()) : "";
      })
      .Case([&](NVVM::CpAsyncCommitGroupOp) { return "commitPieces()"; })
      .Case([&](NVVM::CpAsyncWaitGroupOp wait) { return "waitPieces<" + std::to_string(wait.getN()) + ">()"; })
      .Case([&](NVVM::CpAsyncBulkCommitGroupOp) { return "commitStores()"; })
      .Case([&](NVVM::CpAsyncBulkWaitGroupOp wait) {
        return (wait.getRead() ? "waitStoresRead<" : "waitStores<") + std::to_string(wait.getGroup()) + ">()";
      })
      .Case([&](NVVM::GriddepcontrolOp control) {
        return control.getKind() == NVVM::GridDepActionKind::launch_dependents ? "startKernelAfter()" : "";
      })
      .Case([&](NVVM::WgmmaFenceAlignedOp) { return "fenceProducts()"; })
      .Case([&](NVVM::WgmmaGroupSyncAlignedOp) { return "commitProducts()"; })
      .Case([&](NVVM::SetMaxRegisterOp registers) {
        bool more = registers.getAction() == NVVM::SetMaxRegisterAction::increase;
        return (more ? "takeRegisters<" : "giveRegisters<") + std::to_string(registers.getRegCount()) + ">()";
      })
      .Case([&](LLVM::CallIntrinsicOp intrinsic) {
        return intrinsic.getIntrin() == "llvm.nvvm.barrier.cta.arrive.aligned.count"
                   ? call("barrierArrive", intrinsic.getArgs())
                   : "";
      })
      .Default([](Operation *) { return std::string(); });
}

/// What is done for its effect, or has more than one result.
bool CudaWriter::writeEffect(Operation &op) {
  if (std::string order = writeOrder(op); !order.empty()) {
    line(order + ";");
    return true;
  }
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](LLVM::AllocaOp alloca) {
        writeAlloca(alloca);
        return !getTypeName(alloca.getElemType()).empty();
      })
      .Case([&](LLVM::InlineAsmOp assembly) {
        writeAssembly(assembly);
        return true;
      })
      .Case([&](LLVM::StoreOp store) {
        if (isNeverRead(store.getAddr()))
          return true;
        Type type = store.getValue().getType();
        line(writePlace(store.getAddr(), type, store.getVolatile_()) + " = " + use(store.getValue()).text + ";");
        return !getTypeName(type).empty();
      })
      .Case([&](LLVM::CallIntrinsicOp call) {
        auto structure =
            call.getNumResults() ? dyn_cast<LLVM::LLVMStructType>(call.getResult(0).getType()) : LLVM::LLVMStructType();
        OptionalExpr expr = structure ? writeIntrinsic(call) : OptionalExpr();
        if (!expr)
          return false;
        Value result = call.getResult(0);
        std::string name = nameFor(result, "tile");
        line("Array<" + getTypeName(structure.getBody().front()) + ", " + Twine(structure.getBody().size()) + "> " +
             name + " = " + expr->text + ";");
        exprs[result] = {name};
        arrays[name] = static_cast<int64_t>(structure.getBody().size());
        return true;
      })
      .Case<arith::MulUIExtendedOp, arith::MulSIExtendedOp>([&](auto product) {
        bool isSigned = isa<arith::MulSIExtendedOp>(op);
        std::string a = use(product.getLhs(), Binding::Product), b = use(product.getRhs(), Binding::Unary);
        if (!product.getLow().use_empty()) {
          line("const " + declare(product.getLow()) + " = " + a + " * " + b + ";");
        }
        if (!product.getHigh().use_empty())
          line("const " + declare(product.getHigh()) + " = " +
               call(isSigned ? "smulHigh" : "mulHigh", ValueRange{product.getLhs(), product.getRhs()}) + ";");
        return true;
      })
      .Default(false);
}
