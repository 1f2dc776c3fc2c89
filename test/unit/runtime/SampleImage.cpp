//===- SampleImage.cpp - An image for tests --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "SampleImage.h"
#include "codegen/image/Hash.h"

#include <cstring>

using namespace attnc;
using namespace attnc::image;
using namespace attnc::test;

GridRule test::sampleGrid() {
  return GridRule::combine(GridRule::Op::Mul,
                           GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(1), GridRule::constant(96)),
                           GridRule::symbol(0));
}

KernelImage test::makeSampleImage() {
  KernelImage image;
  image.name = "gemma2_local";
  image.target = "cpu:x86-64-v3";
  image.symbols = {"B", "Sq", "Sk", "P"};
  image.workspaces = {"statistics", "sums"};
  image.buildId = "attnc 0.1";
  image.bytes = {0x7F, 'E', 'L', 'F', 0, 1, 2};
  ArgSpec q;
  q.name = "q";
  q.dtype = DType::BF16;
  q.dims = {{-1, 0, false}, {-1, 1, false}, {16, -1, true}};
  q.unitInnerStride = true;
  ArgSpec lengths;
  lengths.name = "cu";
  lengths.dtype = DType::I32;
  lengths.dims = {{-1, -1, false}};
  lengths.content = ContentRule::CumulativeLengths;
  lengths.contentSymbols = {1};
  ArgSpec p;
  p.name = "p";
  p.kind = ArgKind::Scalar;
  p.min = 0;
  p.max = 1;
  p.notNaN = true;
  ArgSpec offset;
  offset.name = "offset";
  offset.kind = ArgKind::Scalar;
  offset.dtype = DType::I64;
  offset.isIndex = true;
  offset.positions = {{-1024, 4096, 1, 0}};
  ArgSpec out = q;
  out.name = "out";
  out.role = ArgRole::Output;
  ArgSpec keyLengths = lengths;
  keyLengths.name = "key_lengths";
  keyLengths.dims = {{-1, 0, false}};
  keyLengths.content = ContentRule::Lengths;
  ArgSpec table;
  table.name = "table";
  table.dtype = DType::I32;
  table.dims = {{-1, 0, false}, {-1, 2, false, 0, 16, 0, 1000}};
  table.pages = {{3, 16, 5}, {3, 16, -1}};
  image.args = {q, lengths, p, offset, out, keyLengths, table};
  image.entries = {{"forward", sampleGrid(), 4096}, {"combine", GridRule::constant(1), 0}};
  KernelEntry gpu = {"forward_gpu", sampleGrid()};
  gpu.launches.when = {
      {GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(1), GridRule::symbol(0)), 1024, 4095}};
  gpu.launches.unless = {{{GridRule::symbol(2), 0, 7}, {GridRule::symbol(0), 3, 4}}};
  gpu.boxes = BoxRule{{{0, 1}, {6, 0}}, false};
  gpu.threads = 384;
  gpu.sharedBytes = 230000;
  gpu.persistent = true;
  gpu.blocksPerMultiprocessor = 2;
  gpu.takesCounter = true;
  gpu.early = true;
  gpu.workspaces = {{1, sampleGrid(), GridRule::constant(7)}, {0, GridRule::symbol(0), GridRule::constant(3)}};
  gpu.tensorMaps = {{0, {1, 128, 64}, 128}, {4, {1, 64, 32}, 64, {1, 0, 2}}};
  gpu.registers = 168;
  gpu.spillBytes = 8;
  image.entries.push_back(gpu);
  return image;
}

std::vector<uint8_t> test::refit(std::vector<uint8_t> file, size_t preambleBytes) {
  if (file.size() < preambleBytes)
    return file;
  const uint64_t length = file.size() - preambleBytes;
  const uint64_t hash = hash64(Span<const uint8_t>(file).slice(preambleBytes, length));
  std::memcpy(file.data() + 16, &length, 8);
  std::memcpy(file.data() + 24, &hash, 8);
  return file;
}
