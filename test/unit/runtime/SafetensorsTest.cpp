//===- SafetensorsTest.cpp - Tests of reading and writing ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/Safetensors.h"
#include "runtime/Random.h"

#include <cstring>
#include <dirent.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

/// A folder of its own for each test.
class Safetensors : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "attnc-safetensors-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }

  void TearDown() override {
    for (const std::string &file : files())
      unlink((folder + "/" + file).c_str());
    rmdir(folder.c_str());
  }

  std::string path(const std::string &name = "t.safetensors") const { return folder + "/" + name; }

  /// The names of the files in the folder.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR *directory = opendir(folder.c_str());
    while (const dirent *entry = readdir(directory))
      if (entry->d_name[0] != '.')
        names.emplace_back(entry->d_name);
    closedir(directory);
    return names;
  }

  /// The bytes of a file.
  std::string slurp(const std::string &file) const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// Writes `header` and `data` as a file.
  void spit(const std::string &header, const std::string &data) const {
    const uint64_t length = header.size();
    std::ofstream stream(path(), std::ios::binary);
    stream.write(reinterpret_cast<const char *>(&length), 8);
    stream << header << data;
  }

  /// Writes `tensors` to a file.
  void write(const std::string &file, Span<const NamedTensor> tensors,
             const std::map<std::string, std::string> &metadata = {}) const {
    Result<SafetensorsData> data = SafetensorsData::layOut(tensors, metadata);
    ASSERT_TRUE(data) << data.message();
    std::ofstream stream(file, std::ios::binary);
    data->forEachPiece([&](const void *bytes, size_t size) {
      stream.write(static_cast<const char *>(bytes), static_cast<std::streamsize>(size));
    });
  }

  std::string folder;
};

TEST_F(Safetensors, RoundTripsEveryType) {
  std::vector<NamedTensor> tensors;
  for (unsigned i = 0; i < numDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    Tensor tensor = *Tensor::allocate(dtype, {3, 5});
    fillUniform(tensor, 1, i, -100, 100);
    tensors.push_back({"tensor." + std::string(name(dtype)), tensor});
  }
  tensors.push_back({"view", tensors[1].tensor.transposedView({1, 0}).slicedView(0, 1, 3)});
  tensors.push_back({"scalar", *Tensor::allocate(DType::F64, {})});
  tensors.back().tensor.fill(2.5);
  tensors.push_back({"empty \"\\\n", *Tensor::allocate(DType::F16, {0, 4})});
  write(path(), tensors, {{"key", "value \"quoted\""}});

  Result<SafetensorsFile> file = SafetensorsFile::open(path());
  ASSERT_TRUE(file) << file.message();
  EXPECT_EQ(file->metadata().at("key"), "value \"quoted\"");
  EXPECT_EQ(file->entries().size(), tensors.size());
  for (const NamedTensor &named : tensors) {
    Result<Tensor> read = file->tensor(named.name);
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(read->dtype(), named.tensor.dtype());
    EXPECT_EQ(read->shape(), named.tensor.shape());
    Tensor dense = *named.tensor.contiguous();
    EXPECT_EQ(std::memcmp(read->data(), dense.data(), dense.numBytes()), 0) << named.name;
  }
  EXPECT_TRUE(file->contains("scalar"));
  EXPECT_EQ(file->tensor("absent").message(), path() + ": no tensor 'absent'");
}

TEST_F(Safetensors, WritesTheSameBytesWhateverTheOrder) {
  Tensor a = *Tensor::allocate(DType::F32, {4}), b = *Tensor::allocate(DType::I8, {3});
  a.fill(1);
  b.fill(2);
  write(path("1"), {{"a", a}, {"b", b}});
  write(path("2"), {{"b", b}, {"a", a}});
  EXPECT_EQ(slurp(path("1")), slurp(path("2")));
}

TEST_F(Safetensors, ViewsOutliveTheFileAndDoNotReachIt) {
  Tensor ones = *Tensor::allocate(DType::F32, {4});
  ones.fill(1);
  write(path(), {{"a", ones}});
  Tensor tensor = *SafetensorsFile::open(path())->tensor("a");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  tensor.fill(7);
  EXPECT_EQ(tensor.loadLinear(3), 7);
  EXPECT_EQ(SafetensorsFile::open(path())->tensor("a")->loadLinear(3), 1);
}

TEST_F(Safetensors, CopiesUnalignedTensors) {
  const float value = 1.5f;
  std::string data(5, '\0');
  std::memcpy(data.data() + 1, &value, 4);
  spit("{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
       "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}",
       data);
  Result<SafetensorsFile> file = SafetensorsFile::open(path());
  ASSERT_TRUE(file) << file.message();
  Result<Tensor> tensor = file->tensor("b");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 4, 0u);
  EXPECT_EQ(tensor->loadLinear(0), 1.5);
}

TEST_F(Safetensors, RefusesBadTruthValues) {
  spit("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}", "\x01\x02");
  EXPECT_EQ(SafetensorsFile::open(path())->tensor("a").message(),
            path() + ": tensor 'a': expected BOOL bytes of 0 or 1");
}

TEST_F(Safetensors, RefusesBadFiles) {
  EXPECT_NE(SafetensorsFile::open(path("absent")).message().find("cannot open"), std::string::npos);
  EXPECT_EQ(SafetensorsFile::open(folder).message(), folder + ": not a regular file");
  std::ofstream(path("empty")).flush();
  EXPECT_EQ(SafetensorsFile::open(path("empty")).message(),
            path("empty") + ": not a safetensors file: it has 0 bytes, expected at least 8");
}

TEST_F(Safetensors, RefusesToWriteWhatCannotBeRead) {
  Tensor tensor = *Tensor::allocate(DType::F32, {1});
  tensor.fill(0);
  EXPECT_EQ(SafetensorsData::layOut({{"a", tensor}, {"a", tensor}}).message(), "tensor 'a': the name is used twice");
  EXPECT_FALSE(SafetensorsData::layOut({{"__metadata__", tensor}}));
  EXPECT_FALSE(SafetensorsData::layOut({{"\xFF", tensor}}));
  EXPECT_FALSE(SafetensorsData::layOut({{"a", tensor}}, {{"key", "\xFF"}}));
}

TEST_F(Safetensors, RefusesAPipeThatNobodyWritesTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(SafetensorsFile::open(path("pipe")).message(), path("pipe") + ": not a regular file");
}

} // namespace
