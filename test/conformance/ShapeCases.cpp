//===- ShapeCases.cpp - Heads, head dims, layouts, weights ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Case.h"

using namespace attnc::conformance;

static constexpr const char *causal = "%keep = attn.causal %i, %j";

/// A few sizes for cases that are about something else.
static std::vector<Trial> fewTrials(Extent extent) {
  std::vector<Trial> trials = standardTrials(extent);
  if (extent == Extent::Quick)
    return {trials[2]};
  return {trials[3], trials[6], trials[12]};
}

static void addGroups(std::vector<Case> &cases, Extent extent) {
  for (auto [queryHeads, keyHeads] :
       {std::pair(3, 3), std::pair(4, 2), std::pair(6, 2), std::pair(16, 2), std::pair(5, 1)}) {
    Spec spec;
    spec.queryHeads = queryHeads;
    spec.keyHeads = keyHeads;
    spec.mask = causal;
    std::string name = keyHeads == 1 ? "Hq" : std::to_string(queryHeads / keyHeads);
    cases.push_back({"S10_group_" + name, spec, fewTrials(extent)});
  }
}

/// Few queries of groups of heads, which tiles hold together on GPUs: less than one tile, about one, and several, and
/// as many as are held together at most.
static void addShortGroups(std::vector<Case> &cases) {
  std::vector<Trial> trials;
  for (const char *shape : {"B=2,Sq=1,Sk=300", "B=3,Sq=3,Sk=300", "B=2,Sq=17,Sk=130", "B=1,Sq=64,Sk=65"}) {
    trials.emplace_back();
    trials.back().shape = shape;
  }
  for (auto [queryHeads, keyHeads] : {std::pair(8, 2), std::pair(16, 2), std::pair(12, 2), std::pair(64, 1)}) {
    Spec spec;
    spec.queryHeads = queryHeads;
    spec.keyHeads = keyHeads;
    spec.mask = causal;
    cases.push_back({"S10_short_group_" + std::to_string(queryHeads / keyHeads), spec, trials});
  }
  Spec spec;
  spec.queryHeads = 8;
  spec.headDim = 128;
  spec.arguments = {"n: tensor<$Hx2xf32>", "ql: tensor<?xi32>", "kl: tensor<?xi32>"};
  spec.clauses = "sinks(%n : tensor<$Hx2xf32>) lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)";
  cases.push_back({"S10_short_group_with_sinks_and_lengths", spec, trials});
  Spec capped;
  capped.queryHeads = 4;
  capped.keyHeads = 1;
  capped.headDim = 8;
  capped.valueDim = 80;
  capped.score = "%x = attn.softcap %s, 50.0";
  cases.push_back({"S10_short_group_of_sums_with_a_softcap", capped, trials});
  Spec weights;
  weights.weights = true;
  weights.queryHeads = 8;
  weights.mask = causal;
  cases.push_back({"S10_short_group_weights", weights, trials});
  // Rows of whole units of 16 bytes, which boxes carry: heads lie outside of queries in weights, and inside in a tile.
  weights.keys = 136;
  Case boxes{"S10_short_group_weights_in_boxes", weights, {}};
  for (const char *shape : {"B=2,Sq=1", "B=2,Sq=9", "B=1,Sq=37"})
    boxes.trials.emplace_back().shape = shape;
  cases.push_back(boxes);
  Spec packed;
  packed.packed = true;
  packed.queryHeads = 8;
  packed.mask = causal;
  Case varlen{"S10_short_group_varlen", packed, {}};
  Trial trial;
  trial.shape = "B=4,Tq=60,Tk=200";
  trial.contents = {{"qo", {0, 1, 1, 43, 60}}, {"ko", {0, 60, 60, 199, 200}}};
  varlen.trials.push_back(trial);
  cases.push_back(varlen);
}

static void addHeadDims(std::vector<Case> &cases, Extent extent) {
  std::vector<int64_t> dims = {8, 40, 64, 72, 80, 96, 128, 192, 256};
  if (extent == Extent::Full)
    for (dims.clear(); dims.size() < 32;)
      dims.push_back(8 * static_cast<int64_t>(dims.size() + 1));
  for (int64_t dim : dims) {
    Spec spec;
    spec.headDim = dim;
    spec.mask = causal;
    cases.push_back({"S14_head_dim_" + std::to_string(dim), spec, fewTrials(extent)});
  }
  for (auto [dim, valueDim] : {std::pair(192, 128), std::pair(64, 128), std::pair(8, 256), std::pair(256, 8),
                               std::pair(40, 72), std::pair(64, 24)}) {
    Spec spec;
    spec.headDim = dim;
    spec.valueDim = valueDim;
    cases.push_back({"S14_head_dims_" + std::to_string(dim) + "_" + std::to_string(valueDim), spec, fewTrials(extent)});
  }
}

/// What takes registers of its own beside the logits has other schedules: at each range of head dims that they know.
static void addHeavyElements(std::vector<Case> &cases, Extent extent) {
  for (int64_t dim : {32, 128, 192, 256}) {
    Spec spec;
    spec.headDim = dim;
    spec.mask = causal;
    Spec bias = spec, dropout = spec;
    bias.arguments = {"bias: tensor<?x$Hx?x?x$T>"};
    bias.score = "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x$Hx?x?x$T>";
    cases.push_back({"S4_bias_head_dim_" + std::to_string(dim), bias, fewTrials(extent)});
    dropout.arguments = {"seed: i64"};
    dropout.clauses = "dropout(0.2, %seed)";
    cases.push_back({"S9_dropout_head_dim_" + std::to_string(dim), dropout, fewTrials(extent)});
  }
}

static void addWeights(std::vector<Case> &cases, Extent extent) {
  Spec spec;
  spec.weights = true;
  std::vector<Trial> trials;
  for (Trial &trial : standardTrials(extent))
    if (trial.shape.find("4224") == std::string::npos)
      trials.push_back(trial);
  cases.push_back({"S7_weights", spec, trials});
  spec.mask = causal;
  cases.push_back({"S7_weights_causal", spec, trials});
  spec.queryHeads = 4;
  spec.arguments = {"kl: tensor<?xi32>", "seed: i64", "n: tensor<$Hx2xf32>"};
  spec.clauses = "lengths(key = %kl : tensor<?xi32>) dropout(0.25, %seed) sinks(%n : tensor<$Hx2xf32>)";
  cases.push_back({"S9_weights_with_everything", spec, trials});
}

static void addLayouts(std::vector<Case> &cases, Extent extent) {
  Spec spec;
  spec.mask = causal;
  spec.queryHeads = 4;
  Case headsFirst{"S14_heads_first_in_memory", spec, fewTrials(extent)};
  for (Trial &trial : headsFirst.trials)
    trial.layout = Layout::HeadsFirst;
  cases.push_back(headsFirst);
  // Untouched pages take no memory: 4 GiB of addresses for each tensor.
  Case farApart{"S17_offsets_past_2_to_the_31", spec, {}, {"bf16"}};
  Trial trial;
  trial.shape = "B=2,Sq=65,Sk=65";
  trial.layout = Layout::FarApart;
  farApart.trials.push_back(trial);
  cases.push_back(farApart);

  // What a copy engine cannot take, and what elements are read of by strides.
  Spec captured = spec;
  captured.arguments = {"bias: tensor<?x?x?x?x$T>", "n: tensor<?xi32>", "sink: tensor<4x2xf32>"};
  captured.clauses = "sinks(%sink : tensor<4x2xf32>)";
  captured.score = "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x?x?x?x$T>";
  captured.mask = "%keep = attn.prefix %j, %n[%b] : tensor<?xi32>";
  Spec packed = spec;
  packed.packed = true;
  Spec weights = spec;
  weights.weights = true;
  for (auto [name, layout] : {std::pair("odd", Layout::Odd), std::pair("repeated", Layout::Repeated)})
    for (const auto &[what, of] : {std::pair("", spec), std::pair("_captured", captured), std::pair("_packed", packed),
                                   std::pair("_weights", weights)}) {
      // Offsets that repeat are of no sequences.
      if (of.packed && layout == Layout::Repeated)
        continue;
      Case strided{std::string("S18_strides_") + name + what, of, {}, {"f32", "bf16"}};
      // Tiles of one head, and of all that share a key head.
      for (const char *rows : {"q=70,", "q=3,"}) {
        strided.trials.emplace_back();
        strided.trials.back().shape =
            of.packed ? std::string("B=3,T") + rows + "Tk=90" : std::string("B=2,S") + rows + "Sk=90";
        strided.trials.back().layout = layout;
      }
      cases.push_back(strided);
    }

  Spec noLse;
  noLse.lse = false;
  cases.push_back({"S8_without_lse", noLse, fewTrials(extent)});
  Spec deterministic;
  deterministic.deterministic = true;
  Case repeated{"S15_bits_repeat", deterministic, fewTrials(Extent::Quick)};
  repeated.trials[0].repeats = 50;
  cases.push_back(repeated);
}

/// Gradients with the same bits in every run, where tiles of keys may add to those of queries in an order: several
/// tiles of keys, which reach all queries, the later ones, and those near them; and groups of heads.
static void addOrderedSums(std::vector<Case> &cases) {
  Trial trial;
  trial.shape = "B=1,Sq=120,Sk=270";
  trial.repeats = 2;
  const std::tuple<const char *, const char *, int64_t> variants[] = {
      {"", "", 1},
      {"_causal", causal, 1},
      {"_window", "%keep = attn.window %i, %j left(100) right(30)", 1},
      {"_group", causal, 2}};
  for (int64_t dim : {64, 128})
    for (auto [name, mask, group] : variants) {
      Spec spec;
      spec.headDim = dim;
      spec.keyHeads = 1;
      spec.queryHeads = group;
      spec.mask = mask;
      spec.deterministic = true;
      cases.push_back(
          {"S15_order_head_dim_" + std::to_string(dim) + name, spec, {trial}, {dim == 64 ? "bf16" : "f16"}});
    }
}

/// Masks at head dims where schedules for many queries are not those for few, and windows have schedules of their own.
static void addMasksOfLargeHeads(std::vector<Case> &cases, Extent extent) {
  const std::pair<const char *, const char *> masks[] = {
      {"S2_causal", causal},
      {"S5_window", "%keep = attn.window %i, %j left(1024) right(0)"},
      {"S5_short_window", "%keep = attn.window %i, %j left(100) right(30)"}};
  for (int64_t dim : {128, 256})
    for (auto [name, mask] : masks) {
      Spec spec;
      spec.headDim = dim;
      spec.mask = mask;
      cases.push_back({name + ("_head_dim_" + std::to_string(dim)), spec, standardTrials(extent), {"bf16"}});
    }
}

void attnc::conformance::addShapeCases(std::vector<Case> &cases, Extent extent) {
  addGroups(cases, extent);
  addShortGroups(cases);
  addHeadDims(cases, extent);
  addHeavyElements(cases, extent);
  addWeights(cases, extent);
  addLayouts(cases, extent);
  addMasksOfLargeHeads(cases, extent);
  addOrderedSums(cases);
}

/// Products that may round to TF32: each layout of operands, and sums of a number of elements that is no multiple
/// of 16.
void attnc::conformance::addTf32Cases(std::vector<Case> &cases, Extent extent) {
  const std::pair<const char *, std::pair<int64_t, int64_t>> dims[] = {
      {"S13_tf32", {64, 64}}, {"S13_tf32_head_dim_128", {128, 128}}, {"S13_tf32_head_dims_72_24", {72, 24}}};
  for (auto [name, dim] : dims) {
    Spec spec;
    spec.tf32 = true;
    spec.headDim = dim.first;
    spec.valueDim = dim.second;
    spec.queryHeads = 4;
    spec.mask = causal;
    cases.push_back({name, spec, fewTrials(extent), {"f32"}});
  }
}
