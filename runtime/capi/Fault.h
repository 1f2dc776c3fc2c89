//===- Fault.h - What an error of C says ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_FAULT_H
#define ATTNC_RUNTIME_CAPI_FAULT_H

#include "attnc/attnc.h"
#include "codegen/image/Error.h"

namespace attnc::capi {

/// Why something failed, with all that there is to say.
struct Fault {
  std::string message; ///< one line: starts lower-case, ends without a period
  std::string details; ///< several, each with its newline
  int32_t kind = ATTNC_ERROR_OTHER;
  int32_t line = 0, column = 0; ///< of the spec, from 1 on; 0 where there is no place

  explicit Fault(image::Error error, int32_t kind = ATTNC_ERROR_OTHER)
      : message(std::move(error.message)), details(message + '\n'), kind(kind) {}

  /// A fault of a spec: `diagnostics` as MLIR renders them. The first is the message, and has the place.
  static Fault ofSpec(std::string diagnostics);
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_FAULT_H
