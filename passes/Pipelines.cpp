//===- Pipelines.cpp - From a spec to a tile program ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/attn/Passes.h"
#include "passes/tile/Passes.h"

using namespace mlir;

void attnc::buildAttnPipeline(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(attn::createAttnExpand());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(attn::createAttnInferBounds());
  pm.addPass(attn::createAttnSelectSchedule());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void attnc::buildTilePipeline(OpPassManager &pm) {
  pm.addPass(attn::createAttnToTile());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileSplitRanges());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void attnc::registerPipelines() {
  attn::registerAttncAttnPasses();
  tile::registerAttncTilePasses();
  PassPipelineRegistration<>("attnc-attn", "A spec to scheduled attn operations", buildAttnPipeline);
  PassPipelineRegistration<>("attnc-tile", "Scheduled attn operations to tile programs", buildTilePipeline);
}
