//===- Place.cpp - Where kernels of a target run ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/Place.h"
#include <vector>

using namespace attnc;
using namespace attnc::runtime;

namespace {

/// The kind of a target's name, and what runs its kernels.
struct Kind {
  std::string_view name;
  Place place;
};

/// Not asked of the compiler's backends: the library without the compiler has none, and launches images all the same.
/// Which kinds it launches is a fact of what is linked into it, and images tell their kind by name. PlaceTest holds the
/// list to the backends that are attnc's own.
constexpr Kind kinds[] = {{hostTarget, Place::Host}, {gpuTarget, Place::Gpu}, {"nvrtc", Place::Gpu}};

} // namespace

std::optional<Place> runtime::findPlace(std::string_view target) {
  for (const Kind &kind : kinds)
    if (target.substr(0, target.find(':')) == kind.name)
      return kind.place;
  return std::nullopt;
}

std::string runtime::describePlaces() {
  std::vector<std::string> names = {"auto"};
  for (const Kind &kind : kinds) {
    names.emplace_back(kind.name);
    if (kind.place == Place::Gpu)
      names.push_back(names.back() + ":ARCH");
  }
  std::string text = names.front();
  for (size_t n = 1; n < names.size(); ++n)
    text += (n + 1 < names.size() ? ", " : " and ") + names[n];
  return text;
}
