//===- CacheArchive.h - Caches that travel ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A cache as one file, for machines that have no compiler, or need not compile.
// Kernels are code: an archive is as trustworthy as who made it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHEARCHIVE_H
#define ATTNC_RUNTIME_CACHE_CACHEARCHIVE_H

#include "runtime/cache/CacheDirectory.h"

namespace attnc::cache {

/// How many files of each kind came of something.
struct ArchiveCounts {
  size_t kernels = 0, aliases = 0;
  /// Those that are damaged, or of another version of attnc.
  size_t leftOut = 0;
  /// The files that were imported.
  std::vector<FileName> written;
};

/// An archive of all that is whole in `directory`.
image::Result<Bytes> exportArchive(const CacheDirectory &directory, ArchiveCounts &counts);

/// Adds what `archive` holds to `directory`, which is made where it is not there. Kernels take the place of those of
/// the same key, and aliases add to what is known of their request. An archive that is damaged anywhere is an error,
/// and nothing is added.
image::Result<ArchiveCounts> importArchive(const CacheDirectory &directory, image::Span<const uint8_t> archive);

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHEARCHIVE_H
