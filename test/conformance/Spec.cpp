//===- Spec.cpp - Specs from small data -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Spec.h"
#include "llvm/ADT/StringExtras.h"

using namespace attnc::conformance;

namespace {

/// The types of a spec's kernel.
struct Types {
  std::string query, key, value, out, lse;

  explicit Types(const Spec &spec) {
    auto tensor = [&](const std::string &rows, int64_t heads, int64_t dim) {
      return "tensor<" + rows + std::to_string(heads) + "x" + std::to_string(dim) + "x$T>";
    };
    std::string rows = spec.packed ? "?x" : "?x?x", keys = spec.keys ? std::to_string(spec.keys) + "x" : "?x";
    std::string keyRows = spec.pageRows ? "?x" + std::to_string(spec.pageRows) + "x" : spec.packed ? keys : "?x" + keys;
    int64_t valueDim = spec.valueDim ? spec.valueDim : spec.headDim;
    query = tensor(rows, spec.queryHeads, spec.headDim);
    key = tensor(keyRows, spec.keyHeads, spec.headDim);
    value = tensor(keyRows, spec.keyHeads, valueDim);
    out = spec.weights ? "tensor<?x$Hx?x" + keys + "$T>" : tensor(rows, spec.queryHeads, valueDim);
    lse = spec.packed ? "tensor<$Hx?xf32>" : "tensor<?x$Hx?xf32>";
  }
};

} // namespace

/// "%bias: tensor<...> {attn.name = "bias"}" of "bias: tensor<...>".
static std::string declare(llvm::StringRef argument) {
  return "%" + argument.str() + " {attn.name = \"" + argument.split(':').first.str() + "\"}";
}

static std::string region(llvm::StringRef head, llvm::StringRef body, llvm::StringRef yield) {
  if (body.empty())
    return "";
  return "    " + head.str() + " {\n      " + body.str() + "\n      attn.yield " + yield.str() + "\n    }\n";
}

std::string Spec::toString(const std::string &dtype) const {
  Types types(*this);
  std::vector<std::string> inputs = {"q: " + types.query, "k: " + types.key};
  std::vector<std::string> operands = {types.query, types.key};
  if (!weights) {
    inputs.push_back("v: " + types.value);
    operands.push_back(types.value);
  }
  std::string form;
  if (packed) {
    inputs.emplace_back("qo: tensor<?xi32>");
    form = " varlen(query = %qo : tensor<?xi32>";
    if (!pageRows) {
      inputs.emplace_back("ko: tensor<?xi32>");
      form += ", key = %ko : tensor<?xi32>";
    }
    form += ")";
  }
  if (pageRows) {
    inputs.emplace_back("table: tensor<?x?xi32>");
    form += " paged(%table : tensor<?x?xi32>)";
  }
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  std::vector<std::string> declared(inputs.size());
  std::transform(inputs.begin(), inputs.end(), declared.begin(), declare);
  for (size_t number = learned ? inputs.size() - arguments.size() : inputs.size(); number < inputs.size(); ++number)
    declared[number].insert(declared[number].size() - 1, ", attn.requires_grad");

  bool withLse = lse && !weights;
  std::string results = withLse ? types.out + ", " + types.lse : types.out;
  std::string named = types.out + (weights ? " {attn.name = \"weights\"}" : " {attn.name = \"out\"}") +
                      (withLse ? ", " + types.lse + " {attn.name = \"lse\"}" : "");
  std::string values = withLse ? "%o, %lse" : "%o";
  std::string text = "func.func @kernel(" + llvm::join(declared, ",\n                  ") + ")\n    -> (" + named +
                     ")" +
                     (deterministic ? " attributes {attn.deterministic}"
                      : tf32        ? " attributes {attn.tf32}"
                                    : "") +
                     " {\n  " + values + " = " + (weights ? "attn.weights %q, %k" : "attn.forward %q, %k, %v") + form +
                     " " + clauses + "\n" + region("score (%s, %b, %h, %i, %j)", score, "%x : f32") +
                     region("mask (%b, %h, %i, %j)", mask, "%keep : i1") + "    : (" + llvm::join(operands, ", ") +
                     ") -> (" + results + ")\n  return " + values + " : " + results + "\n}\n";

  std::string filled;
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '$')
      filled += text[n];
    else
      filled += text[++n] == 'T' ? dtype : std::to_string(queryHeads);
  }
  return filled;
}
