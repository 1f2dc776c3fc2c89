//===- UserCache.h - The user's kernel cache --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_USERCACHE_H
#define ATTNC_TOOLS_ATTNC_USERCACHE_H

#include "runtime/cache/KernelCache.h"

namespace attnc::cli {

/// What the environment says of the cache; remarks go to standard error as "attnc: remark: ...".
cache::CacheOptions readUserCache();

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_USERCACHE_H
