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
  spec.learned = false;
  // Tensors by the number of the sequence: as many elements as there are sequences.
  spec.arguments = {"bias: tensor<?x$T>", "n: tensor<?xi32>"};
  spec.score = "%x = attn.bias %s, %bias[%b] : tensor<?x$T>";
  spec.mask = R"(%c = attn.causal %i, %j
      %p = attn.prefix %j, %n[%b] : tensor<?xi32>
      %keep = arith.ori %c, %p : i1)";
  cases.push_back({"S11_varlen_by_sequence", spec, packedTrials(extent)});
  cases.back().trials.emplace_back().shape = "B=0,Tq=0,Tk=0";
  Spec grouped;
  grouped.packed = true;
  grouped.queryHeads = 6;
  grouped.mask = "%keep = attn.window %i, %j left(11) right(0)";
  cases.push_back({"S11_varlen_window_grouped", grouped, packedTrials(extent)});
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
  addSegments(cases, extent);
}
