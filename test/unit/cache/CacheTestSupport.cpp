//===- CacheTestSupport.cpp - What tests of the cache share ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "CacheTestSupport.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace attnc;
using namespace attnc::test;

TemporaryDirectory::TemporaryDirectory(const std::string &parent)
    : root((parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent)) /
           "attnc-cache-XXXXXX") {
  if (!::mkdtemp(root.data()))
    ADD_FAILURE() << "cannot make " << root;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

std::function<void(const std::string &)> Remarks::sink() {
  return [this](const std::string &line) {
    std::lock_guard<std::mutex> lock(mutex);
    lines.push_back(line);
  };
}

std::vector<std::string> Remarks::all() const {
  std::lock_guard<std::mutex> lock(mutex);
  return lines;
}

int Remarks::count(const std::string &text) const {
  std::vector<std::string> known = all();
  return static_cast<int>(std::count_if(known.begin(), known.end(),
                                        [&](const std::string &line) { return line.find(text) != std::string::npos; }));
}

image::KernelImage test::makeImage(int number, size_t size) {
  image::KernelImage image;
  image.name = "kernel" + std::to_string(number);
  image.target = "cpu:test";
  image.symbols = {"N"};
  image::KernelEntry entry;
  entry.symbol = image.name + "_entry";
  entry.grid = image::GridRule::symbol(0);
  image.entries = {entry};
  image.bytes.assign(size, static_cast<uint8_t>(number));
  return image;
}

cache::Digest test::makeKey(int number) {
  return cache::blake3({reinterpret_cast<const uint8_t *>(&number), sizeof(number)});
}

pid_t test::start(const std::function<void()> &work) {
  pid_t process = ::fork();
  if (process == 0) {
    work();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  return process;
}

bool test::finish(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string test::readFile(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void test::writeFile(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}
