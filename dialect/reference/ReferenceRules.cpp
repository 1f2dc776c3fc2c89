//===- ReferenceRules.cpp - Values and derivatives of scalars ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceRules.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace attnc::attn::reference;

static constexpr double pi = 3.14159265358979323846, ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402;

/// Numbers of 2^48 and more stand further apart than any angle: their sine, cosine and tangent are those of 0.
static double angle(double x) { return std::fabs(x) >= 0x1p48 ? 0 : x; }

/// Derivative of steps.
static double zero(double, double) { return 0; }

/// Derivative of |x|, 0 at its kink.
static double sign(double x, double) { return (x > 0) - (x < 0); }

/// One line an operation: value, then derivative of y = f(x).
static const UnaryRule unaryRules[] = {
    {"arith.negf", [](double x) { return -x; }, [](double, double) { return -1.0; }},
    {"arith.extf", [](double x) { return x; }, [](double, double) { return 1.0; }},
    {"arith.truncf", [](double x) { return x; }, [](double, double) { return 1.0; }},
    {"math.absf", [](double x) { return std::fabs(x); }, sign},
    {"math.exp", [](double x) { return std::exp(x); }, [](double, double y) { return y; }},
    {"math.exp2", [](double x) { return std::exp2(x); }, [](double, double y) { return y * ln2; }},
    {"math.expm1", [](double x) { return std::expm1(x); }, [](double, double y) { return y + 1; }},
    {"math.log", [](double x) { return std::log(x); }, [](double x, double) { return 1 / x; }},
    {"math.log2", [](double x) { return std::log2(x); }, [](double x, double) { return 1 / (x * ln2); }},
    {"math.log10", [](double x) { return std::log10(x); }, [](double x, double) { return 1 / (x * ln10); }},
    {"math.log1p", [](double x) { return std::log1p(x); }, [](double x, double) { return 1 / (1 + x); }},
    {"math.sqrt", [](double x) { return std::sqrt(x); }, [](double, double y) { return 0.5 / y; }},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, [](double x, double y) { return -0.5 * y / x; }},
    {"math.cbrt", [](double x) { return std::cbrt(x); }, [](double, double y) { return 1 / (3 * y * y); }},
    {"math.sin", [](double x) { return std::sin(angle(x)); }, [](double x, double) { return std::cos(x); }},
    {"math.cos", [](double x) { return std::cos(angle(x)); }, [](double x, double) { return -std::sin(x); }},
    {"math.tan", [](double x) { return std::tan(angle(x)); }, [](double, double y) { return 1 + y * y; }},
    {"math.asin", [](double x) { return std::asin(x); }, [](double x, double) { return 1 / std::sqrt(1 - x * x); }},
    {"math.acos", [](double x) { return std::acos(x); }, [](double x, double) { return -1 / std::sqrt(1 - x * x); }},
    {"math.atan", [](double x) { return std::atan(x); }, [](double x, double) { return 1 / (1 + x * x); }},
    {"math.sinh", [](double x) { return std::sinh(x); }, [](double x, double) { return std::cosh(x); }},
    {"math.cosh", [](double x) { return std::cosh(x); }, [](double x, double) { return std::sinh(x); }},
    {"math.tanh", [](double x) { return std::tanh(x); }, [](double, double y) { return 1 - y * y; }},
    {"math.asinh", [](double x) { return std::asinh(x); }, [](double x, double) { return 1 / std::sqrt(x * x + 1); }},
    {"math.acosh", [](double x) { return std::acosh(x); }, [](double x, double) { return 1 / std::sqrt(x * x - 1); }},
    {"math.atanh", [](double x) { return std::atanh(x); }, [](double x, double) { return 1 / (1 - x * x); }},
    {"math.erf", [](double x) { return std::erf(x); },
     [](double x, double) { return 2 / std::sqrt(pi) * std::exp(-x * x); }},
    {"math.erfc", [](double x) { return std::erfc(x); },
     [](double x, double) { return -2 / std::sqrt(pi) * std::exp(-x * x); }},
    {"math.floor", [](double x) { return std::floor(x); }, zero},
    {"math.ceil", [](double x) { return std::ceil(x); }, zero},
    {"math.trunc", [](double x) { return std::trunc(x); }, zero},
    {"math.round", [](double x) { return std::round(x); }, zero},
    {"math.roundeven", [](double x) { return std::nearbyint(x); }, zero},
};

/// maximumf and minimumf hand a NaN on; maxnumf and minnumf prefer the number.
static double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b); }
static double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b); }

/// S4. An infinite cap changes nothing, but inf * tanh(s / inf) is not a number.
static double softcap(double s, double cap) { return std::isinf(cap) ? s : cap * std::tanh(s / cap); }

/// One block an operation: value, then derivatives of y = f(a, b) by a and b.
static const BinaryRule binaryRules[] = {
    {"arith.addf", [](double a, double b) { return a + b; }, [](double, double, double) { return 1.0; },
     [](double, double, double) { return 1.0; }},
    {"arith.subf", [](double a, double b) { return a - b; }, [](double, double, double) { return 1.0; },
     [](double, double, double) { return -1.0; }},
    {"arith.mulf", [](double a, double b) { return a * b; }, [](double, double b, double) { return b; },
     [](double a, double, double) { return a; }},
    {"arith.divf", [](double a, double b) { return a / b; }, [](double, double b, double) { return 1 / b; },
     [](double, double b, double y) { return -y / b; }},
    {"arith.remf", [](double a, double b) { return std::fmod(a, b); }, [](double, double, double) { return 1.0; },
     [](double a, double b, double) { return -std::trunc(a / b); }},
    {"arith.maximumf", maximum, nullptr, nullptr},
    {"arith.minimumf", minimum, nullptr, nullptr},
    {"arith.maxnumf", [](double a, double b) { return std::fmax(a, b); }, nullptr, nullptr},
    {"arith.minnumf", [](double a, double b) { return std::fmin(a, b); }, nullptr, nullptr},
    {"math.powf", [](double a, double b) { return std::pow(a, b); },
     [](double a, double b, double) { return b == 0 ? 0 : b * std::pow(a, b - 1); },
     [](double a, double, double y) { return a > 0 ? y * std::log(a) : 0; }},
    {"math.atan2", [](double a, double b) { return std::atan2(a, b); },
     [](double a, double b, double) { return b / (a * a + b * b); },
     [](double a, double b, double) { return -a / (a * a + b * b); }},
    {"math.copysign", [](double a, double b) { return std::copysign(a, b); },
     [](double a, double b, double) { return std::signbit(a) == std::signbit(b) ? 1.0 : -1.0; },
     [](double, double, double) { return 0.0; }},
    {"attn.softcap", softcap,
     [](double, double cap, double y) { return std::isinf(cap) ? 1 : 1 - std::pow(y / cap, 2); },
     [](double s, double cap, double y) {
       double t = y / cap;
       return std::isinf(cap) ? 0 : t - s / cap * (1 - t * t);
     }},
};

template <typename Rule, size_t N>
static const Rule *findRule(const Rule (&rules)[N], StringRef name) {
  const Rule *rule = llvm::find_if(rules, [&](const Rule &rule) { return rule.name == name; });
  return rule == std::end(rules) ? nullptr : rule;
}

const UnaryRule *attnc::attn::reference::findUnaryRule(StringRef name) { return findRule(unaryRules, name); }
const BinaryRule *attnc::attn::reference::findBinaryRule(StringRef name) { return findRule(binaryRules, name); }

static const struct {
  StringLiteral name;
  FloatPredicate test;
} floatPredicates[] = {
    {"math.isnan", [](double a, double) { return std::isnan(a); }},
    {"math.isinf", [](double a, double) { return std::isinf(a); }},
    {"math.isfinite", [](double a, double) { return std::isfinite(a); }},
};

FloatPredicate attnc::attn::reference::findFloatPredicate(StringRef name) {
  const auto *rule = findRule(floatPredicates, name);
  return rule ? rule->test : nullptr;
}

/// In the order of arith::CmpFPredicate. Unordered ones hold for NaN: they negate the opposite ordered one.
FloatPredicate attnc::attn::reference::getFloatComparison(unsigned predicate) {
  static const FloatPredicate comparisons[] = {
      [](double, double) { return false; },
      [](double a, double b) { return a == b; },
      [](double a, double b) { return a > b; },
      [](double a, double b) { return a >= b; },
      [](double a, double b) { return a < b; },
      [](double a, double b) { return a <= b; },
      [](double a, double b) { return a < b || a > b; },
      [](double a, double b) { return !std::isnan(a) && !std::isnan(b); },
      [](double a, double b) { return !(a < b || a > b); },
      [](double a, double b) { return !(a <= b); },
      [](double a, double b) { return !(a < b); },
      [](double a, double b) { return !(a >= b); },
      [](double a, double b) { return !(a > b); },
      [](double a, double b) { return a != b; },
      [](double a, double b) { return std::isnan(a) || std::isnan(b); },
      [](double, double) { return true; },
  };
  return comparisons[predicate];
}
