//===- Assembler.h - PTX to machine code ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ASSEMBLER_H
#define ATTNC_CODEGEN_NVPTX_ASSEMBLER_H

#include "codegen/image/Error.h"
#include "codegen/nvptx/AssemblerReport.h"
#include "llvm/ADT/ArrayRef.h"

namespace attnc::nvptx {

/// What assembles PTX.
enum class Assembler {
  Auto,      ///< the first of the others that is there
  Ptxas,     ///< the toolkit's program
  NvJitLink, ///< the toolkit's library, in this process; not for kernels that change their register count
  None,      ///< nothing: the driver does it when the kernel is loaded
};

/// PTX, and what an assembler is told of it.
struct PtxModule {
  std::string text;
  size_t kernels = 1;              ///< how many entries it has
  bool exchangesRegisters = false; ///< whether its warps change their register counts (`setmaxnreg`)
};

/// How to assemble.
struct AssemblerOptions {
  Assembler assembler = Assembler::Auto;
  /// Whether it is an error that nothing assembles.
  bool required = false;
  /// Whether the code names the lines that the PTX names, for profilers.
  bool keepLines = false;
  /// Whether PTX that is refused is left in a file, which the error names.
  bool keepRefused = false;
};

/// The level of optimization of assemblers, and that of kernels that spill a lot.
inline constexpr int mostOptimized = 3, leastOptimized = 1;

/// The most bytes of registers that a kernel may store to memory for want of room and be optimized as others are. Of
/// one that stores 11 KiB, one of ten thousand random ones, ptxas (13.0.88, levels 2 and 3) computed the row of a
/// thread again in a register that held part of an address. At level 1 it computes nothing again.
inline constexpr int64_t mostSpilled = 1024;

/// Assembled PTX.
struct AssembledKernel {
  std::vector<uint8_t> cubin; ///< empty where nothing assembles
  AssemblerReport report;
  std::string by;            ///< "ptxas", "nvJitLink"; empty where nothing assembles
  int level = mostOptimized; ///< of optimization
};

/// Assembles `ptx` for `arch` ("sm_90a"). An assembler that is asked for by name and is not there is an error; without
/// any, or where it is too old, `Auto` gives an empty result unless one is required.
///
/// nvJitLink assembles for linking with other code, and then ignores `setmaxnreg` (C7504). So ptxas comes first, and
/// kernels whose warps share registers unevenly are rather left to the driver than to nvJitLink. Kernels that spill
/// more than `mostSpilled` are assembled again, at `leastOptimized`. The toolkit's PTX compiler is no choice: it comes
/// as a static library (nvptxcompiler_static), which cannot be opened at run time.
image::Result<AssembledKernel> assemble(const PtxModule &ptx, llvm::StringRef arch,
                                        const AssemblerOptions &options = {});

/// What `assemble` would take by itself, with what tells it from another version: its place, size and time. Empty where
/// there is nothing.
std::string describeAssembler();

/// The machine code of `cubin` as text, by nvdisasm; an error says where it was looked for.
image::Result<std::string> disassemble(llvm::ArrayRef<uint8_t> cubin);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ASSEMBLER_H
