//===- MaskCases.cpp - Masks, windows, alignment, empty rows ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Case.h"

#include <algorithm>

using namespace attnc::conformance;

/// A spec with a mask region.
static Spec masked(std::string mask, std::vector<std::string> arguments = {}, std::string clauses = "") {
  Spec spec;
  spec.mask = std::move(mask);
  spec.arguments = std::move(arguments);
  spec.clauses = std::move(clauses);
  return spec;
}

static void addPositions(std::vector<Case> &cases, Extent extent) {
  const std::string causal = "%keep = attn.causal %i, %j";
  for (std::string align : {"top_left", "bottom_right"}) {
    std::string clause = "align(" + align + ")";
    cases.push_back({"S2_causal_" + align, masked(causal, {}, clause), standardTrials(extent)});
    cases.push_back({"S2_window_" + align, masked("%keep = attn.window %i, %j left(17) right(5)", {}, clause),
                     standardTrials(extent)});
    cases.push_back({"S2_q_offset_" + align, masked(causal, {"n: index"}, clause + " q_offset(%n)"),
                     standardTrials(extent, {{"n", {37}}})});
    cases.push_back({"S2_q_offset_negative_" + align, masked(causal, {"n: index"}, clause + " q_offset(%n)"),
                     standardTrials(extent, {{"n", {-29}}})});
    // Near the ends of what positions may be, whatever the sizes: counted from the offset, and as they are.
    const std::string far =
        "%d = arith.subi %i, %n : index\n      %c5 = arith.constant 5 : index\n"
        "      %p = arith.remui %i, %c5 : index\n      %r = arith.remui %j, %c5 : index\n"
        "      %past = arith.cmpi sle, %j, %d : index\n      %other = arith.cmpi ne, %p, %r : index\n"
        "      %keep = arith.andi %past, %other : i1";
    for (auto [end, offset] : {std::pair("first", -0x1p30 + 8192), std::pair("last", 0x1p31 - 8192)})
      cases.push_back({std::string("S2_q_offset_") + end + "_" + align,
                       masked(far, {"n: index"}, clause + " q_offset(%n)"), standardTrials(extent, {{"n", {offset}}})});
  }
}

static void addWindows(std::vector<Case> &cases, Extent extent) {
  const std::pair<const char *, const char *> windows[] = {{"0", "left(0) right(0)"},
                                                           {"1", "left(1) right(1)"},
                                                           {"left_0", "left(0)"},
                                                           {"right_0", "right(0)"},
                                                           {"left_and_right", "left(3) right(90)"},
                                                           {"left_only", "left(31)"},
                                                           {"right_only", "right(7)"},
                                                           {"127_causal", "left(127) right(0)"},
                                                           {"wider_than_all", "left(100000) right(100000)"}};
  for (auto [name, sides] : windows)
    cases.push_back({std::string("S5_window_") + name, masked(std::string("%keep = attn.window %i, %j ") + sides),
                     standardTrials(extent)});
  // Positions and sides that the region computes: distances past 2^31 and ones that wrap (test/sim/far-positions.test
  // has more), and sides below 0.
  const std::pair<const char *, const char *> computed[] = {
      {"far_apart", "%c = arith.constant 1099511627776 : index\n      %x = arith.addi %i, %c : index\n"
                    "      %w = attn.window %x, %j left(5)\n      %n = attn.causal %i, %j\n"
                    "      %keep = arith.ori %w, %n : i1"},
      {"wrapping", "%c = arith.constant 9223372036854775805 : index\n      %x = arith.addi %i, %c : index\n"
                   "      %y = arith.addi %j, %c : index\n      %keep = attn.window %x, %y left(0) right(1)"},
      {"computed_side", "%c = arith.constant 2 : index\n      %m = arith.subi %i, %c : index\n"
                        "      %keep = attn.window %i, %j left(3) right(%m)"}};
  for (auto [name, mask] : computed)
    cases.push_back({std::string("S5_window_") + name, masked(mask), standardTrials(extent)});
  Case runtime{"S5_window_runtime", masked("%keep = attn.window %i, %j left(%l) right(%r)", {"l: index", "r: index"}),
               standardTrials(extent)};
  const std::pair<double, double> sides[] = {{0, 0}, {1, 0}, {40, 3}, {1e9, 0}, {0, 0x1p62}};
  for (size_t n = 0; n < runtime.trials.size(); ++n)
    runtime.trials[n].contents = {{"l", {sides[n % 5].first}}, {"r", {sides[n % 5].second}}};
  cases.push_back(runtime);
  // At the last of all positions, where no key is.
  cases.push_back({"S5_window_last_positions",
                   masked("%keep = attn.window %i, %j left(3)", {"n: index"}, "align(top_left) q_offset(%n)"),
                   {{"B=1,Sq=100,Sk=40", {}, {{"n", {0x1p31 - 100}}}}, {"B=1,Sq=5,Sk=40", {}, {{"n", {0x1p31 - 5}}}}}});
  runtime.name = "S5_window_runtime_unbounded";
  runtime.trials = standardTrials(extent, {{"l", {0x1p62}}, {"r", {0x1p31}}});
  cases.push_back(runtime);
}

/// Masks in plain arith, which no operation of the dialect names.
static void addUserMasks(std::vector<Case> &cases, Extent extent) {
  const std::pair<const char *, const char *> masks[] = {{"chunked", R"(%n = arith.constant 50 : index
      %p = arith.floordivsi %i, %n : index
      %r = arith.floordivsi %j, %n : index
      %same = arith.cmpi eq, %p, %r : index
      %c = attn.causal %i, %j
      %keep = arith.andi %same, %c : i1)"},
                                                         {"dilated", R"(%zero = arith.constant 0 : index
      %four = arith.constant 4 : index
      %d = arith.subi %i, %j : index
      %phase = arith.remsi %d, %four : index
      %keep = arith.cmpi eq, %phase, %zero : index)"},
                                                         {"sinks_and_window", R"(%four = arith.constant 4 : index
      %first = arith.cmpi slt, %j, %four : index
      %w = attn.window %i, %j left(20) right(0)
      %any = arith.ori %first, %w : i1
      %c = attn.causal %i, %j
      %keep = arith.andi %any, %c : i1)"},
                                                         {"not_causal", R"(%true = arith.constant true
      %c = attn.causal %i, %j
      %keep = arith.xori %c, %true : i1)"},
                                                         {"diagonal_2i", R"(%two = arith.constant 2 : index
      %t = arith.muli %i, %two : index
      %keep = arith.cmpi sle, %j, %t : index)"},
                                                         {"odd_heads_causal", R"(%one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %r = arith.remui %h, %two : index
      %even = arith.cmpi ne, %r, %one : index
      %c = attn.causal %i, %j
      %keep = arith.ori %even, %c : i1)"},
                                                         {"middle_dropped", R"(%low = arith.constant 40 : index
      %high = arith.constant 170 : index
      %before = arith.cmpi slt, %j, %low : index
      %behind = arith.cmpi sge, %j, %high : index
      %keep = arith.ori %before, %behind : i1)"}};
  for (auto [name, mask] : masks)
    cases.push_back({std::string("S3_user_") + name, masked(mask), standardTrials(extent)});
  // A tile's distances are many, of which the first 33 keep: they decide whether it keeps all, some or none.
  std::vector<double> near(64, 0);
  std::fill_n(near.begin(), 33, 1);
  cases.push_back({"S3_user_table_of_distances",
                   masked(R"(%d = arith.subi %i, %j : index
      %keep = attn.load %t[%d] : tensor<64xi1>)",
                          {"t: tensor<64xi1>"}),
                   standardTrials(extent, {{"t", near}})});
  // The magnitude of the least integer is itself, and below 0.
  cases.push_back({"S3_user_least_magnitudes",
                   masked(R"(%m = math.absi %x : i32
      %n = math.absi %y : i64
      %zero = arith.constant 0 : i32
      %none = arith.constant 0 : i64
      %first = arith.cmpi slt, %m, %zero : i32
      %second = arith.cmpi slt, %n, %none : i64
      %both = arith.andi %first, %second : i1
      %c = attn.causal %i, %j
      %keep = arith.andi %both, %c : i1)",
                          {"x: i32", "y: i64"}),
                   standardTrials(extent, {{"x", {-0x1p31}}, {"y", {-0x1p63}}})});
  // All of a tile's elements or none, and a tile that is no loop's first step.
  cases.push_back({"S3_user_last_entry_window",
                   masked(R"(%one = arith.constant 1 : index
      %last = arith.cmpi ugt, %b, %one : index
      %w = attn.window %i, %j left(%b)
      %keep = arith.andi %last, %w : i1)"),
                   {{"B=3,Sq=1,Sk=1"}, {"B=3,Sq=70,Sk=90"}}});
}

static void addTensorMasks(std::vector<Case> &cases, Extent extent) {
  for (auto [name, type] : {std::pair("B_1_Sq_Sk", "tensor<?x1x?x?xi1>"), std::pair("1_H_Sq_Sk", "tensor<1x$Hx?x?xi1>"),
                            std::pair("B_1_1_Sk", "tensor<?x1x1x?xi1>")})
    cases.push_back({std::string("S3_mask_tensor_") + name,
                     masked("%keep = attn.load %m[%b, %h, %i, %j] : " + std::string(type), {"m: " + std::string(type)}),
                     standardTrials(extent)});
  cases.push_back({"S7_mask_tensor_all_false",
                   masked("%keep = attn.load %m[%b, %h, %i, %j] : tensor<?x1x?x?xi1>", {"m: tensor<?x1x?x?xi1>"}),
                   standardTrials(extent, {{"m", {0}}})});
  cases.push_back({"S3_prefix_lm",
                   masked(R"(%c = attn.causal %i, %j
      %p = attn.prefix %j, %n[%b] : tensor<?xi32>
      %keep = arith.ori %c, %p : i1)",
                          {"n: tensor<?xi32>"}),
                   standardTrials(extent)});
}

/// Logits of some 10^8: one key of a row has all the weight, and that must come out exact.
static void addLargeValues(std::vector<Case> &cases, Extent extent) {
  auto add = [&](const char *what, const Spec &spec, std::vector<Trial> trials) {
    for (Trial &trial : trials)
      trial.valueScale = 1e4;
    cases.push_back({std::string("S7_values_1e4") + what, spec, std::move(trials)});
  };
  const std::string causal = "%keep = attn.causal %i, %j";
  add("", masked(causal), standardTrials(extent));
  Spec spec = masked(causal);
  spec.score = "%x = attn.softcap %s, 30.0";
  add("_capped", spec, standardTrials(extent));
  spec = {};
  spec.headDim = 128;
  // In some thousand rows, one has two keys whose logits are a rounding of f32 apart, as 282369518 and 282369553 are in
  // 1023 rows of f16: which is the greater is then chance. These cases keep to fewer.
  add("_full", spec, standardTrials(Extent::Quick));
  spec.weights = true;
  add("_weights", spec, standardTrials(Extent::Quick));
  add("_sinks", masked("", {"n: tensor<$Hx2xf32>"}, "sinks(%n : tensor<$Hx2xf32>)"), standardTrials(extent));
  spec = masked(causal);
  spec.packed = true;
  add("_packed", spec, packedTrials(extent));
}

/// Sinks that are 11 above the logits: weights of 2^-16 in f16.
static void addHighSinks(std::vector<Case> &cases) {
  Spec spec = masked("", {"n: tensor<$Hx2xf32>"}, "sinks(%n : tensor<$Hx2xf32>)");
  spec.score = "%c = arith.constant -11.0 : f32\n%x = arith.addf %s, %c : f32";
  cases.push_back({"S6_sinks_above_all_logits", spec, standardTrials(Extent::Quick)});
}

/// Values far below 1: weights that start octaves lower must not take digits from them
/// (docs/rationale/online-softmax.md).
static void addSmallValues(std::vector<Case> &cases) {
  for (bool causal : {false, true}) {
    std::vector<Trial> trials = standardTrials(Extent::Quick);
    for (Trial &trial : trials)
      trial.valueScale = 1e-24;
    cases.push_back({std::string("S13_values_of_10_to_minus_24") + (causal ? "_causal" : ""),
                     causal ? masked("%keep = attn.causal %i, %j") : Spec(), std::move(trials)});
  }
}

static void addEmptyRows(std::vector<Case> &cases, Extent extent) {
  cases.push_back({"S7_nothing_kept", masked(R"(%c = arith.constant 0 : index
      %keep = arith.cmpi slt, %j, %c : index)"),
                   standardTrials(extent)});
  cases.push_back({"S7_even_rows_empty", masked(R"(%zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      %r = arith.remsi %i, %two : index
      %keep = arith.cmpi ne, %r, %zero : index)"),
                   standardTrials(extent)});
  cases.push_back({"S7_first_key_tile_empty", masked(R"(%c = arith.constant 130 : index
      %keep = arith.cmpi sge, %j, %c : index)"),
                   standardTrials(extent)});
  // Of 200 keys a row keeps the last ones: the running maximum starts at -inf and stays there for whole tiles.
  cases.push_back({"S7_keys_behind_the_query",
                   masked(R"(%n = arith.constant 70 : index
      %t = arith.addi %i, %n : index
      %keep = arith.cmpi sgt, %j, %t : index)",
                          {}, "align(top_left)"),
                   standardTrials(extent)});
  addLargeValues(cases, extent);
  addSmallValues(cases);
  addHighSinks(cases);
}

void attnc::conformance::addMaskCases(std::vector<Case> &cases, Extent extent) {
  addPositions(cases, extent);
  addWindows(cases, extent);
  addUserMasks(cases, extent);
  addTensorMasks(cases, extent);
  addEmptyRows(cases, extent);
}
