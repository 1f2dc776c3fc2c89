//===- AttnAttrs.td - Attributes of the attn dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_ATTRS
#define ATTNC_DIALECT_ATTN_ATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/attn/AttnDialect.td"
include "dialect/attn/PipelineInterface.td"

def Attn_AlignTopLeft : I32EnumAttrCase<"TopLeft", 0, "top_left">;
def Attn_AlignBottomRight : I32EnumAttrCase<"BottomRight", 1, "bottom_right">;

/// Where query 0 stands among the keys (S2).
def Attn_Alignment : I32EnumAttr<"Alignment", "position of the first query among the keys",
                                 [Attn_AlignTopLeft, Attn_AlignBottomRight]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_AlignmentAttr : EnumAttr<Attn_Dialect, Attn_Alignment, "alignment">;

def Attn_EpilogueStaged : I32EnumAttrCase<"Staged", 0, "staged">;
def Attn_EpilogueSlabs : I32EnumAttrCase<"Slabs", 1, "slabs">;
def Attn_EpilogueDirect : I32EnumAttrCase<"Direct", 2, "direct">;

/// How a block writes its output: through a staging buffer for the whole tile, through one for 64 columns at a time, or
/// from registers.
def Attn_Epilogue : I32EnumAttr<"Epilogue", "how a block writes its output",
                                [Attn_EpilogueStaged, Attn_EpilogueSlabs, Attn_EpilogueDirect]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_EpilogueAttr : EnumAttr<Attn_Dialect, Attn_Epilogue, "epilogue">;

def Attn_RescalingEachStep : I32EnumAttrCase<"EachStep", 0, "each_step">;
def Attn_RescalingOnGrowth : I32EnumAttrCase<"OnGrowth", 1, "on_growth">;
def Attn_RescalingOnOverflow : I32EnumAttrCase<"OnOverflow", 2, "on_overflow">;

/// When the accumulated output and the row sums are multiplied to stand by new row maxima.
def Attn_Rescaling : I32EnumAttr<"Rescaling", "when the accumulated output is rescaled",
                                 [Attn_RescalingEachStep, Attn_RescalingOnGrowth, Attn_RescalingOnOverflow]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_RescalingAttr : EnumAttr<Attn_Dialect, Attn_Rescaling, "rescaling">;
def Attn_RescalingParameter : EnumParameter<Attn_Rescaling> {
  let defaultValue = "::attnc::attn::Rescaling::EachStep";
}

def Attn_StagingTma : I32EnumAttrCase<"Tma", 0, "tma">;
def Attn_StagingCpAsync : I32EnumAttrCase<"CpAsync", 1, "cp_async">;

/// How operands of products come to shared memory: a producer has the Tensor Memory Accelerator (TMA) bring boxes of
/// tensors, or all threads copy pieces of 16 bytes (cp.async).
def Attn_Staging : I32EnumAttr<"Staging", "how operands come to shared memory",
                               [Attn_StagingTma, Attn_StagingCpAsync]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_StagingAttr : EnumAttr<Attn_Dialect, Attn_Staging, "staging">;
def Attn_StagingParameter : EnumParameter<Attn_Staging> {
  let defaultValue = "::attnc::attn::Staging::Tma";
}

def Attn_OverlapInStep : I32EnumAttrCase<"InStep", 0, "in_step">;
def Attn_OverlapLogitsAhead : I32EnumAttrCase<"LogitsAhead", 1, "logits_ahead">;
def Attn_OverlapSumsLate : I32EnumAttrCase<"SumsLate", 2, "sums_late">;
def Attn_OverlapScoresAhead : I32EnumAttrCase<"ScoresAhead", 3, "scores_ahead">;
def Attn_OverlapQueriesFirst : I32EnumAttrCase<"QueriesFirst", 4, "queries_first">;

/// What the products of a step of a backward overlap with: the elements of their own step; or a step ahead the products
/// that start from zero, or only the first of them, or a step late those that accumulate, with the elements of another.
/// Gradients of queries, where one program computes all three, are always a step late: last or first of its products.
def Attn_Overlap : I32EnumAttr<"Overlap", "what products of a backward overlap with",
                               [Attn_OverlapInStep, Attn_OverlapLogitsAhead, Attn_OverlapSumsLate,
                                Attn_OverlapScoresAhead, Attn_OverlapQueriesFirst]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_OverlapAttr : EnumAttr<Attn_Dialect, Attn_Overlap, "overlap">;
def Attn_OverlapParameter : EnumParameter<Attn_Overlap> {
  let defaultValue = "::attnc::attn::Overlap::InStep";
}

def Attn_ProgramForward : I32EnumAttrCase<"Forward", 0, "forward">;
def Attn_ProgramDq : I32EnumAttrCase<"Dq", 1, "dq">;
def Attn_ProgramDkdv : I32EnumAttrCase<"Dkdv", 2, "dkdv">;
def Attn_ProgramDsinks : I32EnumAttrCase<"Dsinks", 3, "dsinks">;
def Attn_ProgramDk : I32EnumAttrCase<"Dk", 4, "dk">;
def Attn_ProgramDv : I32EnumAttrCase<"Dv", 5, "dv">;
def Attn_ProgramDbias : I32EnumAttrCase<"Dbias", 6, "dbias">;
def Attn_ProgramDsums : I32EnumAttrCase<"Dsums", 7, "dsums">;
def Attn_ProgramDbuckets : I32EnumAttrCase<"Dbuckets", 8, "dbuckets">;
def Attn_ProgramCombine : I32EnumAttrCase<"Combine", 9, "combine">;
def Attn_ProgramDelta : I32EnumAttrCase<"Delta", 10, "delta">;
def Attn_ProgramDqdkdv : I32EnumAttrCase<"Dqdkdv", 11, "dqdkdv">;
def Attn_ProgramConvertDq : I32EnumAttrCase<"ConvertDq", 12, "convert_dq">;
def Attn_ProgramClearScattered : I32EnumAttrCase<"ClearScattered", 13, "clear_scattered">;
def Attn_ProgramDscattered : I32EnumAttrCase<"Dscattered", 14, "dscattered">;

/// The programs that kernels become: forward (and weights), and of backward the one whose tiles are of queries and that
/// computes their gradient, the one whose tiles are of keys and that computes those of keys and values, or one for each
/// of both, and the one whose tiles are of sinks. Of captured tensors, `dbias` has tiles of queries and keys that several
/// heads or batch entries share, `dbuckets` sums the rows of small tables by what a computed index chooses,
/// `clear_scattered` and `dscattered` clear sums in memory and add to them what elements read anywhere, and `dsums` adds
/// up what the others leave for each query or key, and rounds such sums. Where forward splits its keys, `combine` adds up what the parts leave; it
/// follows from the schedule of forward and has none of its own.
///
/// In place of `dq` and `dkdv`, three programs compute all three gradients with two products less: `delta`, whose tiles
/// are of queries, leaves what follows from their outputs alone, `dqdkdv`, whose tiles are of keys, adds each tile's part
/// of the gradients of queries to sums in memory, and `convert_dq` makes gradients of those sums.
def Attn_Program : I32EnumAttr<"Program", "what a program computes",
                               [Attn_ProgramForward, Attn_ProgramDq, Attn_ProgramDkdv, Attn_ProgramDsinks,
                                Attn_ProgramDk, Attn_ProgramDv, Attn_ProgramDbias, Attn_ProgramDsums,
                                Attn_ProgramDbuckets, Attn_ProgramCombine, Attn_ProgramDelta, Attn_ProgramDqdkdv,
                                Attn_ProgramConvertDq, Attn_ProgramClearScattered, Attn_ProgramDscattered]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}
def Attn_ProgramAttr : EnumAttr<Attn_Dialect, Attn_Program, "program">;
def Attn_ProgramParameter : EnumParameter<Attn_Program> {
  let defaultValue = "::attnc::attn::Program::Forward";
}

def Attn_GradientStepsAttr : AttrDef<Attn_Dialect, "GradientSteps"> {
  let mnemonic = "gradient_steps";
  let summary = "What the steps of a backward have of their own";
  let description = [{
    - `logit_stages`: buffers of those rings of columns that only products of logits read, and others that start from
      zero: they are free early in a step. As many as `stages` where it is absent.
    - `overlap`: what the products of a step overlap with. With `in_step`, the gradients of the weights with
      what becomes of the logits. With `logits_ahead`, the products that start from zero start a step ahead, with those of
      the step before that accumulate; with `sums_late`, products accumulate a step late, under what becomes of the next
      logits; with `scores_ahead`, the product of queries and keys alone starts a step ahead, after the last products of
      the step before and under what leaves for memory. All keep operands for two steps, and want two buffers of each.
      Of a program of all three gradients without a reducer the product for those of queries is a step late: with `queries_first` it starts
      ahead of the other products, under the exponentials, which takes registers, and the product of queries and keys
      starts ahead as with `scores_ahead`; else it starts behind the elements.
    - `reducer_registers`: registers of a thread of one more warpgroup, the reducer. Of a program of all three gradients it
      multiplies what consumers share by the keys, and adds it to the sums of queries. Where it is 0, each consumer does that
      for half of the columns, a step late. Of program `dkdv` it has the gradients of weights and of keys: one consumer hands
      it the weights, and has logits and gradients of values, so that each holds the sums of one of them.
    - `rows_in_registers`: with a reducer, consumers read their keys and values from shared memory once for each tile, and
      multiply from registers: each step reads less of shared memory.
    - `sums`: of program `dbias`, the steps whose sums a tile holds at a time, for all of which it loads its queries once.
      Captured tiles of all of them are in shared memory together.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$logit_stages, Attn_OverlapParameter:$overlap,
                        DefaultValuedParameter<"int64_t", "0">:$reducer_registers,
                        DefaultValuedParameter<"bool", "false">:$rows_in_registers,
                        DefaultValuedParameter<"int64_t", "1">:$sums);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_RolesAttr : AttrDef<Attn_Dialect, "Roles", [Attn_PipelineAttr]> {
  let mnemonic = "roles";
  let summary = "How a GPU overlaps the steps of a kernel whose warpgroups load or compute";
  let description = [{
    A producer warpgroup has the Tensor Memory Accelerator (TMA) bring operands, and consumers compute products of warpgroups
    (warp specialization).

    - `consumers`: warpgroups that compute, each `query_tile / consumers` rows. One more loads, and with `reducer_registers`
      one more multiplies what these share.
    - `stages`, `query_stages`: buffers of the rings of keys and of values, and of queries; of a backward, of the columns
      of its steps, and of the rows of its tiles. With `query_stages = 0`, rows stay in registers.
    - `producer_registers`, `consumer_registers`: registers of a thread of each role.
    - `rescaling`: when the accumulated output is rescaled. With `each_step`, whenever a row's maximum grew. With
      `on_growth`, when it grew by more than 8 in log2 units (the same maximum divides in the end, so the result stays
      exact). With `on_overflow`, a step takes the row maxima of the steps before for its own, and where its row sums say
      that a row has outgrown them by far, its weights are computed again with new maxima (exact in the end, as above).
    - `own_keys`: each consumer goes over the keys that the mask keeps for its own rows; else over those of the whole tile.
    - `ping_pong`: consumers take turns at issuing products, so that one computes weights while the other's products run.
    - `by_row`: the softmax of a thread's first row stands before that of its second; else both interleave.
    - `epilogue`: how the output leaves.
    - `dynamic`: blocks take tiles from a counter; else every n-th tile for n blocks.
    - `section_bytes`: bytes of keys and values that are worked on together, for the L2 cache; 0 for all heads at once.
    - `block_mask`: where only data says which tiles of keys a mask keeps (the kernel has `blocks`), a program of its own
      lists them first; else every step looks for itself.
    - `early`: the kernel starts while the one before it in a launch ends, and waits before it reads what that leaves: the list
      of its block mask, the parts that it combines, what other programs of gradients have summed.
    - `headroom`: octaves by which the weight of a row's greatest logit so far is below 1: with `on_overflow` alone, as many
      more for weights to grow by. f16 has 8 at most; with sinks there are none, nor for bf16 under dropout.
    - `gradients`: what the steps of a backward have of their own.
    - `capture_stages`: buffers of the rings of captured tiles of 16 bits that scores read by query and key, which the copy
      engine brings. A second program is for tensors that it cannot take as they are; there, as with 0, each
      thread loads its own elements.
    - `batch_inside`: tiles of all batch entries follow each other, and then those of the next head: what a score captures
      for each head is often one for all batch entries, and then stays in the L2 cache. Else those of all heads do.
  }];
  let parameters = (ins "int64_t":$consumers, "int64_t":$stages, "int64_t":$query_stages,
                        "int64_t":$producer_registers, "int64_t":$consumer_registers,
                        Attn_RescalingParameter:$rescaling,
                        DefaultValuedParameter<"bool", "false">:$own_keys,
                        DefaultValuedParameter<"bool", "false">:$ping_pong,
                        DefaultValuedParameter<"bool", "false">:$by_row,
                        EnumParameter<Attn_Epilogue>:$epilogue,
                        DefaultValuedParameter<"bool", "false">:$dynamic,
                        DefaultValuedParameter<"int64_t", "0">:$section_bytes,
                        DefaultValuedParameter<"bool", "false">:$block_mask,
                        DefaultValuedParameter<"bool", "false">:$early,
                        DefaultValuedParameter<"int64_t", "0">:$headroom,
                        OptionalParameter<"GradientStepsAttr">:$gradients,
                        DefaultValuedParameter<"int64_t", "0">:$capture_stages,
                        DefaultValuedParameter<"bool", "false">:$batch_inside);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    Staging getStaging() const { return Staging::Tma; }
    int64_t getLogitStages() const { return getGradients() ? getGradients().getLogitStages() : 0; }
    Overlap getOverlap() const { return getGradients() ? getGradients().getOverlap() : Overlap::InStep; }
    int64_t getReducerRegisters() const { return getGradients() ? getGradients().getReducerRegisters() : 0; }
    bool getRowsInRegisters() const { return getGradients() && getGradients().getRowsInRegisters(); }
    int64_t getSums() const { return getGradients() ? getGradients().getSums() : 1; }
  }];
}

def Attn_WarpsAttr : AttrDef<Attn_Dialect, "Warps", [Attn_PipelineAttr]> {
  let mnemonic = "warps";
  let summary = "How a GPU overlaps the steps of a kernel all of whose warps load and compute";
  let description = [{
    All threads copy pieces of 16 bytes (`cp.async`), a step ahead of the products, which are those of warps. The assembler
    chooses registers, and a block works on one tile.

    - `consumers`: warpgroups of a block, a power of two. In forward and in the program of all three gradients, where a tile
      has the rows of one panel, all have these rows, and each some of the columns.
    - `stages`: buffers of keys and of values; of a backward, of the columns of its steps.
    - `rescaling`: as of `#attn.roles`, but for `on_overflow`.
    - `by_row`, `section_bytes`, `block_mask`, `early`, `batch_inside`: as of `#attn.roles`.
    - `split_floats`: of exact f32. All threads of a block split the right operands of products into the parts that tensor
      cores multiply, once, and these lie in shared memory; else each warp splits what it reads.
    - `rows_in_registers`: in the program of all three gradients, warps read their keys and values from shared memory once for
      each tile, and multiply from registers.
    - `weights_ahead`: of forward, where all warpgroups have the same rows. The product with the values of a step runs while the
      logits of the next become weights.

    Example: `#attn.warps<consumers = 1, stages = 2, rescaling = on_growth>`
  }];
  let parameters = (ins "int64_t":$consumers, "int64_t":$stages,
                        Attn_RescalingParameter:$rescaling,
                        DefaultValuedParameter<"bool", "false">:$by_row,
                        DefaultValuedParameter<"int64_t", "0">:$section_bytes,
                        DefaultValuedParameter<"bool", "false">:$block_mask,
                        DefaultValuedParameter<"bool", "false">:$early,
                        DefaultValuedParameter<"bool", "false">:$split_floats,
                        DefaultValuedParameter<"bool", "false">:$batch_inside,
                        DefaultValuedParameter<"bool", "false">:$rows_in_registers,
                        DefaultValuedParameter<"bool", "false">:$weights_ahead);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    Staging getStaging() const { return Staging::CpAsync; }
  }];
}

include "dialect/attn/Sizes.td"

def Attn_ScheduleAttr : AttrDef<Attn_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a kernel is tiled and ordered";
  let description = [{
    Data that `attn-select-schedule` attaches and `attn-to-tile` follows; a spec may carry its own, and then that one is
    checked and kept.

    - `program`: what is tiled so; absent for forward. A backward has a schedule for each of its programs: `dq`, `dkdv`,
      or `dk` and `dv`, or `delta`, `dqdkdv` and `convert_dq`, and with gradients of sinks `dsinks`, of captured tensors
      `dbias`, `dbuckets` and `dsums`.
    - `query_tile`, `key_tile`: query rows of one tile, and keys of one step of its loop; with `dkdv`, `dk`, `dv` and
      `dqdkdv`, whose tiles are of keys, keys of one tile and queries of one step, and so with `dsinks` for sinks.
    - `panel`: rows that go through the softmax together: the SIMD lanes of one register block on a CPU, the rows of one
      consumer on a GPU: 64, or 128 of `#attn.warps`, which then have 32 rows each, and load each right
      operand for two products. Divides the rows of a tile.
    - `when`: a `#attn.sizes` that says for which launches it is; for all where it is absent. A kernel with several schedules
      becomes several programs, and a launch runs those of the first schedule that is for its sizes.
    - `heads`: query heads that share a key head and that a tile holds together for each of its queries: row r of a tile
      is query r / heads and head r % heads. More than one fills the tiles of short sequences. Divides `panel`
      and the group.
    - `splits`, `split_blocks`: tiles go over a part of their keys each, and a second program combines the parts (S16).
      With `splits`, there are so many parts of each row's keys, whatever else is in the batch: a row has the same bits in
      any. With `split_blocks`, as many as that number of blocks allows, and one at least. 0, which is both where they are
      absent, splits nothing. For forward kernels without a block mask.
    - `pipeline`: how a GPU overlaps steps, `#attn.roles` or `#attn.warps`; absent on a CPU.
    - `otherwise`: of one with `capture_stages`, the schedule for launches whose captured tensors the copy engine cannot take;
      the same without them where it is absent.

    Example: `#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>`
  }];
  let parameters = (ins "int64_t":$query_tile, "int64_t":$key_tile, "int64_t":$panel,
                        DefaultValuedParameter<"SizesAttr", "::attnc::attn::SizesAttr::get($_ctxt)">:$when,
                        DefaultValuedParameter<"int64_t", "1">:$heads,
                        OptionalParameter<"PipelineAttr">:$pipeline,
                        Attn_ProgramParameter:$program,
                        DefaultValuedParameter<"int64_t", "0">:$splits,
                        DefaultValuedParameter<"int64_t", "0">:$split_blocks,
                        OptionalParameter<"::mlir::Attribute">:$otherwise);
  let builders = [AttrBuilder<(ins "int64_t":$queryTile, "int64_t":$keyTile, "int64_t":$panel,
                                   CArg<"PipelineAttr", "{}">:$pipeline, CArg<"int64_t", "1">:$heads,
                                   CArg<"Program", "Program::Forward">:$program), [{
    return $_get($_ctxt, queryTile, keyTile, panel, SizesAttr::get($_ctxt), heads, pipeline, program, 0, 0,
                 ::mlir::Attribute());
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether it is for launches of all sizes.
    bool isUniversal() const { return getWhen().isUniversal(); }
    /// Queries of one tile, or step.
    int64_t getQueries() const { return getQueryTile() / getHeads(); }
    /// Rows of one tile, and columns of one step.
    int64_t getRows() const { return tilesKeys() ? getKeyTile() : getQueryTile(); }
    int64_t getColumns() const { return tilesKeys() ? getQueryTile() : getKeyTile(); }
    /// How many warps have some of the columns each of the same rows (`PipelineAttr`). One without a pipeline.
    int64_t countPartsOfRows() const;
    /// Whether tiles are of keys, or of sinks, and steps of queries.
    bool tilesKeys() const { return attn::tilesKeys(getProgram()); }
    /// The same for launches of these sizes, or of all.
    ScheduleAttr forSizes(SizesAttr when) const {
      return get(getContext(), getQueryTile(), getKeyTile(), getPanel(), when, getHeads(), getPipeline(), getProgram(),
                 getSplits(), getSplitBlocks(), getOtherwise());
    }
    ScheduleAttr forAllSizes() const { return forSizes(SizesAttr::get(getContext())); }
    /// Whether tiles go over parts of their keys.
    bool isSplit() const { return getSplits() > 0 || getSplitBlocks() > 0; }
    /// The same with another pipeline.
    ScheduleAttr withPipeline(PipelineAttr pipeline) const {
      return get(getContext(), getQueryTile(), getKeyTile(), getPanel(), getWhen(), getHeads(),
                 pipeline, getProgram(), getSplits(), getSplitBlocks(), getOtherwise());
    }
    /// The same with as many parts as so many blocks allow.
    ScheduleAttr withSplitBlocks(int64_t blocks) const {
      return get(getContext(), getQueryTile(), getKeyTile(), getPanel(), getWhen(), getHeads(),
                 getPipeline(), getProgram(), 0, blocks, getOtherwise());
    }
    /// The same with `other` for launches whose captured tensors the copy engine cannot take.
    ScheduleAttr withOtherwise(ScheduleAttr other) const {
      return get(getContext(), getQueryTile(), getKeyTile(), getPanel(), getWhen(), getHeads(),
                 getPipeline(), getProgram(), getSplits(), getSplitBlocks(), other);
    }
    /// Whether the copy engine brings captured tiles, so that launches with others need a program of their own.
    bool stagesCaptures() const { return getPipeline() && getPipeline().getCaptureStages() > 0; }
    /// The schedule of that one.
    ScheduleAttr getWithoutBoxes() const;
    /// The schedule of the program that combines the parts that one which splits leaves.
    ScheduleAttr getCombining() const;
  }];
}

def Attn_CpuTargetAttr : AttrDef<Attn_Dialect, "CpuTarget"> {
  let mnemonic = "cpu";
  let summary = "Facts about a CPU";
  let description = [{
    The machine to compile for, as the module attribute `attn.target`; `codegen/target` fills it in for the host.

    - `cpu`, `features`: names in LLVM's form.
    - `vector_bits`, `vector_registers`: SIMD registers.
    - `l1_bytes`, `l2_bytes`: data caches of one core.
    - `bf16_tiles`: products of bf16 in tile registers, 16 by 16 sums of f32 (AMX).
    - `bf16_dots`: products of bf16 two at a time, added to f32 (AVX512-BF16), at the rate of multiply-adds of f32.

    Example: `#attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16,
    l1_bytes = 32768, l2_bytes = 524288>`
  }];
  let parameters = (ins StringRefParameter<"LLVM name of the CPU">:$cpu, StringRefParameter<"LLVM features">:$features,
                        "int64_t":$vector_bits, "int64_t":$vector_registers, "int64_t":$l1_bytes, "int64_t":$l2_bytes,
                        DefaultValuedParameter<"bool", "false">:$bf16_tiles,
                        DefaultValuedParameter<"bool", "false">:$bf16_dots);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_GpuTargetAttr : AttrDef<Attn_Dialect, "GpuTarget"> {
  let mnemonic = "gpu";
  let summary = "Facts about a GPU";
  let description = [{
    The machine to compile for, as the module attribute `attn.target`; `codegen/target` knows them by name.

    - `arch`, `ptx`: name of the architecture, and version of PTX (times ten) that LLVM writes.
    - `multiprocessors`: how many there are.
    - `shared_bytes`: shared memory that one block can have.
    - `registers`: 32-bit registers of a multiprocessor.
    - `l2_bytes`: the cache that all share.
    - `warpgroup_mma`: asynchronous products of warpgroups, operands in shared memory (PTX ISA 9.7.15); else products of
      warps (9.7.14).
    - `tensor_copies`: copies of boxes of tensors that complete on barriers (PTX ISA 9.7.9.27); else copies of 16 bytes a
      thread.
    - `early_start`: a kernel can start before the one that it depends on has ended, and wait for it (PTX ISA 9.7.13.13,
      `griddepcontrol`).
    - `cuda`: kernels become CUDA C++, which NVRTC compiles; else LLVM IR, and PTX by LLVM's NVPTX back end.
    - `machine`: the architecture to assemble for, where the GPU at hand takes no machine code of `arch`, only its PTX.

    Example: `#attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
    l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true, early_start = true>`
  }];
  let parameters = (ins StringRefParameter<"name of the architecture">:$arch, "int64_t":$ptx,
                        "int64_t":$multiprocessors, "int64_t":$shared_bytes, "int64_t":$registers, "int64_t":$l2_bytes,
                        "bool":$warpgroup_mma, "bool":$tensor_copies,
                        DefaultValuedParameter<"bool", "false">:$early_start,
                        DefaultValuedParameter<"bool", "false">:$cuda,
                        StringRefParameter<"name of an architecture", "\"\"">:$machine);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The architecture that machine code is for.
    llvm::StringRef getMachineArch() const { return getMachine().empty() ? getArch() : getMachine(); }
  }];
}

include "dialect/attn/ScheduleTable.td"

#endif // ATTNC_DIALECT_ATTN_ATTRS
