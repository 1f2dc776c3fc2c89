//===- CudaWriter.cpp - Kernels as CUDA C++ ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaWriter.h"
#include "codegen/nvptx/KernelAbi.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// What a parameter of a kernel is in C++: an array of words or a tensor map by value, an integer, or an address.
static std::string getParameterType(LLVM::LLVMFuncOp function, unsigned number) {
  auto held = function.getArgAttrOfType<TypeAttr>(number, LLVM::LLVMDialect::getByValAttrName());
  if (!held)
    return isa<LLVM::LLVMPointerType>(function.getArgument(number).getType())
               ? "u32 *"
               : getTypeName(function.getArgument(number).getType());
  auto array = cast<LLVM::LLVMArrayType>(held.getValue());
  bool isMap = array.getElementType().isInteger(8) && array.getNumElements() == nvptx::tensorMapBytes;
  return isMap ? "TensorMap" : "Words<" + std::to_string(array.getNumElements()) + ">";
}

std::string CudaWriter::listParameterTypes(LLVM::LLVMFuncOp function) {
  std::string list;
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    list += (number ? ", " : "") + getParameterType(function, number);
  return list;
}

LogicalResult CudaWriter::writeFunction(LLVM::LLVMFuncOp function) {
  names.clear();
  taken.clear();
  arrays.clear();
  lastLocation.clear();
  auto threads = function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
  auto blocks = function->getAttrOfType<IntegerAttr>(NVVM::NVVMDialect::getMinctasmAttrName());
  if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) || !threads)
    return function.emitOpError() << "is not a kernel whose threads are counted, which is all that CUDA C++ is made of";
  if (function.getName().contains('$'))
    return function.emitOpError("has a '$' in its name, which NVRTC does not take");

  std::string parameters;
  for (unsigned number = 0; number < function.getNumArguments(); ++number) {
    BlockArgument argument = function.getArgument(number);
    std::string type = getParameterType(function, number);
    bool byValue = StringRef(type).starts_with("Words") || type == "TensorMap";
    std::string name = nameFor(argument, byValue ? (type == "TensorMap" ? "map" : "arguments") : "n");
    parameters += (number ? ",\n    " : "") + (byValue ? "const __grid_constant__ " + type + " " : type + " ") + name;
    if (!byValue) {
      exprs[argument] = {name};
      pointees[argument] = "u32";
    } else if (type == "TensorMap") {
      exprs[argument] = {"&" + name, Binding::Unary};
      pointees[argument] = "u8";
    } else {
      exprs[argument] = {name + ".word"};
      pointees[argument] = "u64";
    }
  }
  line("extern \"C\" __global__ void __launch_bounds__(" + Twine(threads[0]) +
       (blocks ? ", " + Twine(blocks.getInt()) : Twine()) + ")\n" + function.getName() + "(" + parameters + ") {");
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError() << "has more than one block: branches want to be structured";
  ++depth;
  if (failed(writeBlock(function.getBody().front())))
    return failure();
  --depth;
  line("}\n");
  return success();
}

LogicalResult CudaWriter::write(ModuleOp module) {
  reserveNames(module);
  for (Operation &op : *module.getBody()) {
    LogicalResult written = success();
    bool known = llvm::TypeSwitch<Operation *, bool>(&op)
                     .Case([&](LLVM::LLVMFuncOp function) {
                       written = writeFunction(function);
                       return true;
                     })
                     .Case([&](LLVM::GlobalOp global) {
                       line("extern __shared__ __align__(" + Twine(global.getAlignment().value_or(16)) + ") u8 " +
                            global.getName() + "[];\n");
                       return true;
                     })
                     .Default(false);
    if (!known)
      return op.emitOpError("has no meaning in CUDA C++");
    if (failed(written))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The line of a file in `loc`, innermost first.
static FileLineColLoc findLine(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Notes where the spec says what `op` does, for the next statement.
void CudaWriter::noteLocation(Operation &op) {
  if (FileLineColLoc place = findLine(op.getLoc()))
    nextLocation = (llvm::sys::path::filename(place.getFilename()) + ":" + Twine(place.getLine())).str();
}

/// Writes a statement, after a comment of its line in the spec where that is another.
void CudaWriter::line(const Twine &statement) {
  std::string indent(depth * 2, ' ');
  if (!nextLocation.empty() && nextLocation != lastLocation) {
    lastLocation = nextLocation;
    text += indent + "// " + lastLocation + "\n";
  }
  nextLocation.clear();
  text += indent + statement.str() + "\n";
}

LogicalResult CudaWriter::writeBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && (op.getNumResults() != 1 || !findNumber(op.getResult(0))) &&
        failed(writeOp(op)))
      return failure();
  nextLocation.clear();
  return success();
}

/// Whether all users of a value look through it, so that it is printed nowhere.
static bool isLookedThrough(Operation &op) {
  auto insert = dyn_cast<LLVM::InsertElementOp>(op);
  if (!insert && !isa<LLVM::UndefOp, LLVM::PoisonOp>(op))
    return false;
  return llvm::all_of(op.getUsers(), [&](Operation *user) {
    auto next = dyn_cast<LLVM::InsertElementOp>(user);
    return next && next.getVector() == op.getResult(0);
  });
}

LogicalResult CudaWriter::writeOp(Operation &op) {
  if (isLookedThrough(op))
    return success();
  noteLocation(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp loop) { return writeFor(loop); })
      .Case([&](scf::IfOp branch) { return writeIf(branch); })
      .Case([&](scf::WhileOp loop) { return writeWhile(loop); })
      .Default([&](Operation *) -> LogicalResult {
        if (writeEffect(op))
          return success();
        return writeExpression(op);
      });
}

LogicalResult CudaWriter::writeExpression(Operation &op) {
  if (op.getNumResults() == 1) {
    Type type = op.getResult(0).getType();
    bool hasType = isa<LLVM::LLVMPointerType>(type) || !getTypeName(type).empty();
    if (hasType)
      for (auto write : {&CudaWriter::writeArith, &CudaWriter::writeMemory, &CudaWriter::writeThread})
        if (std::optional<Expr> expr = (this->*write)(op)) {
          if (isa<LLVM::ExtractValueOp>(op))
            exprs[op.getResult(0)] = *expr;
          else
            define(op, *expr);
          return success();
        }
  }
  return op.emitOpError("has no form in CUDA C++");
}
