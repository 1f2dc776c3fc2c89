//===- MaskPicture.h - Tile maps for terminals and as SVG -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_MASKPICTURE_H
#define ATTNC_RUNTIME_EXPLAIN_MASKPICTURE_H

#include "runtime/explain/MaskMap.h"
#include "llvm/Support/raw_ostream.h"

namespace attnc::explain {

/// "empty", "partial" or "full".
llvm::StringRef nameOf(TileClass kind);

/// Draws `map` in characters, queries downwards and keys to the right; several tiles share one where it is wider than
/// `width` or higher than `height`. Colours where `os` shows them.
void drawText(const MaskMap &map, unsigned width, unsigned height, llvm::raw_ostream &os);

/// Draws `map` as an SVG image with axes and a legend, under `title`.
void drawSvg(const MaskMap &map, llvm::StringRef title, llvm::raw_ostream &os);

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_MASKPICTURE_H
