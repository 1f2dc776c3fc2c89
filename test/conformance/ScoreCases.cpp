//===- ScoreCases.cpp - Scales, score regions, sinks, dropout ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Case.h"

using namespace attnc::conformance;

namespace {

constexpr const char *causal = "%keep = attn.causal %i, %j";

/// Adds cases that share the sizes of one extent.
class Adder {
public:
  Adder(std::vector<Case> &cases, Extent extent) : cases(cases), extent(extent) {}

  /// Adds a case with the standard sizes and the given contents of arguments.
  void operator()(const std::string &name, Spec spec, const std::map<std::string, std::vector<double>> &contents = {}) {
    cases.push_back({name, std::move(spec), standardTrials(extent, contents)});
  }

  /// The case added last.
  Case &last() { return cases.back(); }

private:
  std::vector<Case> &cases;
  Extent extent;
};

} // namespace

/// A spec with captured `arguments` and a score region.
static Spec scored(std::vector<std::string> arguments, std::string score, std::string mask = "") {
  Spec spec;
  spec.arguments = std::move(arguments);
  spec.score = std::move(score);
  spec.mask = std::move(mask);
  return spec;
}

/// The same, where the captured tensors have gradients.
static Spec learned(std::vector<std::string> arguments, std::string score, std::string mask = "") {
  Spec spec = scored(std::move(arguments), std::move(score), std::move(mask));
  spec.learned = true;
  return spec;
}

/// A spec with clauses and the scalars and tensors that they name.
static Spec claused(std::string clauses, std::vector<std::string> arguments = {}, std::string mask = "") {
  Spec spec;
  spec.clauses = std::move(clauses);
  spec.arguments = std::move(arguments);
  spec.mask = std::move(mask);
  return spec;
}

static void addScales(Adder &add) {
  add("S1_plain", {});
  add("S1_scale_literal", claused("scale(0.3)"));
  add("S1_scale_negative", claused("scale(-0.125)"));
  add("S1_scale_zero", claused("scale(0.0)"));
  add("S1_scale_runtime", claused("scale(%c)", {"c: f32"}));
  add("S1_scale_runtime_1", claused("scale(%c)", {"c: f32"}), {{"c", {1}}});
}

static void addRegions(Adder &add) {
  const std::string bias = "bias: tensor<?x$Hx?x?xf32>";
  add("S2_bias_then_cap", learned({bias}, "%y = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x$Hx?x?xf32>\n"
                                          "      %x = attn.softcap %y, 2.0"));
  add("S2_cap_then_bias", learned({bias}, "%y = attn.softcap %s, 2.0\n"
                                          "      %x = attn.bias %y, %bias[%b, %h, %i, %j] : tensor<?x$Hx?x?xf32>"));
  add("S2_user_sqrt_distance", scored({}, R"(%d = arith.subi %i, %j : index
      %n = math.absi %d : index
      %m = arith.index_cast %n : index to i32
      %f = arith.sitofp %m : i32 to f32
      %r = math.sqrt %f : f32
      %x = arith.subf %s, %r : f32)"));
  add("S2_user_by_head", scored({}, R"(%m = arith.index_cast %h : index to i32
      %f = arith.sitofp %m : i32 to f32
      %e = math.exp %f : f32
      %x = arith.mulf %s, %e : f32)"));
  add("S2_user_select", scored({}, R"(%z = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %s, %z : f32
      %t = arith.constant 0.1 : f32
      %l = arith.mulf %s, %t : f32
      %x = arith.select %c, %s, %l : f32)"));
  // Exponentials of some logits are infinite, where the slope of what they are in is 0.
  Spec sigmoid = scored({}, R"(%one = arith.constant 1.0 : f32
      %n = arith.negf %s : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %x = arith.divf %one, %d : f32)");
  sigmoid.clauses = "scale(60.0)";
  add("S2_user_sigmoid_of_large_logits", sigmoid);
  add("S2_user_squared", scored({}, "%x = arith.mulf %s, %s : f32"));
  // From the last keys to the first, each step has far greater logits than the one before; or somewhat greater ones.
  auto growing = [](const char *rate) {
    return R"(%d = arith.subi %i, %j : index
      %m = arith.index_cast %d : index to i32
      %f = arith.sitofp %m : i32 to f32
      %r = arith.constant )" +
           std::string(rate) + R"( : f32
      %g = arith.mulf %f, %r : f32
      %x = arith.addf %s, %g : f32)";
  };
  // The greatest logit is so great that what rounding takes from it would be a weight of its own.
  add("S4_great_products", scored({}, R"(%d = arith.subi %i, %j : index
      %m = arith.index_cast %d : index to i32
      %f = arith.sitofp %m : i32 to f32
      %g = arith.addf %f, %s : f32
      %r = arith.constant 123456789.0 : f32
      %x = arith.mulf %g, %r : f32)"));
  add("S2_user_growing", scored({}, growing("0.5"), causal));
  add("S2_user_growing_slowly", scored({}, growing("0.04"), causal));
}

static void addBiases(Adder &add) {
  add("S4_softcap", scored({}, "%x = attn.softcap %s, 0.5"));
  add("S4_softcap_causal", scored({}, "%x = attn.softcap %s, 50.0", causal));
  // Where all logits are at the lower end, weights are the least that they can be; between the ends, an approximated
  // tanh shows.
  add("S4_softcap_lower_end", scored({}, R"(%c = arith.constant -300.0 : f32
      %y = arith.addf %s, %c : f32
      %x = attn.softcap %y, 50.0)"));
  add("S4_softcap_between_ends", scored({}, R"(%c = arith.constant 20.0 : f32
      %y = arith.mulf %s, %c : f32
      %x = attn.softcap %y, 50.0)",
                                        causal));
  // In f32 the factor would show in which order products are summed.
  add.last().dtypes = {"bf16", "f16"};
  // Some elements of each row are far past the cap, as infinity is: others share a reciprocal with them.
  add("S4_softcap_of_far_and_near", scored({}, R"(%first = arith.constant 13 : index
      %one = arith.constant 30 : index
      %isFar = arith.cmpi slt, %j, %first : index
      %isInfinite = arith.cmpi eq, %j, %one : index
      %infinity = arith.constant 0x7F800000 : f32
      %far = arith.constant -1.0e30 : f32
      %n = arith.select %isFar, %far, %s : f32
      %y = arith.select %isInfinite, %infinity, %n : f32
      %x = attn.softcap %y, 5.0)"));
  add("S4_softcap_of_some_heads", scored({"cap: f32"}, R"(%none = arith.constant 0x7F800000 : f32
      %one = arith.constant 1 : index
      %some = arith.cmpi slt, %h, %one : index
      %c = arith.select %some, %none, %cap : f32
      %x = attn.softcap %s, %c)"),
      {{"cap", {1.5}}});
  add("S4_narrow_maximum_of_a_head", scored({"m: tensor<$Hxf16>"}, R"(%n = attn.load %m[%h] : tensor<$Hxf16>
      %zero = arith.constant 0.0 : f16
      %most = arith.maximumf %n, %zero : f16
      %wide = arith.extf %most : f16 to f32
      %x = arith.addf %s, %wide : f32)"));
  add("S4_softcap_runtime", scored({"cap: f32"}, "%x = attn.softcap %s, %cap"), {{"cap", {1.5}}});
  add("S4_alibi", learned({"m: tensor<$Hxf32>"}, "%x = attn.alibi %s, %m[%h], %i, %j : tensor<$Hxf32>"));
  add("S4_alibi_causal", learned({"m: tensor<$Hx$T>"}, "%x = attn.alibi %s, %m[%h], %i, %j : tensor<$Hx$T>", causal));

  const std::pair<const char *, const char *> biases[] = {
      {"1_1_Sq_Sk", "tensor<1x1x?x?x$T>"},   {"B_H_1_Sk", "tensor<?x$Hx1x?x$T>"}, {"B_1_Sq_Sk", "tensor<?x1x?x?x$T>"},
      {"1_H_Sq_Sk", "tensor<1x$Hx?x?xf32>"}, {"B_H_Sq_1", "tensor<?x$Hx?x1x$T>"}, {"B_H_Sq_Sk", "tensor<?x$Hx?x?x$T>"}};
  for (auto [name, type] : biases)
    add(std::string("S4_bias_") + name,
        learned({std::string("bias: ") + type}, "%x = attn.bias %s, %bias[%b, %h, %i, %j] : " + std::string(type)));
  // Which dimensions broadcast is the launch's choice.
  add("S4_bias_launch_broadcast",
      scored({"bias: tensor<?x$Hx?x?x$T>"}, "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x$Hx?x?x$T>"));
  const std::vector<std::string> broadcasts[] = {{"bias.0=1"}, {"bias.0=1", "bias.2=1"}, {"bias.2=1"}, {"bias.3=1"}};
  for (size_t n = 0; n < add.last().trials.size(); ++n)
    add.last().trials[n].dims = broadcasts[n % 4];
  add("S4_bias_keys_only", learned({"bias: tensor<?x$T>"}, "%x = attn.bias %s, %bias[%j] : tensor<?x$T>", causal));
  add("S4_bias_and_mask", scored({"bias: tensor<1x1x?x?x$T>", "m: tensor<?x1x?x?xi1>"},
                                 "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<1x1x?x?x$T>",
                                 "%keep = attn.load %m[%b, %h, %i, %j] : tensor<?x1x?x?xi1>"));
  add("S4_table_by_distance", learned({"t: tensor<32x$Hxf32>"}, R"(%d = arith.subi %i, %j : index
      %x = attn.bias %s, %t[%d, %h] : tensor<32x$Hxf32>)"));
}

/// One tensor, indexed in several ways.
static void addIndices(Adder &add) {
  // Its first two dimensions hold one element for all heads and rows, and for what is computed.
  add("S4_index_of_one", learned({"t: tensor<1x1x?xf32>"}, R"(%x0 = attn.bias %s, %t[%h, %i, %j] : tensor<1x1x?xf32>
      %d = arith.subi %i, %j : index
      %x = attn.bias %x0, %t[%d, %d, %j] : tensor<1x1x?xf32>)"));
}

static void addSinks(Adder &add) {
  add("S6_sinks_heads", claused("sinks(%n : tensor<$Hx1xf32>)", {"n: tensor<$Hx1xf32>"}));
  add("S6_sinks_heads_3", claused("sinks(%n : tensor<$Hx3x$T>)", {"n: tensor<$Hx3x$T>"}, causal));
  add("S6_sinks_shared", claused("sinks(%n : tensor<4xf32>)", {"n: tensor<4xf32>"}));
  Spec capped = claused("sinks(%n : tensor<$Hx1xf32>) scale(0.4)", {"n: tensor<$Hx1xf32>"}, causal);
  capped.score = "%x = attn.softcap %s, 2.0";
  add("S6_sinks_neither_scaled_nor_capped", capped, {{"n", {3}}});
  add("S6_sinks_alone",
      claused("sinks(%n : tensor<$Hx1xf32>)", {"n: tensor<$Hx1xf32>"}, R"(%c = arith.constant 0 : index
      %keep = arith.cmpi slt, %j, %c : index)"));
}

static void addDropout(Adder &add) {
  add("S9_dropout_literal", claused("dropout(0.1, %seed)", {"seed: i64"}));
  add("S9_dropout_literal_0", claused("dropout(0.0, %seed)", {"seed: i64"}));
  add("S9_dropout_literal_1", claused("dropout(1.0, %seed)", {"seed: i64"}));
  const std::pair<const char *, double> probabilities[] = {{"0", 0.0}, {"half", 0.5}, {"most", 0.9}, {"1", 1.0}};
  for (auto [name, p] : probabilities)
    add(std::string("S9_dropout_runtime_") + name, claused("dropout(%p, %seed)", {"p: f32", "seed: i64"}, causal),
        {{"p", {p}}});
  add("S9_dropout_negative_seed", claused("dropout(0.5, %seed)", {"seed: i64"}), {{"seed", {-3}}});
  const char *halves = "dropout(0.4, %seed : tensor<2xi32>)";
  add("S9_dropout_seed_in_memory", claused(halves, {"seed: tensor<2xi32>"}, causal));
  const char *words = "dropout(0.4, %seed : tensor<4xi32>)";
  add("S9_dropout_seed_and_numbers_in_memory", claused(words, {"seed: tensor<4xi32>"}, causal));
  Spec grouped = claused("dropout(0.3, %seed) q_offset(%n)", {"seed: i64", "n: index"}, causal);
  grouped.queryHeads = 4;
  add("S9_dropout_rows_not_positions", grouped, {{"n", {5}}});
}

/// Logits may be any finite f32: a number that stands for "masked" is one like others, and a row may have nothing else.
static void addLargeNumbers(Adder &add) {
  auto choose = [](const char *condition, const char *number) {
    return "%few = arith.constant 70 : index\n      %n = arith.constant " + std::string(number) +
           " : f32\n      %c = arith.cmpi " + condition + " : index\n      %x = arith.select %c, %n, %s : f32";
  };
  const std::pair<const char *, const char *> numbers[] = {{"minus_5e9", "-5.0e+09"},
                                                           {"minus_1e30", "-1.0e+30"},
                                                           {"lowest", "-3.40282347e+38"},
                                                           {"1e30", "1.0e+30"},
                                                           {"minus_infinity", "0xFF800000"}};
  for (auto [name, number] : numbers) {
    add(std::string("S4_past_the_query_") + name, scored({}, choose("sgt, %j, %i", number)));
    add(std::string("S4_first_rows_") + name, scored({}, choose("slt, %i, %few", number)));
    add(std::string("S4_first_keys_") + name, scored({}, choose("slt, %j, %few", number)));
    add(std::string("S4_last_keys_") + name, scored({}, choose("sge, %j, %few", number)));
  }
  const std::string bias = "tensor<?x1x1x?xf32>";
  Spec biased = scored({"bias: " + bias}, "%x = attn.bias %s, %bias[%b, %h, %i, %j] : " + bias);
  const std::pair<const char *, double> biases[] = {
      {"lowest", -3.40282346e38}, {"minus_1e38", -1e38}, {"1e30", 1e30}, {"1e38", 1e38}};
  for (auto [name, number] : biases)
    add(std::string("S4_bias_of_") + name, biased, {{"bias", {number}}});
  add("S4_bias_of_some", biased, {{"bias", {0, -3.40282346e38, 0.5, -3.40282346e38, -1e30}}});
  const std::pair<const char *, const char *> factors[] = {{"1e30", "1.0e+30"}, {"minus_1e37", "-1.0e+37"}};
  for (auto [name, factor] : factors)
    add(std::string("S2_scores_times_") + name,
        scored({}, "%n = arith.constant " + std::string(factor) + " : f32\n      %x = arith.mulf %s, %n : f32",
               causal));
  Spec steep = scored({"m: tensor<$Hxf32>"}, "%x = attn.alibi %s, %m[%h], %i, %j : tensor<$Hxf32>", causal);
  const std::pair<const char *, double> slopes[] = {{"100", 100}, {"1e6", 1e6}, {"1e30", 1e30}};
  for (auto [name, slope] : slopes)
    add(std::string("S4_alibi_causal_of_") + name, steep, {{"m", {slope}}});
  steep.mask = "";
  add("S4_alibi_of_1e6", steep, {{"m", {1e6}}});
  // Divided by the scale, the last two are beyond f32; the LSE is still theirs where they weigh most, or alone.
  const std::pair<const char *, double> sinks[] = {
      {"1e30", 1e30}, {"minus_1e30", -1e30}, {"3e38", 3e38}, {"minus_3e38", -3e38}};
  for (auto [name, sink] : sinks)
    add(std::string("S6_sinks_of_") + name, claused("sinks(%n : tensor<$Hx1xf32>)", {"n: tensor<$Hx1xf32>"}, causal),
        {{"n", {sink}}});
}

void attnc::conformance::addScoreCases(std::vector<Case> &cases, Extent extent) {
  Adder add(cases, extent);
  addScales(add);
  addRegions(add);
  addBiases(add);
  addIndices(add);
  addSinks(add);
  addDropout(add);
  addLargeNumbers(add);
}

/// Weights that are alike: what all of them lack is not averaged out.
void attnc::conformance::addAlikeCases(std::vector<Case> &cases, Extent extent) {
  Adder add(cases, extent);
  // Nearly all have one of two values.
  add("S4_clamped", scored({}, R"(%c = arith.constant 0.5 : f32
      %d = arith.negf %c : f32
      %x = math.clampf %s to [%d, %c] : f32)"));
  add.last().dtypes = {"bf16"};
  // All have one.
  Spec spec = claused("sinks(%n : tensor<$Hx1xf32>)", {"n: tensor<$Hx1xf32>"});
  spec.score = "%x = arith.constant -3.0 : f32";
  spec.weights = true;
  add("S6_weights_alike", spec);
  add.last().dtypes = {"f32"};
  spec.weights = false;
  add("S6_alike_beside_a_sink", spec);
  add.last().dtypes = {"f32"};
}

/// Numbers near the end of f32 that are the same for all keys of a row, in a sum with terms that are linear in the key.
void attnc::conformance::addLargeRowTermCases(std::vector<Case> &cases, Extent extent) {
  Adder add(cases, extent);
  const std::string entries = "tensor<?x$T>", heads = "tensor<$Hxf32>";
  Spec spec = scored({"t: " + entries, "m: " + heads}, "%y = attn.bias %s, %t[%b] : " + entries +
                                                           "\n      %x = attn.alibi %y, %m[%h], %i, %j : " + heads);
  add("S4_batch_entry_of_minus_3e38_beside_alibi", spec, {{"t", {-3e38}}, {"m", {0.5, 1.25}}});
  add.last().dtypes = {"bf16"};
  const std::string twice = "%f = attn.load %m[%h] : " + heads + R"(
      %n = arith.constant 2.0 : f32
      %r = arith.mulf %f, %n : f32
      %p = arith.index_cast %j : index to i32
      %g = arith.sitofp %p : i32 to f32
      %y = arith.addf %s, %r : f32
      %x = arith.subf %y, %g : f32)";
  spec = scored({"m: " + heads}, twice);
  add("S4_head_of_minus_3e38_beside_keys", spec, {{"m", {-1.5e38}}});
}

/// Cases that are about gradients. They come after others: which dtypes the quick grid has of a case goes by its
/// number.
void attnc::conformance::addGradientCases(std::vector<Case> &cases, Extent extent) {
  Adder add(cases, extent);
  // Read twice, in other orders than the tensor's, under functions.
  add("S15_learned_twice", learned({"t: tensor<?x$Hx?x?xf32>", "r: tensor<?x$Hx1x$T>"},
                                   R"(%a = attn.load %t[%j, %h, %i, %b] : tensor<?x$Hx?x?xf32>
      %e = math.exp %a : f32
      %m = arith.mulf %s, %e : f32
      %y = attn.bias %m, %t[%j, %h, %i, %b] : tensor<?x$Hx?x?xf32>
      %z = attn.bias %y, %r[%i, %h, %b] : tensor<?x$Hx1x$T>
      %x = attn.softcap %z, 5.0)",
                                   causal));
  // Logits of 0 tie with a constant that comes first, and has the gradient; what was bits in between has none.
  add("S15_tie_with_constant", scored({}, R"(%zero = arith.constant 0.0 : f32
      %m = arith.maximumf %zero, %s : f32
      %n = arith.bitcast %s : f32 to i32
      %t = arith.bitcast %n : i32 to f32
      %x = arith.addf %m, %t : f32)"),
      {{"q", {0}}});
  add.last().dtypes = {"f32"};
  // Gradients that are scattered: a table of many entries; places along rows, and along columns, with a computed index;
  // one tensor by two computed indices, and one of an open size by reads that differ.
  add("S15_scattered_table", learned({"t: tensor<301x$Hx$T>"}, R"(%c = arith.constant 150 : index
      %d = arith.subi %i, %j : index
      %n = arith.addi %d, %c : index
      %x = attn.bias %s, %t[%n, %h] : tensor<301x$Hx$T>)",
                                     causal));
  add("S15_scattered_beside_queries", learned({"t: tensor<$Hx?x5xf32>", "u: tensor<7x?xf32>"},
                                              R"(%c = arith.constant 3 : index
      %n = arith.remui %j, %c : index
      %y = attn.bias %s, %t[%h, %i, %n] : tensor<$Hx?x5xf32>
      %m = arith.subi %i, %c : index
      %l = attn.load %u[%m, %j] : tensor<7x?xf32>
      %f = math.exp %l : f32
      %x = arith.mulf %y, %f : f32)"));
  add("S15_scattered_twice", learned({"t: tensor<9x11xf32>", "u: tensor<?xf32>"},
                                     R"(%c = arith.constant 4 : index
      %a = arith.divui %i, %c : index
      %b0 = arith.remui %j, %c : index
      %y = attn.bias %s, %t[%a, %b0] : tensor<9x11xf32>
      %d = arith.addi %i, %c : index
      %z = attn.bias %y, %u[%j] : tensor<?xf32>
      %x = attn.bias %z, %u[%d] : tensor<?xf32>)",
                                     causal));
  // A scale, with a score and without one, and a tensor without dimensions.
  Spec scale = claused("scale(%c)", {"c: f32"});
  scale.learned = true;
  add("S15_learned_scale", scale, {{"c", {0.2}}});
  // One sum of terms that cancel: in f32 its error is what luck leaves of them, the baseline's as well.
  add.last().dtypes = {"bf16", "f16"};
  scale = learned({"c: f32", "t: tensor<$T>"}, R"(%y = attn.bias %s, %t[] : tensor<$T>
      %x = attn.softcap %y, 2.0)",
                  causal);
  scale.clauses = "scale(%c)";
  add("S15_learned_scale_and_score", scale, {{"c", {-0.3}}});
  // Three results of one operation, of which two are stored.
  add("S15_learned_tiles_and_sums", learned({"t: tensor<?x?x?x$Hxf16>", "m: tensor<1xf32>"},
                                            R"(%l = attn.load %t[%b, %i, %j, %h] : tensor<?x?x?x$Hxf16>
      %w = arith.extf %l : f16 to f32
      %e = math.exp %w : f32
      %y = arith.mulf %s, %e : f32
      %f = attn.load %m[%i] : tensor<1xf32>
      %x = arith.mulf %y, %f : f32)"));
  add.last().dtypes = {"f32"};
}
