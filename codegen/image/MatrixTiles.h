//===- MatrixTiles.h - Leave to use tile registers --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_MATRIXTILES_H
#define ATTNC_CODEGEN_IMAGE_MATRIXTILES_H

namespace attnc::image {

/// Asks the system to let this process use the tile registers of AMX, whose state is large, so that it wants to be
/// asked (Linux, `arch_prctl`, ARCH_REQ_XCOMP_PERM). Whether it does; not where the CPU has none. Asks once.
bool permitMatrixTiles();

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_MATRIXTILES_H
