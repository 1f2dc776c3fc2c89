//===- WholeFile.h - Files that are written as a whole ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_WHOLEFILE_H
#define ATTNC_RUNTIME_WHOLEFILE_H

#include "codegen/image/Error.h"
#include "codegen/image/Span.h"
#include <cstdint>
#include <string>

namespace attnc::runtime {

/// The error that the system calls `number`.
image::Error systemError(int number);

/// Writes all of `content` to an open file. What is larger than this process may write is an error, where the system
/// would end the process by a signal.
image::Status writeAll(int descriptor, image::Span<const uint8_t> content);

/// Writes `content` to a new file in the folder of `path`, and puts it in the place of `path`: a reader finds what
/// was there before, or all of this. Where it fails, nothing has changed.
image::Status replaceFile(const std::string &path, image::Span<const uint8_t> content);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_WHOLEFILE_H
