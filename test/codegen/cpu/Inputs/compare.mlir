// Calls @program_entry of a program on two matrices of 32 x 32 small integers and the number 19, and counts the elements of
// its result that @expected gives otherwise. To be appended to a module that has both, without its last line.

// A view as the argument block has it: address, sizes, strides.
func.func private @describe(%view: memref<32x32xf32>, %block: memref<16xi64>, %slot: index) {
  %p = memref.extract_aligned_pointer_as_index %view : memref<32x32xf32> -> index
  %p64 = arith.index_cast %p : index to i64
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %size = arith.constant 32 : i64
  %one = arith.constant 1 : i64
  memref.store %p64, %block[%slot] : memref<16xi64>
  %s1 = arith.addi %slot, %c1 : index
  memref.store %size, %block[%s1] : memref<16xi64>
  %s2 = arith.addi %slot, %c2 : index
  memref.store %size, %block[%s2] : memref<16xi64>
  %s3 = arith.addi %slot, %c3 : index
  memref.store %size, %block[%s3] : memref<16xi64>
  %s4 = arith.addi %slot, %c4 : index
  memref.store %one, %block[%s4] : memref<16xi64>
  return
}

func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %c11 = arith.constant 11 : index
  %c15 = arith.constant 15 : index
  %c32 = arith.constant 32 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i3 = arith.constant 3 : i32
  %tile = arith.constant 0 : i64
  %number = arith.constant 19 : i64
  %none = arith.constant -1.0 : f32
  %a = memref.alloc() : memref<32x32xf32>
  %b = memref.alloc() : memref<32x32xf32>
  %o = memref.alloc() : memref<32x32xf32>
  %block = memref.alloc() : memref<16xi64>
  %scratch = memref.alloc() {alignment = 64} : memref<1048576xi8>
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      // (7 i + 3 j) mod 11 - 3 and (3 i + 5 j) mod 7 - 3.
      %i7 = arith.muli %i, %c7 : index
      %j3 = arith.muli %j, %c3 : index
      %forA = arith.addi %i7, %j3 : index
      %inA = arith.remui %forA, %c11 : index
      %i3rd = arith.muli %i, %c3 : index
      %j5 = arith.muli %j, %c5 : index
      %forB = arith.addi %i3rd, %j5 : index
      %inB = arith.remui %forB, %c7 : index
      %a32 = arith.index_cast %inA : index to i32
      %b32 = arith.index_cast %inB : index to i32
      %aDown = arith.subi %a32, %i3 : i32
      %bDown = arith.subi %b32, %i3 : i32
      %aFloat = arith.sitofp %aDown : i32 to f32
      %bFloat = arith.sitofp %bDown : i32 to f32
      memref.store %aFloat, %a[%i, %j] : memref<32x32xf32>
      memref.store %bFloat, %b[%i, %j] : memref<32x32xf32>
      memref.store %none, %o[%i, %j] : memref<32x32xf32>
    }
  }
  func.call @describe(%a, %block, %c0) : (memref<32x32xf32>, memref<16xi64>, index) -> ()
  func.call @describe(%b, %block, %c5) : (memref<32x32xf32>, memref<16xi64>, index) -> ()
  func.call @describe(%o, %block, %c10) : (memref<32x32xf32>, memref<16xi64>, index) -> ()
  memref.store %number, %block[%c15] : memref<16xi64>
  %blockIndex = memref.extract_aligned_pointer_as_index %block : memref<16xi64> -> index
  %scratchIndex = memref.extract_aligned_pointer_as_index %scratch : memref<1048576xi8> -> index
  %block64 = arith.index_cast %blockIndex : index to i64
  %scratch64 = arith.index_cast %scratchIndex : index to i64
  %blockPointer = llvm.inttoptr %block64 : i64 to !llvm.ptr
  %scratchPointer = llvm.inttoptr %scratch64 : i64 to !llvm.ptr
  llvm.call @program_entry(%blockPointer, %tile, %scratchPointer) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  %wrong = scf.for %i = %c0 to %c32 step %c1 iter_args(%outer = %i0) -> (i32) {
    %inRow = scf.for %j = %c0 to %c32 step %c1 iter_args(%count = %outer) -> (i32) {
      %got = memref.load %o[%i, %j] : memref<32x32xf32>
      %right = func.call @expected(%a, %b, %i, %j) : (memref<32x32xf32>, memref<32x32xf32>, index, index) -> f32
      %differs = arith.cmpf une, %got, %right : f32
      %more = arith.addi %count, %i1 : i32
      %next = arith.select %differs, %more, %count : i32
      scf.yield %next : i32
    }
    scf.yield %inRow : i32
  }
  return %wrong : i32
}
}
