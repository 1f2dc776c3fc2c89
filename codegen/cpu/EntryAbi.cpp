//===- EntryAbi.cpp - How the runtime calls a kernel ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/EntryAbi.h"
#include "codegen/describe/DescribeImage.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

using namespace mlir;
using namespace attnc;

LLVM::LLVMFuncOp attnc::cpu::createEntry(OpBuilder &builder, tile::ProgramOp program) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                          {pointer, builder.getI64Type(), pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, program.getLoc(), describe::getEntryName(program), type);
  // The argument block and the scratch memory are the call's own.
  for (unsigned argument : {0u, 2u})
    function.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

SmallVector<Value> attnc::cpu::readArguments(OpBuilder &builder, tile::ProgramOp program, Value block) {
  Location loc = program.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  int32_t slot = 0;
  auto next = [&](Type type) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, i64, block, ArrayRef<LLVM::GEPArg>{slot++});
    return LLVM::LoadOp::create(builder, loc, type, address);
  };
  auto asMemRef = [&](MemRefDescriptor descriptor, MemRefType type) {
    return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
  };
  SmallVector<Value> arguments;
  for (Type type : program.getArgumentTypes().drop_back()) {
    auto view = dyn_cast<MemRefType>(type);
    if (!view) {
      // Index arguments are 64 bits wide; other scalars fill the low bits of their slot.
      if (!type.isIndex())
        arguments.push_back(next(type));
      else
        arguments.push_back(UnrealizedConversionCastOp::create(builder, loc, type, next(i64)).getResult(0));
      continue;
    }
    auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(view));
    Value data = next(pointer);
    descriptor.setAllocatedPtr(builder, loc, data);
    descriptor.setAlignedPtr(builder, loc, data);
    descriptor.setConstantOffset(builder, loc, 0);
    for (auto [dim, size] : llvm::enumerate(view.getShape())) {
      Value stored = next(i64);
      if (ShapedType::isDynamic(size))
        descriptor.setSize(builder, loc, dim, stored);
      else
        descriptor.setConstantSize(builder, loc, dim, size);
    }
    auto [strides, offset] = view.getStridesAndOffset();
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      Value stored = next(i64);
      if (ShapedType::isDynamic(stride))
        descriptor.setStride(builder, loc, dim, stored);
      else
        descriptor.setConstantStride(builder, loc, dim, stride);
    }
    arguments.push_back(asMemRef(descriptor, view));
  }
  return arguments;
}

SmallVector<Value> attnc::cpu::buildArguments(OpBuilder &builder, tile::ProgramOp program, LLVM::LLVMFuncOp function) {
  Location loc = program.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  SmallVector<Value> arguments = readArguments(builder, program, function.getArgument(0));
  arguments.push_back(
      UnrealizedConversionCastOp::create(builder, loc, builder.getIndexType(), function.getArgument(1)).getResult(0));

  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto scratch = MemRefDescriptor::poison(builder, loc, converter.convertType(bytes));
  scratch.setAllocatedPtr(builder, loc, function.getArgument(2));
  scratch.setAlignedPtr(builder, loc, function.getArgument(2));
  scratch.setConstantOffset(builder, loc, 0);
  Value unbounded = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(INT64_MAX));
  scratch.setSize(builder, loc, 0, unbounded);
  scratch.setConstantStride(builder, loc, 0, 1);
  arguments.push_back(UnrealizedConversionCastOp::create(builder, loc, bytes, Value(scratch)).getResult(0));
  return arguments;
}
