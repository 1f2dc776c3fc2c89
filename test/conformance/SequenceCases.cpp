//===- SequenceCases.cpp - Lengths, packed sequences, segments --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Case.h"

using namespace attnc::conformance;

static constexpr const char *causal = "%keep = attn.causal %i, %j";

static void addLengths(std::vector<Case> &cases, Extent extent) {
  const std::string query = "query = %ql : tensor<?xi32>", key = "key = %kl : tensor<?xi32>";
  const std::vector<std::string> both = {"ql: tensor<?xi32>", "kl: tensor<?xi32>"};
  Spec spec;
  spec.arguments = both;
  spec.clauses = "lengths(" + query + ", " + key + ")";
  cases.push_back({"S11_lengths", spec, standardTrials(extent)});
  cases.push_back({"S11_lengths_0", spec, standardTrials(extent, {{"ql", {1}}, {"kl", {0}}})});
  cases.push_back({"S11_lengths_0_and_1", spec, standardTrials(extent, {{"ql", {1, 0}}, {"kl", {1}}})});
  spec.mask = causal;
  cases.push_back({"S11_lengths_causal", spec, standardTrials(extent)});
  spec.mask = "%keep = attn.window %i, %j left(9) right(2)";
  cases.push_back({"S11_lengths_window", spec, standardTrials(extent)});

  Spec keysOnly;
  keysOnly.arguments = {"kl: tensor<?xi32>"};
  keysOnly.clauses = "lengths(" + key + ")";
  cases.push_back({"S11_lengths_keys_only", keysOnly, standardTrials(extent)});
  keysOnly.arguments.emplace_back("n: tensor<$Hx1xf32>");
  keysOnly.clauses += " sinks(%n : tensor<$Hx1xf32>)";
  cases.push_back({"S11_lengths_with_sinks", keysOnly, standardTrials(extent)});
  Spec queriesOnly;
  queriesOnly.arguments = {"ql: tensor<?xi32>"};
  queriesOnly.clauses = "align(top_left) lengths(" + query + ")";
  queriesOnly.mask = causal;
  cases.push_back({"S11_lengths_queries_only", queriesOnly, standardTrials(extent)});
}

static void addPacked(std::vector<Case> &cases, Extent extent) {
  Spec spec;
  spec.packed = true;
  cases.push_back({"S11_varlen", spec, packedTrials(extent)});
  spec.mask = causal;
  cases.push_back({"S11_varlen_causal", spec, packedTrials(extent)});
  Case empty{"S11_varlen_empty_sequences", spec, {}};
  for (std::vector<double> offsets :
       {std::vector<double>{0, 0, 150, 150, 200}, {0, 200, 200, 200, 200}, {0, 0, 0, 0, 200}, {0, 70, 70, 199, 200}}) {
    Trial trial;
    trial.shape = "B=4,Tq=200,Tk=200";
    trial.contents = {{"qo", offsets}, {"ko", {0, 60, 60, 199, 200}}};
    empty.trials.push_back(trial);
  }
  cases.push_back(empty);
  spec.clauses = "align(top_left)";
  cases.push_back({"S11_varlen_causal_top_left", spec, packedTrials(extent)});
  spec.clauses = "dropout(0.2, %seed)";
  spec.arguments = {"seed: i64"};
  cases.push_back({"S11_varlen_dropout", spec, packedTrials(extent)});
  spec.clauses = "";
  spec.arguments = {"bias: tensor<?x$T>"};
  spec.score = "%x = attn.bias %s, %bias[%j] : tensor<?x$T>";
  spec.learned = true;
  cases.push_back({"S11_varlen_bias_of_packed_keys", spec, packedTrials(extent)});
  // Sequences begin within the units that the copy engine moves.
  Spec square = spec;
  square.arguments = {"bias: tensor<?x?x$T>"};
  square.score = "%x = attn.bias %s, %bias[%i, %j] : tensor<?x?x$T>";
  cases.push_back({"S11_varlen_bias_of_packed_queries_and_keys", square, packedTrials(extent)});
  spec.learned = false;
  // Tensors by the number of the sequence: as many elements as there are sequences.
  spec.arguments = {"bias: tensor<?x$T>", "n: tensor<?xi32>"};
  spec.score = "%x = attn.bias %s, %bias[%b] : tensor<?x$T>";
  spec.mask = R"(%c = attn.causal %i, %j
      %p = attn.prefix %j, %n[%b] : tensor<?xi32>
      %keep = arith.ori %c, %p : i1)";
  cases.push_back({"S11_varlen_by_sequence", spec, packedTrials(extent)});
  cases.back().trials.emplace_back().shape = "B=0,Tq=0,Tk=0";
  // By the place in its sequence and by the sequence, with gradients: neither has rows of its own.
  spec.arguments = {"bias: tensor<9x12x$T>", "factors: tensor<?xf32>"};
  spec.score = R"(%c = arith.constant 7 : index
      %n = arith.remui %i, %c : index
      %m = arith.remui %j, %c : index
      %y = attn.bias %s, %bias[%n, %m] : tensor<9x12x$T>
      %l = attn.load %factors[%b] : tensor<?xf32>
      %f = math.exp %l : f32
      %x = arith.mulf %y, %f : f32)";
  spec.mask = causal;
  spec.learned = true;
  cases.push_back({"S15_varlen_scattered", spec, packedTrials(extent)});
  cases.back().trials.emplace_back().shape = "B=0,Tq=0,Tk=0";
  Spec grouped;
  grouped.packed = true;
  grouped.queryHeads = 6;
  grouped.mask = "%keep = attn.window %i, %j left(11) right(0)";
  cases.push_back({"S11_varlen_window_grouped", grouped, packedTrials(extent)});
}

/// Sizes for pages of `rows` rows: each sequence has as many entries, and some pages are nobody's or of several.
static std::vector<Trial> pagedTrials(int64_t rows, bool packed, Extent extent) {
  std::vector<Trial> trials;
  auto add = [&](int64_t batch, int64_t queries, int64_t entries, int64_t pages) {
    trials.emplace_back().shape = "B=" + std::to_string(batch) + (packed ? ",Tq=" : ",Sq=") + std::to_string(queries) +
                                  ",Sk=" + std::to_string(entries * rows) + ",P=" + std::to_string(pages);
  };
  const int64_t keys = 200;
  add(2, 1, keys / rows + 1, 2 * (keys / rows + 1) + 3);
  add(3, 70, keys / rows + 1, std::max<int64_t>(keys / rows, 1));
  if (extent == Extent::Full) {
    add(2, 200, 3 * keys / rows + 2, 1);
    add(1, 17, 1, 9);
  }
  return trials;
}

static void addPages(std::vector<Case> &cases, Extent extent) {
  const std::string lengths = "lengths(key = %kl : tensor<?xi32>)";
  // Boxes of pages that divide a tile, that it divides, that share a divisor with it, and that are too small for boxes.
  for (int64_t rows : {16, 256, 24, 5}) {
    Spec spec;
    spec.pageRows = rows;
    spec.queryHeads = 4;
    spec.arguments = {"kl: tensor<?xi32>"};
    spec.clauses = lengths;
    spec.mask = causal;
    cases.push_back({"S19_pages_of_" + std::to_string(rows), spec, pagedTrials(rows, /*packed=*/false, extent)});
    spec.packed = true;
    cases.push_back(
        {"S19_pages_of_" + std::to_string(rows) + "_varlen", spec, pagedTrials(rows, /*packed=*/true, extent)});
  }
  Spec spec;
  spec.pageRows = 16;
  cases.push_back({"S19_pages_without_lengths", spec, pagedTrials(16, /*packed=*/false, extent)});
  spec.packed = true;
  cases.push_back({"S19_pages_without_lengths_varlen", spec, pagedTrials(16, /*packed=*/true, extent)});
  spec.packed = false;
  spec.valueDim = 32;
  spec.headDim = 72;
  spec.arguments = {"kl: tensor<?xi32>", "bias: tensor<?x?x$T>", "n: tensor<$Hx1xf32>"};
  spec.clauses = lengths + " sinks(%n : tensor<$Hx1xf32>)";
  spec.score = "%x = attn.bias %s, %bias[%b, %j] : tensor<?x?x$T>";
  spec.mask = "%keep = attn.window %i, %j left(40) right(0)";
  cases.push_back({"S19_pages_bias_window", spec, pagedTrials(16, /*packed=*/false, extent)});
  Spec segments;
  segments.pageRows = 8;
  segments.arguments = {"qs: tensor<?x?xi32>", "ks: tensor<?x?xi32>"};
  segments.mask = "%keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>";
  cases.push_back({"S19_pages_segments", segments, pagedTrials(8, /*packed=*/false, extent)});
  // Entries behind a length name nothing, and are not read.
  Spec unused;
  unused.pageRows = 16;
  unused.arguments = {"kl: tensor<?xi32>"};
  unused.clauses = lengths;
  Trial trial;
  trial.shape = "B=2,Sq=3,Sk=64,P=4";
  trial.contents = {{"kl", {17, 0}}, {"table", {3, 0, -1, 2147483647, -2147483648, 4, -7, 100}}};
  cases.push_back({"S19_entries_behind_lengths", unused, {trial}});
}

static void addSegments(std::vector<Case> &cases, Extent extent) {
  Spec cross;
  cross.arguments = {"qs: tensor<?x?xi32>", "ks: tensor<?x?xi32>"};
  cross.mask = "%keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>";
  cases.push_back({"S12_segments", cross, standardTrials(extent)});
  cases.push_back(
      {"S12_segments_negative", cross, standardTrials(extent, {{"qs", {-1, 0, 2}}, {"ks", {0, -1, 2, -1}}})});
  Spec documents;
  documents.arguments = {"ids: tensor<?x?xi32>"};
  documents.mask = R"(%c = attn.causal %i, %j
      %same = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      %keep = arith.andi %c, %same : i1)";
  cases.push_back({"S12_documents_causal", documents, squareTrials(extent)});
  // Document bounds in plain loads: the same meaning, without the operation that names it.
  documents.mask = R"(%x = attn.load %ids[%b, %i] : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi32>
      %keep = arith.cmpi eq, %x, %y : i32)";
  cases.push_back({"S12_documents_in_plain_loads", documents, squareTrials(extent)});
}

void attnc::conformance::addSequenceCases(std::vector<Case> &cases, Extent extent) {
  addLengths(cases, extent);
  addPacked(cases, extent);
  addPages(cases, extent);
  addSegments(cases, extent);
}
