//===- OutputFile.h - Writing what a command gives --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The one way in which commands write: a failure leaves what was there as it was.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_OUTPUTFILE_H
#define ATTNC_TOOLS_ATTNC_OUTPUTFILE_H

#include "codegen/image/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace attnc::cli {

/// Refuses `path` where it is a folder, or the same file as one of `sources`, whatever links lie between: the files
/// that the command reads. "-" is standard output, or standard input among `sources`.
image::Status checkOutput(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> sources);

/// Writes to `path` by `write`. A regular file is written under another name in the same folder, then renamed, so that
/// it holds its old content or all of the new; a signal removes what is not yet in place. Links are followed. What is
/// no regular file, a device or a pipe, is written to and stays. "-" and "" are standard output.
image::Status writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);

/// Writes out what waits for standard output; the error that it met, if any. Must be called before the program ends.
image::Status flushStandardOutput();

/// Makes failing writes errors in place of signals, and standard streams that are closed errors in place of the next
/// file that is opened.
void prepareStandardStreams();

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_OUTPUTFILE_H
