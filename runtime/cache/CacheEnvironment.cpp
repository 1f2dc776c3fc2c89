//===- CacheEnvironment.cpp - The user's cache -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheEnvironment.h"

#include <charconv>
#include <cstdlib>

using namespace attnc;
using namespace attnc::cache;

/// The value of a variable; empty where it is not set.
static std::string get(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where files are; empty where the environment does not say.
static std::string findDirectory() {
  if (std::string own = get("ATTNC_CACHE_DIR"); !own.empty())
    return own;
  // "All paths set in these environment variables must be absolute" (XDG Base Directory Specification 0.8).
  if (std::string caches = get("XDG_CACHE_HOME"); !caches.empty() && caches[0] == '/')
    return caches + "/attnc";
  if (std::string home = get("HOME"); !home.empty() && home[0] == '/')
    return home + "/.cache/attnc";
  return "";
}

CacheOptions cache::readCacheEnvironment(const std::string &directory, bool always) {
  CacheOptions options;
  const std::string use = always ? "on" : get("ATTNC_CACHE"), bytes = get("ATTNC_CACHE_BYTES");
  if (use == "off")
    return options;
  if (!use.empty() && use != "on") {
    options.complaint = "the kernel cache is not used: expected 'on' or 'off' for ATTNC_CACHE, got '" + use + "'";
    return options;
  }
  if (!bytes.empty()) {
    const char *end = bytes.data() + bytes.size();
    auto [read, error] = std::from_chars(bytes.data(), end, options.maxBytes);
    if (error != std::errc() || read != end || options.maxBytes < 0) {
      options.complaint =
          "the kernel cache is not used: expected a number of bytes for ATTNC_CACHE_BYTES, got '" + bytes + "'";
      return options;
    }
  }
  options.directory = directory.empty() ? findDirectory() : directory;
  if (options.directory.empty())
    options.complaint =
        "the kernel cache is not used: none of ATTNC_CACHE_DIR, XDG_CACHE_HOME and HOME says where it is";
  return options;
}
