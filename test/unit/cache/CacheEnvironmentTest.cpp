//===- CacheEnvironmentTest.cpp - Tests of the user's cache ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/cache/CacheEnvironment.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

using namespace attnc::cache;

namespace {

/// What the cache is under these variables, of which those that are not named are not set.
CacheOptions readUnder(const std::map<std::string, std::string> &variables, const std::string &directory = "",
                       bool always = false) {
  std::map<std::string, std::optional<std::string>> before;
  for (const char *name : {"ATTNC_CACHE", "ATTNC_CACHE_DIR", "ATTNC_CACHE_BYTES", "XDG_CACHE_HOME", "HOME"}) {
    const char *value = std::getenv(name);
    before[name] = value ? std::optional<std::string>(value) : std::nullopt;
    ::unsetenv(name);
  }
  for (const auto &[name, value] : variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  CacheOptions options = readCacheEnvironment(directory, always);
  for (const auto &[name, value] : before)
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  return options;
}

TEST(CacheEnvironment, SaysWhereFilesAre) {
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}}).directory, "/home/me/.cache/attnc");
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/x"}}).directory, "/x/attnc");
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "not/absolute"}}).directory, "/home/me/.cache/attnc");
  EXPECT_EQ(readUnder({{"XDG_CACHE_HOME", "/x"}, {"ATTNC_CACHE_DIR", "/own"}}).directory, "/own");
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}}).maxBytes, int64_t{1} << 30);
}

TEST(CacheEnvironment, ADirectoryThatIsGivenComesFirst) {
  EXPECT_EQ(readUnder({{"ATTNC_CACHE_DIR", "/own"}}, "/given").directory, "/given");
  CacheOptions options = readUnder({}, "/given");
  EXPECT_EQ(options.directory, "/given");
  EXPECT_EQ(options.complaint, "");
  EXPECT_EQ(readUnder({{"ATTNC_CACHE", "off"}}, "/given").directory, "");
  EXPECT_EQ(readUnder({{"ATTNC_CACHE", "off"}}, "/given", /*always=*/true).directory, "/given");
}

TEST(CacheEnvironment, TurnsFilesOff) {
  CacheOptions options = readUnder({{"HOME", "/home/me"}, {"ATTNC_CACHE", "off"}});
  EXPECT_EQ(options.directory, "");
  EXPECT_EQ(options.complaint, "");
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}, {"ATTNC_CACHE", "on"}}).directory, "/home/me/.cache/attnc");
}

TEST(CacheEnvironment, ComplainsOfWhatItDoesNotUnderstand) {
  CacheOptions options = readUnder({{"HOME", "/home/me"}, {"ATTNC_CACHE", "OFF"}});
  EXPECT_EQ(options.directory, "");
  EXPECT_EQ(options.complaint, "the kernel cache is not used: expected 'on' or 'off' for ATTNC_CACHE, got 'OFF'");
  for (const char *bytes : {"1G", "-1", "99999999999999999999", " 1"})
    EXPECT_EQ(readUnder({{"HOME", "/home/me"}, {"ATTNC_CACHE_BYTES", bytes}}).complaint,
              "the kernel cache is not used: expected a number of bytes for ATTNC_CACHE_BYTES, got '" +
                  std::string(bytes) + "'");
  EXPECT_EQ(readUnder({{"HOME", "/home/me"}, {"ATTNC_CACHE_BYTES", "5000"}}).maxBytes, 5000);
  EXPECT_EQ(readUnder({}).complaint,
            "the kernel cache is not used: none of ATTNC_CACHE_DIR, XDG_CACHE_HOME and HOME says where it is");
}

} // namespace
