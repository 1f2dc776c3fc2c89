//===- RegionOpsTest.cpp - Every admitted operation -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Every row of the table of operations, in every type that it admits, on every target that runs here: a score region
// computes it, and where a row has one key its LSE is the score. The reference rounds each operation to its type, so
// that differences are the operation's own.
//===----------------------------------------------------------------------===//

#include "dialect/attn/RegionOps.h"
#include "codegen/target/NvidiaGpu.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/Target.h"
#include "test/unit/jit/JitTestSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <limits>

using namespace attnc;
using namespace attnc::attn;
using namespace attnc::test;
using image::DType;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// One operation in one type.
struct OpCase {
  const RegionOp *row;
  std::string text; ///< writes %r<n> of %x<n>..., where @ stands for n
  std::string operands, result;
};

bool isFloat(llvm::StringRef type) { return type.starts_with("f") || type.starts_with("bf"); }
int widthOf(llvm::StringRef type) {
  int width = 64;
  if (type != "index")
    type.drop_while([](char c) { return !llvm::isDigit(c); }).getAsInteger(10, width);
  return width;
}

std::vector<std::string> typesOf(unsigned types) {
  std::vector<std::string> names;
  for (const char *name : {"i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"}) {
    if (types & 1)
      names.emplace_back(name);
    types >>= 1;
  }
  return names;
}

/// Adds `text` in all types that the row admits; T is the operands' type there, R the result's.
void addConversions(std::vector<OpCase> &cases, const RegionOp &row) {
  llvm::StringRef name = row.name;
  for (const std::string &from : typesOf(row.operands))
    for (const std::string &to : typesOf(row.results)) {
      int a = widthOf(from), b = widthOf(to);
      bool isIndexCast = name.contains("index_cast");
      if (name.contains("ext") ? a >= b : name.contains("trunc") ? a <= b : false)
        continue;
      if (isIndexCast && (from == "index") == (to == "index"))
        continue;
      if (name == "arith.bitcast" && (a != b || isFloat(from) == isFloat(to)))
        continue;
      cases.push_back({&row, "%r@ = " + name.str() + " %x@ : " + from + " to " + to, from, to});
    }
}

std::vector<OpCase> makeCases() {
  std::vector<OpCase> cases;
  for (const RegionOp &row : getRegionOps()) {
    std::string name = row.name.str();
    auto addAll = [&](const std::string &text, unsigned types, const std::string &result = "") {
      for (const std::string &type : typesOf(types)) {
        std::string line;
        for (char c : text)
          line += c == '$' ? type : std::string(1, c);
        cases.push_back({&row, line, type, result.empty() ? type : result});
      }
    };
    static const llvm::StringSet<> unary = {"math.absi", "math.ctlz", "math.cttz", "math.ctpop", "arith.negf"};
    static const llvm::StringSet<> two = {"math.copysign", "math.powf", "math.atan2"};
    if (name == "arith.constant")
      continue;
    if (name == "arith.select")
      addAll("%b@ = arith.cmpi sgt, %case, %half : i32\n%r@ = arith.select %b@, %x@, %y@ : $", row.results);
    else if (name == "arith.cmpi")
      for (const char *predicate : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
        addAll("%r@ = arith.cmpi " + std::string(predicate) + ", %x@, %y@ : $", row.operands, "i1");
    else if (name == "arith.cmpf")
      for (const char *predicate : {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
                                    "une", "uno", "true", "false"})
        addAll("%r@ = arith.cmpf " + std::string(predicate) + ", %x@, %y@ : $", row.operands, "i1");
    else if (name == "math.ipowi") {
      addAll("%r@ = math.ipowi %x@, %y@ : $", row.results & ~(I64 | Index));
      for (const char *exponent : {"13", "2", "0", "-1", "-4"})
        addAll("%n@ = arith.constant " + std::string(exponent) + " : $\n%r@ = math.ipowi %x@, %n@ : $", I64 | Index);
    } else if (name == "math.fma")
      addAll("%r@ = math.fma %x@, %y@, %x@ : $", row.results);
    else if (name == "math.clampf")
      addAll("%z@ = arith.negf %y@ : $\n%r@ = math.clampf %x@ to [%y@, %z@] : $", row.results);
    else if (name == "math.fpowi")
      for (const char *power : {"i8", "i16", "i32"})
        for (const std::string &type : typesOf(row.results))
          cases.push_back({&row,
                           "%n@ = arith.trunci %wide : i64 to " + std::string(power) +
                               "\n%r@ = math.fpowi %x@, %n@ : " + type + ", " + power,
                           type, type});
    else if (llvm::StringRef(name).starts_with("math.is"))
      addAll("%r@ = " + name + " %x@ : $", row.operands, "i1");
    else if (row.operands != row.results || name == "arith.bitcast" || name == "arith.trunci" ||
             llvm::StringRef(name).contains("index_cast") || llvm::StringRef(name).starts_with("arith.ext"))
      addConversions(cases, row);
    else if (unary.contains(name) || (llvm::StringRef(name).starts_with("math.") && !two.contains(name)))
      addAll("%r@ = " + name + " %x@ : $", row.results);
    else
      addAll("%r@ = " + name + " %x@, %y@ : $", row.results);
  }
  return cases;
}

/// Cases that one kernel computes: as many as keep it small.
std::vector<std::vector<OpCase>> makeGroups() {
  constexpr size_t most = 24;
  std::vector<std::vector<OpCase>> groups;
  const RegionOp *last = nullptr;
  for (OpCase &op : makeCases()) {
    if (groups.empty() || groups.back().size() >= most ||
        (op.row != last && op.row->ulps > 0 && groups.back().size() > 6))
      groups.emplace_back();
    last = op.row;
    groups.back().push_back(std::move(op));
  }
  return groups;
}

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Operands: extremes of floats and of integers, paired so that each meets others of its kind.
struct Operands {
  std::vector<float> x, y;
  std::vector<int64_t> n, m;
};

Operands makeOperands() {
  static const float floats[] = {0,           -0.0f,  1,        -1,        0.5f,          -0.75f,     2,
                                 3.25f,       -17.6f, 1e-3f,    -1e-5f,    0x1p-149f,     -0x1p-130f, 1e10f,
                                 -3.4e38f,    88.5f,  -103.97f, 255.5f,    1234.5f,       -65504,     3e9f,
                                 0x1p63f,     1e-20f, infinity, -infinity, std::nanf(""), 0.9999999f, 1.0000001f,
                                 100000.125f, -12.5f, 0.3f,     7};
  static const int64_t integers[] = {0,
                                     1,
                                     -1,
                                     2,
                                     -2,
                                     3,
                                     7,
                                     -7,
                                     8,
                                     15,
                                     16,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     100,
                                     -100,
                                     127,
                                     128,
                                     -128,
                                     255,
                                     32767,
                                     -32768,
                                     65535,
                                     INT32_MAX,
                                     INT32_MIN,
                                     int64_t{1} << 31,
                                     (int64_t{1} << 32) + 5,
                                     INT64_MAX,
                                     INT64_MIN};
  Operands operands;
  auto add = [&](size_t a, size_t b) {
    operands.x.push_back(floats[a % std::size(floats)]);
    operands.y.push_back(floats[b % std::size(floats)]);
    operands.n.push_back(integers[a % std::size(integers)]);
    operands.m.push_back(integers[b % std::size(integers)]);
  };
  for (size_t step : {1, 5})
    for (size_t a = 0; a < std::size(floats); ++a)
      add(a, step == 5 ? a * 7 + 3 : a + step);
  // The least number by -1, in each width.
  for (size_t a : {std::size_t(21), std::size_t(24), std::size_t(27), std::size_t(31)})
    add(a, 2);
  return operands;
}

/// A tensor of the elements of `values`, `times` over.
template <typename T>
Tensor repeat(DType dtype, const std::vector<T> &values, size_t times) {
  int64_t size = static_cast<int64_t>(values.size() * times);
  Tensor tensor = *Tensor::allocate(dtype, {size});
  for (int64_t i = 0; i < size; ++i)
    tensor.data<T>()[i] = values[static_cast<size_t>(i) % values.size()];
  return tensor;
}

std::string replaceAt(const std::string &text, const std::string &number) {
  std::string line;
  for (char c : text)
    line += c == '@' ? number : std::string(1, c);
  return line + "\n";
}

/// Writes %<out> of type `type` from the captured %xf (or %yf) and %xn (or %yn).
std::string makeOperand(const std::string &out, const std::string &source, llvm::StringRef type) {
  std::string name = type.str();
  if (type == "f32")
    return "%" + out + " = arith.addf %" + source + "f, %negzero : f32\n";
  if (isFloat(type))
    return "%" + out + " = arith." + (widthOf(type) == 64 ? "extf" : "truncf") + " %" + source + "f : f32 to " + name +
           "\n";
  if (type == "i64")
    return "%" + out + " = arith.addi %" + source + "n, %none : i64\n";
  return "%" + out + " = arith." + (type == "index" ? "index_cast" : "trunci") + " %" + source + "n : i64 to " + name +
         "\n";
}

std::string makeSpec(const std::vector<OpCase> &group) {
  std::string body = "%negzero = arith.constant -0.0 : f32\n%none = arith.constant 0 : i64\n"
                     "%half = arith.constant 0 : i32\n%zero = arith.constant 0.0 : f32\n"
                     "%mixer = arith.constant 6364136223846793005 : i64\n%places = arith.constant 40 : i64\n"
                     "%case = attn.load %which[%i] : tensor<?xi32>\n%xf = attn.load %xs[%i] : tensor<?xf32>\n"
                     "%yf = attn.load %ys[%i] : tensor<?xf32>\n%xn = attn.load %ns[%i] : tensor<?xi64>\n"
                     "%yn = attn.load %ms[%i] : tensor<?xi64>\n%wide = arith.addi %yn, %none : i64\n";
  std::string sum = "%zero";
  for (auto [n, op] : llvm::enumerate(group)) {
    std::string me = std::to_string(n), value = "%value" + me;
    body += makeOperand("x" + me, "x", op.operands) + makeOperand("y" + me, "y", op.operands);
    body += replaceAt(op.text, me);
    if (op.result == "f32") {
      value = "%r" + me;
    } else if (isFloat(op.result)) {
      body +=
          value + " = arith." + (op.result == "f64" ? "truncf" : "extf") + " %r" + me + " : " + op.result + " to f32\n";
    } else {
      // 24 bits that all of an integer's mix into.
      std::string bits = "%bits" + me;
      if (op.result == "i64")
        bits = "%r" + me;
      else if (op.result == "index")
        body += bits + " = arith.index_cast %r" + me + " : index to i64\n";
      else
        body += bits + " = arith.extui %r" + me + " : " + op.result + " to i64\n";
      body += "%mixed" + me + " = arith.muli " + bits + ", %mixer : i64\n";
      body += "%part" + me + " = arith.shrui %mixed" + me + ", %places : i64\n";
      body += value + " = arith.uitofp %part" + me + " : i64 to f32\n";
    }
    body += "%number" + me + " = arith.constant " + me + " : i32\n";
    body += "%is" + me + " = arith.cmpi eq, %case, %number" + me + " : i32\n";
    body += "%sum" + me + " = arith.select %is" + me + ", " + value + ", " + sum + " : f32\n";
    sum = "%sum" + me;
  }
  std::string t = "tensor<1x?x1x8xf32>";
  return "func.func @f(%q: " + t +
         ", %k: tensor<1x1x1x8xf32>, %v: tensor<1x1x1x8xf32>, %which: tensor<?xi32>, "
         "%xs: tensor<?xf32>, %ys: tensor<?xf32>, %ns: tensor<?xi64>, %ms: tensor<?xi64>) -> tensor<1x1x?xf32> {\n"
         "%o, %l = attn.forward %q, %k, %v align(top_left) score (%s, %b, %h, %i, %j) {\n" +
         body + "attn.yield " + sum + " : f32\n} : (" + t + ", tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>) -> (" + t +
         ", tensor<1x1x?xf32>)\n"
         "return %l : tensor<1x1x?xf32>\n}\n";
}

/// A unit in the last place of `value` in `type`, at least that of the least normal number.
double ulpOf(double value, llvm::StringRef type) {
  int bits = type == "f16" ? 11 : type == "bf16" ? 8 : 24, least = type == "f16" ? -14 : -126;
  int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - bits + 1);
}

class RegionOps : public testing::TestWithParam<size_t> {};

TEST_P(RegionOps, MeanTheSameOnEveryTarget) {
  std::vector<OpCase> group = makeGroups()[GetParam()];
  std::string text = makeSpec(group);
  OpenSpec spec(text);
  Operands operands = makeOperands();
  size_t cases = group.size(), count = operands.x.size();
  std::vector<int32_t> which;
  which.reserve(cases * count);
  for (size_t i = 0; i < cases * count; ++i)
    which.push_back(static_cast<int32_t>(i / count));
  int64_t rows = static_cast<int64_t>(cases * count);
  Tensor q = *Tensor::allocate(DType::F32, {1, rows, 1, 8}), k = *Tensor::allocate(DType::F32, {1, 1, 1, 8});
  q.fill(0);
  k.fill(0);
  std::vector<ArgValue> inputs = {q,
                                  k,
                                  k,
                                  repeat(DType::I32, which, 1),
                                  repeat(DType::F32, operands.x, cases),
                                  repeat(DType::F32, operands.y, cases),
                                  repeat(DType::I64, operands.n, cases),
                                  repeat(DType::I64, operands.m, cases)};
  Tensor expected = *Tensor::allocate(DType::F32, {1, 1, rows});
  ASSERT_TRUE(static_cast<bool>(jit::runReference(spec.kernel, inputs, {expected}, Precision::Baseline))) << text;
  for (const char *name : {"cpu", "sim:sm_90a", "sim:sm_80"}) {
    auto target = jit::findTarget(name);
    ASSERT_TRUE(static_cast<bool>(target)) << target.message();
    auto kernel = (*target)->load(spec.session, spec.kernel);
    ASSERT_TRUE(static_cast<bool>(kernel)) << name << spec.diagnostics << kernel.message() << text;
    Tensor got = *Tensor::allocate(DType::F32, {1, 1, rows});
    got.poison();
    std::vector<ArgValue> values = inputs;
    values.emplace_back(got);
    image::Status status = (*kernel)->run(values);
    ASSERT_TRUE(static_cast<bool>(status)) << name << status.message();
    for (auto [number, op] : llvm::enumerate(group)) {
      double worst = 0;
      size_t at = 0, numbers = 0;
      auto of = [&, number = number](const Tensor &tensor, size_t i) -> double {
        return tensor.data<float>()[number * count + i];
      };
      for (size_t i = 0; i < count; ++i) {
        double want = of(expected, i), have = of(got, i);
        // Infinity is no logit, and NaN is infinitely far from any.
        if (!std::isfinite(want) && !std::isfinite(have))
          continue;
        ++numbers;
        bool areNumbers = std::isfinite(want) && std::isfinite(have);
        double error = areNumbers ? std::abs(want - have) / ulpOf(want, op.result) : 1e30;
        if (error > worst) {
          worst = error;
          at = i;
        }
      }
      EXPECT_GE(numbers, count / 8) << op.text;
      // Narrow floats are rounded twice.
      double allowed = isFloat(op.result) && op.result != "f32" ? std::max(1.0f, op.row->ulps) : op.row->ulps;
      EXPECT_LE(worst, allowed) << name << ": " << op.text << "\nof " << operands.x[at] << ", " << operands.y[at]
                                << " or " << operands.n[at] << ", " << operands.m[at] << ": expected "
                                << of(expected, at) << ", got " << of(got, at);
    }
  }
}

TEST_P(RegionOps, CompileForGpus) {
  OpenSpec spec(makeSpec(makeGroups()[GetParam()]));
  for (const char *arch : {"sm_90a", "sm_80"}) {
    auto target = target::getNvidiaGpu(&spec.session.context(), arch);
    ASSERT_TRUE(target) << arch;
    auto ptx = jit::compileToStage(spec.session, spec.kernel, "ptx", target);
    EXPECT_TRUE(static_cast<bool>(ptx)) << arch << spec.diagnostics << ptx.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RegionOps, testing::Range<size_t>(0, makeGroups().size()));

} // namespace
