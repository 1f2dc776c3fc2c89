//===- AssemblerReport.h - What an assembler says of kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ASSEMBLERREPORT_H
#define ATTNC_CODEGEN_NVPTX_ASSEMBLERREPORT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attnc::nvptx {

/// What one kernel takes.
struct EntryReport {
  std::string name;
  int registers = 0;           ///< of a thread
  int barriers = 0;            ///< named barriers of a block
  int64_t stackBytes = 0;      ///< of a thread
  int64_t spillStoreBytes = 0; ///< registers that went to memory for want of room
  int64_t spillLoadBytes = 0;
  int64_t sharedBytes = 0; ///< static shared memory of a block
};

/// Something that an assembler wants known.
struct AssemblerWarning {
  std::string code; ///< "C7510"; empty where it has none
  std::string text;
};

/// What an assembler reports with its result.
struct AssemblerReport {
  std::vector<EntryReport> entries;
  std::vector<AssemblerWarning> warnings;

  /// What is said of the kernel called `name`, or null.
  const EntryReport *find(llvm::StringRef name) const;

  /// The warnings that something costs time: products of warpgroups that wait for each other (C7510 to C7520), register
  /// counts that are not changed (C7504, C7508).
  std::vector<AssemblerWarning> performanceLosses() const;

  /// The most bytes of registers that one of the kernels stores to memory.
  int64_t findMostSpilled() const;
};

/// Reads what `ptxas -v` and nvJitLink with `-verbose` write. Lines of other form are passed over.
AssemblerReport parseAssemblerLog(llvm::StringRef log);

/// `report` for people, a line for each kernel and each warning.
std::string toString(const AssemblerReport &report);

/// The errors in such a log as one line: "line 31: unknown modifier '.xx'; line 40: ...", at most four of them. Where
/// it holds none in the usual form, the whole log.
std::string summarizeAssemblerErrors(llvm::StringRef log);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ASSEMBLERREPORT_H
