//===- Case.cpp - The grid of conformance cases -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Case.h"

using namespace attnc::conformance;

/// The trial of one size.
static Trial sized(std::string shape) {
  Trial trial;
  trial.shape = std::move(shape);
  return trial;
}

static std::vector<Trial> sizedAll(std::initializer_list<const char *> shapes) {
  std::vector<Trial> trials;
  for (const char *shape : shapes)
    trials.push_back(sized(shape));
  return trials;
}

std::vector<Trial> attnc::conformance::standardTrials(Extent extent) {
  if (extent == Extent::Quick)
    return sizedAll({"B=1,Sq=1,Sk=1", "B=2,Sq=3,Sk=239", "B=1,Sq=113,Sk=203", "B=1,Sq=203,Sk=64"});
  return sizedAll({"B=1,Sq=1,Sk=1", "B=9,Sq=1,Sk=239", "B=2,Sq=3,Sk=799", "B=2,Sq=113,Sk=203", "B=9,Sq=127,Sk=127",
                   "B=2,Sq=255,Sk=257", "B=1,Sq=384,Sk=511", "B=1,Sq=1023,Sk=1024", "B=1,Sq=2048,Sk=2048",
                   "B=1,Sq=4224,Sk=4224", "B=2,Sq=64,Sk=64", "B=1,Sq=192,Sk=320", "B=2,Sq=203,Sk=113",
                   "B=1,Sq=799,Sk=3"});
}

std::vector<Trial> attnc::conformance::standardTrials(Extent extent,
                                                      const std::map<std::string, std::vector<double>> &contents) {
  std::vector<Trial> trials = standardTrials(extent);
  for (Trial &trial : trials)
    trial.contents = contents;
  return trials;
}

std::vector<Trial> attnc::conformance::squareTrials(Extent extent) {
  if (extent == Extent::Quick)
    return sizedAll({"B=1,Sq=1", "B=2,Sq=127", "B=1,Sq=320"});
  return sizedAll({"B=1,Sq=1", "B=9,Sq=127", "B=2,Sq=192", "B=1,Sq=511", "B=1,Sq=2048", "B=1,Sq=4224"});
}

std::vector<Trial> attnc::conformance::packedTrials(Extent extent) {
  if (extent == Extent::Quick)
    return sizedAll({"B=1,Tq=1,Tk=1", "B=2,Tq=130,Tk=203", "B=9,Tq=300,Tk=211"});
  return sizedAll({"B=1,Tq=1,Tk=1", "B=1,Tq=255,Tk=257", "B=2,Tq=130,Tk=203", "B=9,Tq=300,Tk=211",
                   "B=9,Tq=1023,Tk=1024", "B=2,Tq=4224,Tk=4224", "B=64,Tq=97,Tk=511"});
}

std::vector<Case> attnc::conformance::allCases(Extent extent) {
  std::vector<Case> cases;
  addScoreCases(cases, extent);
  addMaskCases(cases, extent);
  addSequenceCases(cases, extent);
  addShapeCases(cases, extent);
  addGradientCases(cases, extent);
  addTf32Cases(cases, extent);
  addAlikeCases(cases, extent);
  addLargeRowTermCases(cases, extent);
  // Each case in f32, where errors show best; every second one in a 16-bit type too. Large values are about what types
  // can hold.
  const std::vector<std::string> quick[] = {{"f32", "bf16"}, {"f32"}, {"f32", "f16"}, {"f32"}};
  if (extent == Extent::Quick)
    for (size_t n = 0; n < cases.size(); ++n)
      if (cases[n].dtypes.size() == 3 && cases[n].trials.front().valueScale == 1)
        cases[n].dtypes = quick[n % 4];
  return cases;
}
