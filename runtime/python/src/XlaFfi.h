//===- XlaFfi.h - Kernels as functions of XLA -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PYTHON_XLAFFI_H
#define ATTNC_RUNTIME_PYTHON_XLAFFI_H

#include <attnc/attnc.h>

namespace attnc::python {

/// The context that XLA's calls compile in; set once, before the first of them.
void setXlaContext(attnc_context *context);

/// The handlers of a call on the CPU and on a GPU (XLA_FFI_Handler), whose
/// arguments are the tensors of a kernel and whose attributes are
///
///   spec: the text; backward: whether it is the kernel of its gradients;
///   numbers: the integers that the kernel takes; position: the number of tensors
///   before them; workspace: whether the last result is memory for the kernel's own
///   use, and none of its results.
void *getCpuHandler();
void *getGpuHandler();

} // namespace attnc::python

#endif // ATTNC_RUNTIME_PYTHON_XLAFFI_H
