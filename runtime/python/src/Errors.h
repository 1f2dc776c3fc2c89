//===- Errors.h - Errors of the library as Python's -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PYTHON_ERRORS_H
#define ATTNC_RUNTIME_PYTHON_ERRORS_H

#include <attnc/attnc.h>
#include <nanobind/nanobind.h>

namespace attnc::python {

/// Adds the exception `Error` to `module`.
void addErrors(nanobind::module_ &module);

/// Throws `error` as `Error`, and ends it; does nothing where it is null.
void check(attnc_error *error);

} // namespace attnc::python

#endif // ATTNC_RUNTIME_PYTHON_ERRORS_H
