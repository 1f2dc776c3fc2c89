//===- Errors.cpp - Errors of the library as Python's -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "Errors.h"

namespace nb = nanobind;
using namespace attnc::python;

/// The class `attnc.Error`. It lives as long as the process.
static PyObject *errorType = nullptr;

void attnc::python::addErrors(nb::module_ &module) {
  // What an error has that is raised in Python.
  nb::dict defaults;
  defaults["kind"] = "other";
  defaults["line"] = nb::none();
  defaults["column"] = nb::none();
  defaults["message"] = nb::none();
  defaults["details"] = nb::none();
  errorType = PyErr_NewExceptionWithDoc(
      "attnc.Error",
      "What attnc found wrong: with a spec, with the arguments of a call, or with the machine.\n\n"
      "message: one line. details: all that there is to say, with the line of the spec and a caret.\n"
      "kind: 'spec', 'compiler' or 'other'. line, column: of the spec, from 1 on; None where there is no place.",
      nullptr, defaults.ptr());
  if (!errorType)
    throw nb::python_error();
  module.attr("Error") = nb::borrow(errorType);
}

/// A place in a spec as Python has it.
static nb::object place(int32_t number) { return number > 0 ? nb::object(nb::int_(number)) : nb::none(); }

/// The exception that says what `error` says.
static nb::object makeException(const attnc_error *error) {
  attnc_error_info info = {};
  info.struct_size = sizeof(info);
  attnc_error_destroy(attnc_error_get_info(error, &info));
  std::string text = info.kind == ATTNC_ERROR_SPEC ? info.details : info.message;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  nb::object exception = nb::borrow(errorType)(text.c_str());
  exception.attr("message") = info.message;
  exception.attr("details") = info.details;
  exception.attr("kind") = info.kind == ATTNC_ERROR_SPEC       ? "spec"
                           : info.kind == ATTNC_ERROR_COMPILER ? "compiler"
                                                               : "other";
  exception.attr("line") = place(info.line);
  exception.attr("column") = place(info.column);
  return exception;
}

void attnc::python::check(attnc_error *error) {
  if (!error)
    return;
  nb::object exception = makeException(error);
  attnc_error_destroy(error);
  PyErr_SetObject(errorType, exception.ptr());
  throw nb::python_error();
}
