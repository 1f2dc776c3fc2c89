//===- Variant.cpp - Specs of common variants -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Variant.h"
#include "codegen/image/DType.h"

#include <charconv>
#include <cmath>

using namespace attnc;
using image::DType;
using image::Error;
using image::Result;
using image::Status;

static std::string print(int64_t number) { return std::to_string(number); }

/// `number` as MLIR reads it, to the last bit, whatever the locale of the program is.
static std::string print(double number) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific, 17);
  return error == std::errc() ? std::string(text, end) : "";
}

static Error expected(const char *what, const char *field, const std::string &got) {
  return Error{std::string("attnc_variant: expected ") + what + " for " + field + ", got " + got};
}

/// Refuses what no spec could say.
static Status check(const attnc_variant &variant) {
  if (variant.dtype != ATTNC_F32 && variant.dtype != ATTNC_F16 && variant.dtype != ATTNC_BF16)
    return expected("ATTNC_F32, ATTNC_F16 or ATTNC_BF16", "dtype", print(int64_t{variant.dtype}));
  if (variant.query_heads < 1)
    return expected("1 or more", "query_heads", print(int64_t{variant.query_heads}));
  if (variant.key_heads < 0)
    return expected("0 or more", "key_heads", print(int64_t{variant.key_heads}));
  if (variant.head_dim < 1)
    return expected("1 or more", "head_dim", print(int64_t{variant.head_dim}));
  if (variant.value_head_dim < 0)
    return expected("0 or more", "value_head_dim", print(int64_t{variant.value_head_dim}));
  for (auto [value, field] : {std::pair(variant.causal, "causal"), std::pair(variant.lse, "lse")})
    if (value != 0 && value != 1)
      return expected("0 or 1", field, print(int64_t{value}));
  if (variant.window < 0 || (variant.window > 0 && variant.causal == 0))
    return expected("0 or more, and 0 where causal is 0,", "window", print(variant.window));
  for (auto [value, field] : {std::pair(variant.softcap, "softcap"), std::pair(variant.scale, "scale")})
    if (!std::isfinite(value))
      return expected("a finite number", field, print(value));
  return {};
}

/// The mask of `variant`; empty where all keys are kept.
static std::string writeMask(const attnc_variant &variant) {
  if (variant.causal == 0)
    return "";
  std::string keep =
      variant.window > 0 ? "attn.window %i, %j left(" + print(variant.window - 1) + ") right(0)" : "attn.causal %i, %j";
  return "    mask (%b, %h, %i, %j) {\n      %keep = " + keep + "\n      attn.yield %keep : i1\n    }\n";
}

static std::string writeScore(const attnc_variant &variant) {
  if (variant.softcap == 0)
    return "";
  return "    score (%s, %b, %h, %i, %j) {\n      %capped = attn.softcap %s, " + print(variant.softcap) +
         "\n      attn.yield %capped : f32\n    }\n";
}

Result<std::string> capi::writeSpec(const attnc_variant &variant) {
  if (Status status = check(variant); !status)
    return status.takeError();
  const std::string type(image::name(static_cast<DType>(variant.dtype)));
  auto tensor = [&](int32_t heads, int32_t dim) {
    return "tensor<?x?x" + std::to_string(heads) + 'x' + std::to_string(dim) + 'x' + type + '>';
  };
  const int32_t keyHeads = variant.key_heads > 0 ? variant.key_heads : variant.query_heads;
  const int32_t valueDim = variant.value_head_dim > 0 ? variant.value_head_dim : variant.head_dim;
  const std::string q = tensor(variant.query_heads, variant.head_dim), k = tensor(keyHeads, variant.head_dim),
                    v = tensor(keyHeads, valueDim), out = tensor(variant.query_heads, valueDim),
                    lse = "tensor<?x" + std::to_string(variant.query_heads) + "x?xf32>";
  const std::string results = variant.lse ? out + ", " + lse : out;
  std::string text = "func.func @attention(%q: " + q + " {attn.name = \"q\"}, %k: " + k +
                     " {attn.name = \"k\"}, %v: " + v + " {attn.name = \"v\"})\n    -> (" + out +
                     " {attn.name = \"out\"}";
  text += variant.lse ? ", " + lse + " {attn.name = \"lse\"}) {\n" : ") {\n";
  text += variant.lse ? "  %o, %lse = " : "  %o = ";
  text += "attn.forward %q, %k, %v";
  text += variant.scale != 0 ? " scale(" + print(variant.scale) + ")\n" : "\n";
  text += writeScore(variant) + writeMask(variant);
  text += "    : (" + q + ", " + k + ", " + v + ") -> (" + results + ")\n";
  text += variant.lse ? "  return %o, %lse : " : "  return %o : ";
  return text + results + "\n}\n";
}
