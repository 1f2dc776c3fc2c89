//===- image_fuzzer.cpp - Fuzzes kernel images ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The input is a file of an image (EditedFile.h). What is read is an image as the runtime takes it: its rules have
// values or none for any sizes, its workspaces a place, and it can be written and read again.
//===----------------------------------------------------------------------===//

#include "EditedFile.h"
#include "Require.h"

using namespace attnc;
using namespace attnc::image;

/// Asks `image` all that a launch with these sizes asks it.
static void useImage(const KernelImage &image, int64_t size) {
  const std::vector<int64_t> sizes(image.symbols.size(), size);
  for (const KernelEntry &entry : image.entries) {
    test::require(entry.grid.evaluate(sizes) >= -1);
    test::require(!entry.grid.toString(image.symbols).empty());
    (void)entry.launches.holds(sizes);
    for (const WorkspaceRule &workspace : entry.workspaces)
      test::require(workspace.countBytes(sizes) >= -1);
  }
  (void)placeWorkspaces(image, sizes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<uint8_t> &good = *new std::vector<uint8_t>(serialize(test::makeSampleImage()));
  Result<KernelImage> image = deserialize(test::makeFile({data, size}, good, /*preambleBytes=*/32));
  if (!image) {
    test::require(!image.message().empty());
    return 0;
  }
  for (int64_t length : {int64_t(0), int64_t(1), int64_t(100), INT64_MAX})
    useImage(*image, length);
  const std::vector<uint8_t> written = serialize(*image);
  Result<KernelImage> again = deserialize(written);
  test::require(again && serialize(*again) == written);
  return 0;
}
