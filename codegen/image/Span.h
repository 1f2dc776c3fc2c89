//===- Span.h - Views of contiguous values and of callables ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The two borrowed views that C++17 lacks: `Span`, a pointer and a length, and
// `FunctionRef`, a callable that is not copied. Neither owns what it refers to,
// so both are parameters and never members of anything that outlives a call.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_SPAN_H
#define ATTNC_CODEGEN_IMAGE_SPAN_H

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace attnc::image {

/// A borrowed view of `size()` values of type `T` that lie one after another.
template <typename T>
class Span {
public:
  /// The element type without its constness.
  using Value = std::remove_const_t<T>;

  /// An empty view.
  Span() = default;

  /// A view of `size` values from `data` on.
  Span(T *data, size_t size) : first(data), count(size) {}

  /// A view of a whole array.
  template <size_t N>
  Span(T (&array)[N]) : first(array), count(N) {}

  /// A view of a whole container that has `data()` and `size()`: a vector, an
  /// array, or a span of the same values that may be written.
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Container &>().data()), T *>>>
  Span(Container &container) : first(container.data()), count(container.size()) {}

  /// A read-only view of a temporary container, alive until the full expression
  /// that made it ends.
  template <typename Container, typename C = const Container,
            typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>,
            typename = void>
  Span(const Container &container) : first(container.data()), count(container.size()) {}

  /// A read-only view of a braced list, alive until the full expression ends.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(std::initializer_list<Value> list) : first(list.begin()), count(list.size()) {}

  /// The first value, or null for an empty default view.
  T *data() const { return first; }

  /// The number of values.
  size_t size() const { return count; }

  /// Whether there are no values.
  bool empty() const { return count == 0; }

  /// Iteration over the values.
  T *begin() const { return first; }
  T *end() const { return first + count; }

  /// The value at `index`, which must be below `size()`.
  T &operator[](size_t index) const {
    assert(index < count && "index beyond the span");
    return first[index];
  }

  /// The values from `begin` on, `length` of them; both must lie inside.
  Span slice(size_t begin, size_t length) const {
    assert(begin <= count && length <= count - begin && "slice beyond span");
    return Span(first + begin, length);
  }

  /// A copy of the values.
  std::vector<Value> toVector() const { return std::vector<Value>(begin(), end()); }

private:
  T *first = nullptr;
  size_t count = 0;
};

template <typename Signature>
class FunctionRef;

/// A borrowed callable: two pointers, no allocation. It must not outlive the
/// callable that it was made from.
template <typename Return, typename... Params>
class FunctionRef<Return(Params...)> {
public:
  /// Refers to `callable`, which stays the caller's.
  template <typename Callable, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, FunctionRef>>>
  FunctionRef(Callable &&callable)
      : object(const_cast<void *>(static_cast<const void *>(std::addressof(callable)))),
        trampoline([](void *object, Params... params) -> Return {
          return (*static_cast<std::remove_reference_t<Callable> *>(object))(std::forward<Params>(params)...);
        }) {}

  /// Calls the callable.
  Return operator()(Params... params) const { return trampoline(object, std::forward<Params>(params)...); }

private:
  void *object;
  Return (*trampoline)(void *, Params...);
};

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_SPAN_H
