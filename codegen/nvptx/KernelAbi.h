//===- KernelAbi.h - How the runtime calls a GPU kernel ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a kernel: the argument block of runtime/Arguments.h by value, one tensor map (128 bytes by value) for
// each tensor that the copy engine reads or writes, the number of tiles (i64), and with a dynamic grid the address of a
// 32-bit counter that is 0 and that the kernel leaves at 0, and with workspaces the address, rows and columns of each
// (three i64) by value.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_KERNELABI_H
#define ATTNC_CODEGEN_NVPTX_KERNELABI_H

#include "dialect/tile/TensorBox.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attnc::nvptx {

using tile::columnsOfGroup;
using tile::lanesOfRow;
using tile::lanesOfWarp;
using tile::warpgroupRows;
using tile::warpgroupThreads;
using tile::warpRows;
using tile::warpsOfWarpgroup;

/// Bytes of a CUtensorMap as a parameter, and what its address is a multiple of.
constexpr int64_t tensorMapBytes = 128, tensorMapAlignment = 64;

/// A tensor that the copy engine moves boxes of.
struct TensorMap {
  unsigned argument; ///< of the program
  tile::TensorBox box;

  bool operator==(const TensorMap &other) const { return argument == other.argument && box == other.box; }

  /// Coordinates of a box as the copy engine takes them, innermost first, given one for each dimension of the tensor.
  llvm::SmallVector<mlir::Value> coordinates(mlir::ValueRange position) const;
};

/// The map that a `tile.put`, or a `tile.store` through a buffer, needs.
TensorMap getTensorMap(tile::PutOp put);
TensorMap getTensorMap(tile::StoreOp store);

/// A view argument in registers: where its first element lies, its sizes (i32) and its strides in elements (i64).
struct View {
  mlir::MemRefType type;
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> sizes, strides;

  /// The address of the element at `indices`, which are integers of any width.
  mlir::Value address(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange indices) const;
  /// The element there; a boolean as i1.
  mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange indices) const;
};

/// A kernel's function, and its parameters.
class KernelAbi {
public:
  /// Creates the function of `program` where `builder` stands, with an entry block in which `builder` then stands.
  KernelAbi(mlir::OpBuilder &builder, tile::ProgramOp program);

  mlir::LLVM::LLVMFuncOp getFunction() { return function; }
  /// A view: an argument of the program, or one that was made of another.
  const View &getView(mlir::Value value) const { return views.find(value)->second; }
  void setView(mlir::Value value, const View &view) { views.insert_or_assign(value, view); }
  /// A scalar argument, in its own type; i32 for an index.
  mlir::Value getScalar(mlir::Value argument) const { return scalars.lookup(argument); }
  bool isScalar(mlir::Value argument) const { return scalars.contains(argument); }
  /// The address of a tensor map.
  mlir::Value getTensorMapAddress(const TensorMap &map);
  /// The number of tiles, i32.
  mlir::Value getTileCount() { return tileCount; }
  /// 0, i32, which no assembler knows to be that: the upper half of the number of tiles.
  mlir::Value getZero() { return zero; }
  /// The address of the tile counter; null without one.
  mlir::Value getCounter() { return counter; }
  /// Whether the kernel starts while the one before it runs, and has to wait for it.
  bool startsEarly() const { return early; }

  /// Notes what a launch needs to know on the function. `persistent`: a block a multiprocessor works on all tiles;
  /// else each block on one.
  void setLaunch(int64_t threads, int64_t sharedBytes, bool persistent);

private:
  void readArguments(mlir::OpBuilder &builder, tile::ProgramOp program);
  void readWorkspace(mlir::OpBuilder &builder, tile::WorkspaceAttr workspace, mlir::Value view, mlir::Value block,
                     int32_t first);

  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVector<TensorMap> maps;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  mlir::Value tileCount, zero, counter;
  bool early = false;
  mlir::IntegerAttr minBlocks; ///< blocks that are to fit on a multiprocessor; null where it does not matter
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_KERNELABI_H
