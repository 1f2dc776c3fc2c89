//===- Error.h - Errors as values ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime returns instead of throwing. A user's mistake is an `Error`
// with one line of text; a mistake of the caller's code is an assertion.
//
// Both `Status` and `Result` are true when all went well:
//
//   Result<Tensor> tensor = Tensor::allocate(DType::F32, {2, 3});
//   if (!tensor)
//     return tensor.takeError();
//   use(*tensor);
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_ERROR_H
#define ATTNC_CODEGEN_IMAGE_ERROR_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace attnc::image {

/// One line for the user: starts lower-case, ends without a period.
struct Error {
  std::string message;
};

/// Success, or an error.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;

  /// Failure, for the reason that `error` gives.
  Status(Error error) : failure(std::move(error)) {}

  /// Whether all went well.
  explicit operator bool() const { return !failure; }

  /// The reason for the failure, empty on success.
  std::string message() const { return failure ? failure->message : ""; }

  /// Moves the error out; only for a failure.
  Error takeError() {
    assert(failure && "a success holds no error");
    return std::move(*failure);
  }

private:
  std::optional<Error> failure;
};

/// A `T`, or the error that prevented it.
template <typename T>
class [[nodiscard]] Result {
public:
  /// Success with `value`.
  Result(T value) : value(std::move(value)) {}

  /// Failure, for the reason that `error` gives.
  Result(Error error) : failure(std::move(error)) {}

  /// Whether there is a value.
  explicit operator bool() const { return value.has_value(); }

  /// The value; only for a success.
  T &operator*() & {
    assert(value && "a failure holds no value");
    return *value;
  }
  const T &operator*() const & {
    assert(value && "a failure holds no value");
    return *value;
  }
  T &&operator*() && {
    assert(value && "a failure holds no value");
    return std::move(*value);
  }
  T *operator->() {
    assert(value && "a failure holds no value");
    return &*value;
  }
  const T *operator->() const {
    assert(value && "a failure holds no value");
    return &*value;
  }

  /// The reason for the failure, empty on success.
  const std::string &message() const { return failure.message; }

  /// Moves the error out; only for a failure.
  Error takeError() {
    assert(!value && "a success holds no error");
    return std::move(failure);
  }

private:
  std::optional<T> value;
  Error failure;
};

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_ERROR_H
