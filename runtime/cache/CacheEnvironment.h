//===- CacheEnvironment.h - The user's cache -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The one place where the environment is read for a cache:
//
//   ATTNC_CACHE        off: no files; on, or not set: files
//   ATTNC_CACHE_DIR    where they are; else XDG_CACHE_HOME/attnc, else
//                      HOME/.cache/attnc
//   ATTNC_CACHE_BYTES  the most bytes of all files, 1 GiB where it is not set
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHEENVIRONMENT_H
#define ATTNC_RUNTIME_CACHE_CACHEENVIRONMENT_H

#include "runtime/cache/KernelCache.h"

namespace attnc::cache {

/// What the environment says of the cache. What cannot be understood is a complaint, and files are not used.
/// `directory` is where files are in place of what it says, where that is not empty; `always`: there are some, whatever
/// ATTNC_CACHE says.
CacheOptions readCacheEnvironment(const std::string &directory = "", bool always = false);

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHEENVIRONMENT_H
