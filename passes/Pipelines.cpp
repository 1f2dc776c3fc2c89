//===- Pipelines.cpp - From a spec to a tile program ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/attn-to-tile/Passes.h"
#include "passes/attn/Passes.h"
#include "passes/tile/Passes.h"

using namespace mlir;

void attnc::buildAttnPipeline(OpPassManager &pm) {
  pm.addPass(attn::createAttnDefineArithmetic());
  // Gradients are those of what is written: canonical forms exchange operands, and which of two equal ones comes first
  // counts.
  pm.addPass(attn::createAttnDifferentiateScore());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(attn::createAttnExpand());
  pm.addPass(attn::createAttnExpandFunctions());
  pm.addPass(attn::createAttnOrderOperands());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(attn::createAttnInferBounds());
  pm.addPass(attn::createAttnNarrowDivisions());
  pm.addPass(attn::createAttnLegalizeIndex());
  pm.addPass(attn::createAttnSelectSchedule());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void attnc::buildTilePipeline(OpPassManager &pm) {
  auto simplify = [&] {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  };
  pm.addPass(attn::createAttnToTile());
  simplify();
  pm.addPass(tile::createTileStageCaptures());
  // The passes that overlap steps leave programs without a pipeline as they are.
  pm.addNestedPass<tile::ProgramOp>(tile::createTileDeferRowSums());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileFuseExponent());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileMaximaFirst());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileAssignStages());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileReverseLoops());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileLoadAhead());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileOverlapSteps());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileOwnKeys());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileRescaleOnOverflow());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileLowerSoftmax());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileExpandPhilox());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileJoinRows());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileStageOperands());
  simplify();
  pm.addNestedPass<tile::ProgramOp>(tile::createTileSplitRanges());
  simplify();
  pm.addNestedPass<tile::ProgramOp>(tile::createTileShareReciprocals());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileSpecializeRoles());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileFinishRows());
  simplify();
  pm.addNestedPass<tile::ProgramOp>(tile::createTileInsertSync());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileSplitOperands());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileInsertBarriers());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileAllocateShared());
  // How a thread computes its elements.
  pm.addNestedPass<tile::ProgramOp>(tile::createTileApproximateMath());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileAnchorColumns());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileContractProducts());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileBalanceExponentials());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileOrderRows());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileOrderLoads());
  pm.addNestedPass<tile::ProgramOp>(tile::createTilePredicateLoads());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileWidenLoads());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileChooseUniform());
  pm.addNestedPass<tile::ProgramOp>(tile::createTileBoundLaunch());
  pm.addPass(tile::createTileStartNext());
}

void attnc::registerPipelines() {
  attn::registerAttncAttnPasses();
  attn::registerAttncAttnToTilePasses();
  tile::registerAttncTilePasses();
  PassPipelineRegistration<>("attnc-attn", "A spec to scheduled attn operations", buildAttnPipeline);
  PassPipelineRegistration<>("attnc-tile", "Scheduled attn operations to tile programs", buildTilePipeline);
}
