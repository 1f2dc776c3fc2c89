//===- Arguments.h - Launch-time argument checks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Rule S18: bad input is an error that names the argument, what was expected
// and what came, before anything is launched or written. What passes becomes
// the argument block that generated code reads.
//
// The argument block is an array of int64_t slots. Arguments follow each other
// in the image's order, with no gaps:
//
//   tensor of rank r (1 + 2r slots)
//     slot 0            the address of the element with index 0 everywhere
//     slot 1 .. r       the sizes, outermost first: the tensor's real sizes, so
//                       1 for a dimension that broadcasts
//     slot r+1 .. 2r    the strides in elements, outermost first; 0 for a
//                       dimension that may broadcast and has size 1
//   scalar (1 slot)
//     f64               its bits
//     f32, f16, bf16    its bits in the low 32 or 16 bits, zeros above
//     i1                0 or 1
//     i8, i32, i64      sign-extended (`index` is i64)
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_ARGUMENTS_H
#define ATTNC_RUNTIME_ARGUMENTS_H

#include "codegen/image/KernelImage.h"
#include "runtime/Tensor.h"

#include <variant>

namespace attnc::runtime {

/// A value for one argument: a tensor, an integer or a real number.
using ArgValue = std::variant<Tensor, int64_t, double>;

/// Checked arguments, ready to launch.
struct BoundArguments {
  /// The size of each symbol of the image. A symbol that no dimension names, or
  /// that only broadcast dimensions of size 1 name, has size 1.
  std::vector<int64_t> symbolSizes;
  /// The argument block.
  std::vector<int64_t> slots;
  /// The tensors of the host, kept alive until the launch is done.
  std::vector<Tensor> tensors;
};

/// How many slots an argument takes.
int64_t numSlots(const image::ArgSpec &arg);

/// The first slot of each argument, and last the number of all slots.
std::vector<int64_t> slotOffsets(const image::KernelImage &image);

/// Whether `rule` holds for tensors in an argument block of `image`, whose arguments
/// begin at `offsets`: the copy unit can take boxes of all of them as they are, or
/// not. A dimension along which one element stands for all has no boxes.
bool holds(const image::BoxRule &rule, const image::KernelImage &image, image::Span<const int64_t> offsets,
           image::Span<const int64_t> slots);

/// Checks `values`, one for each argument of `image` in its order, and builds
/// the argument block. Checked: number and kinds of arguments; rank, element
/// type, sizes, equal sizes for each symbol, strides, address and alignment of
/// tensors; type and range of scalars; content of length tensors. An integer is
/// accepted for a scalar of floating-point type, not the reverse. `image` must
/// be verified.
///
/// All tensors must lie in `space`. The content of length tensors is checked on
/// the host only: to read a device would make a launch wait for it.
image::Result<BoundArguments> bindArguments(const image::KernelImage &image, image::Span<const ArgValue> values,
                                            MemorySpace space = MemorySpace::Host);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_ARGUMENTS_H
