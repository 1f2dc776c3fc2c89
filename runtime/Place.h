//===- Place.h - Where kernels of a target run ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime can launch by itself, with or without a compiler. The compiler's targets are its backends'.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PLACE_H
#define ATTNC_RUNTIME_PLACE_H

#include <optional>
#include <string>
#include <string_view>

namespace attnc::runtime {

/// What runs a kernel.
enum class Place { Host, Gpu };

/// What kernels are asked for where nobody names a target: without a GPU, and with one.
inline constexpr std::string_view hostTarget = "cpu", gpuTarget = "nvptx";

/// Where kernels of a target run, by its kind alone: the name that is asked for or that images carry ("cpu:znver3",
/// "nvptx:sm_90a"). Nothing for kinds that the runtime does not launch.
std::optional<Place> findPlace(std::string_view target);

/// How to write the names of all that it launches, for messages.
std::string describePlaces();

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_PLACE_H
