//===- CudaWriter.h - Kernels as CUDA C++ -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Prints what one thread does, the level between tile programs and LLVM, as CUDA C++: functions of the LLVM dialect
// with scf, arith, math, vector, LLVM and NVVM operations. Nothing is decided here: a pass changes what is to be
// changed before (`nvrtc-fuse-products`), so that both ways to a kernel compute the same.
//
// Values become constants with a name, or part of the expression that uses them where it stands close by. Values that
// loops carry become variables, those of one type side by side an `Array`; so do results of instructions with several.
// Every index of one is a constant, so compilers keep them in registers. Instructions that are assembly in the IR
// become functions of their own, printed before the kernels: their text is that of the IR, and stands in one place
// (Ptx.cpp).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_CUDAWRITER_H
#define ATTNC_CODEGEN_NVRTC_CUDAWRITER_H

#include "codegen/nvrtc/CudaTypes.h"
#include "codegen/nvrtc/InstructionFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace attnc::nvrtc {

/// Prints the kernels of one module.
class CudaWriter {
public:
  /// Prints all functions of `module`. Operations that have no meaning in CUDA C++ are reported.
  mlir::LogicalResult write(mlir::ModuleOp module);

  /// What was printed: functions for instructions, then kernels.
  std::string take() { return functions.take() + text; }

  /// The parameter types of `function` as CUDA C++ lists them, and the number of each by which it goes.
  static std::string listParameterTypes(mlir::LLVM::LLVMFuncOp function);

private:
  // Functions and statements (CudaWriter.cpp).
  mlir::LogicalResult writeFunction(mlir::LLVM::LLVMFuncOp function);
  mlir::LogicalResult writeBlock(mlir::Block &block);
  mlir::LogicalResult writeOp(mlir::Operation &op);
  mlir::LogicalResult writeExpression(mlir::Operation &op);
  void line(const llvm::Twine &statement);
  void noteLocation(mlir::Operation &op);

  // Values and their names (CudaValues.cpp).
  Expr use(mlir::Value value);
  std::string use(mlir::Value value, Binding atLeast) { return use(value).in(atLeast); }
  std::string call(const llvm::Twine &function, mlir::ValueRange arguments);
  void define(mlir::Operation &op, const Expr &expr);
  bool isInline(mlir::Operation &op, const Expr &expr);
  void reserveNames(mlir::ModuleOp module);
  std::string nameFor(mlir::Value value, llvm::StringRef otherwise);
  std::string takeName(const std::string &wanted, bool numbersFirst);
  std::string declare(mlir::Value value);
  std::string pointee(mlir::Value pointer);
  std::string pointer(mlir::Value value, const std::string &type);
  void declareCarried(mlir::ValueRange values, llvm::ArrayRef<mlir::ValueRange> aliases);
  void assign(mlir::ValueRange targets, mlir::ValueRange sources);
  bool isWholeArray(mlir::ValueRange values, std::string &array);

  // Control flow (CudaControlFlow.cpp).
  mlir::LogicalResult writeFor(mlir::scf::ForOp loop);
  mlir::LogicalResult writeIf(mlir::scf::IfOp branch);
  mlir::LogicalResult writeWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult writeBody(mlir::Block &block, mlir::ValueRange targets);

  // Expressions (CudaArithmetic.cpp, CudaMemory.cpp); nothing where the operation is of another kind.
  std::optional<Expr> writeArith(mlir::Operation &op);
  std::optional<Expr> writeInteger(mlir::Operation &op);
  std::optional<Expr> writeFloat(mlir::Operation &op);
  std::optional<Expr> writeConversion(mlir::Operation &op);
  std::optional<Expr> writeMath(mlir::Operation &op);
  std::optional<Expr> writeMemory(mlir::Operation &op);
  std::optional<Expr> writeThread(mlir::Operation &op);
  std::optional<Expr> writeIntrinsic(mlir::LLVM::CallIntrinsicOp call);
  std::string writeIndex(mlir::Value index, int64_t constant);
  std::string writePlace(mlir::Value pointer, mlir::Type type, bool isVolatile);
  Expr binary(mlir::Operation &op, llvm::StringRef sign, Binding binding);
  Expr signedBinary(mlir::Operation &op, llvm::StringRef sign, Binding binding);

  // Statements that are no expressions (CudaMemory.cpp).
  bool writeEffect(mlir::Operation &op);
  std::string writeOrder(mlir::Operation &op);
  void writeAssembly(mlir::LLVM::InlineAsmOp op);
  void writeAlloca(mlir::LLVM::AllocaOp op);

  /// What stands for a value, once it has been printed or decided to be printed where it is used.
  llvm::DenseMap<mlir::Value, Expr> exprs;
  /// Where in an array a value lies: the array's name and the index.
  llvm::DenseMap<mlir::Value, std::pair<std::string, int64_t>> elements;
  /// How many elements an array has.
  llvm::StringMap<int64_t> arrays;
  /// What pointers point to.
  llvm::DenseMap<mlir::Value, std::string> pointees;
  /// Variables in local memory that are one number, by their address.
  llvm::DenseMap<mlir::Value, std::string> variables;
  /// Names that no value may have: a variable would hide what its block speaks of.
  llvm::StringSet<> reserved;
  /// Names of this function's values.
  llvm::StringSet<> taken;
  /// How many names this function has made of a word.
  llvm::StringMap<int64_t> names;
  InstructionFunctions functions;
  /// What pieces of assembly have become.
  llvm::DenseMap<mlir::Operation *, InstructionCall> calls;
  std::string text;
  std::string lastLocation, nextLocation; ///< lines of the spec, as comments name them
  size_t depth = 0;
};

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_CUDAWRITER_H
