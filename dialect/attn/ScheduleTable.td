//===- ScheduleTable.td - Tables of schedules --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Which schedules a target has for which kernels, as data: what was measured on an architecture, in the words that specs
// and records have for schedules (docs/rationale/schedules.md).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_SCHEDULETABLE
#define ATTNC_DIALECT_ATTN_SCHEDULETABLE

def Attn_KernelKindPlain : I32EnumAttrCase<"Plain", 0, "plain">;
def Attn_KernelKindListed : I32EnumAttrCase<"Listed", 1, "listed">;
def Attn_KernelKindRegisterBound : I32EnumAttrCase<"RegisterBound", 2, "register_bound">;
def Attn_KernelKindPaged : I32EnumAttrCase<"Paged", 3, "paged">;
def Attn_KernelKindCaptured : I32EnumAttrCase<"Captured", 4, "captured">;

/// What decides about the steps of a kernel first.
def Attn_KernelKind : I32EnumAttr<"KernelKind", "what decides about the steps of a kernel",
                                  [Attn_KernelKindPlain, Attn_KernelKindListed, Attn_KernelKindRegisterBound,
                                   Attn_KernelKindPaged, Attn_KernelKindCaptured]> {
  let cppNamespace = "::attnc::attn";
  let genSpecializedAttr = 0;
}

/// A number with a fraction, written as in `0.75`.
def Attn_NumberParameter : AttrParameter<"::mlir::FloatAttr", "number"> {
  let printer = "printNumber($_printer, $_self)";
}

/// Words of an enumeration in brackets.
class Attn_WordsParameter<string enum> : OptionalArrayRefParameter<enum> {
  let parser = "parseWords<" # enum # ">($_parser)";
  let printer = "printWords($_printer, $_self)";
}

/// Steps in brackets, written as in `[128 x 2, 64 x 4]`.
def Attn_StepsParameter : OptionalArrayRefParameter<"TileStep"> {
  let parser = "parseSteps($_parser)";
  let printer = "printSteps($_printer, $_self)";
}

/// Entries in brackets, one a line.
def Attn_EntriesParameter : ArrayRefParameter<"EntryAttr"> {
  let parser = "parseEntries($_parser)";
  let printer = "printEntries($_printer, $_self)";
}

def Attn_KernelsAttr : AttrDef<Attn_Dialect, "Kernels"> {
  let mnemonic = "kernels";
  let summary = "Which kernels an entry of a table is for";
  let description = [{
    All that is given must hold; what is absent asks for nothing.

    - `kinds`: `plain`, where an element of the logits takes next to no registers but for its logit; `register_bound`, where it
      takes registers of its own, for what scores load or keep and for random numbers; `captured`, the same of captured
      tiles that the copy engine can bring; `listed`, where a block mask lists the steps; `paged`, where keys are in
      pages that are shorter than steps, or in pages with head dims up to 64.
    - `programs`: what is tiled so; that of the schedule alone where it is absent. Tiles of keys have the rows and columns
      of the schedule's tiles of queries, and the other way round.
    - `bits`: of an element of queries, keys and values, 16 or 32.
    - `min_dim`, `max_dim`: head dims of keys and values, the larger of both.
    - `min_value_dim`, `max_value_dim`: the head dim of values.
    - `masked`: whether there is a mask.
    - `window`: whether it drops keys that are far before a query as well.
    - `functions`: whether the functions of the score keep their unit busier than products keep the tensor cores.

    Example: `#attn.kernels<kinds = [plain, paged], max_dim = 64, masked = true>`
  }];
  let parameters = (ins
    Attn_WordsParameter<"KernelKind">:$kinds,
    Attn_WordsParameter<"Program">:$programs,
    DefaultValuedParameter<"int64_t", "0">:$bits,
    DefaultValuedParameter<"int64_t", "0">:$min_dim,
    DefaultValuedParameter<"int64_t", "::attnc::attn::unlimited">:$max_dim,
    DefaultValuedParameter<"int64_t", "0">:$min_value_dim,
    DefaultValuedParameter<"int64_t", "::attnc::attn::unlimited">:$max_value_dim,
    OptionalParameter<"::mlir::BoolAttr">:$masked,
    OptionalParameter<"::mlir::BoolAttr">:$window,
    OptionalParameter<"::mlir::BoolAttr">:$functions);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_EntryAttr : AttrDef<Attn_Dialect, "Entry"> {
  let mnemonic = "entry";
  let summary = "A schedule, and what it is for";
  let description = [{
    - `kernels`: which kernels it is for; all that are carried out as the table's are where it is absent.
    - `schedule`: the preferred one. Its `when` says for launches of which sizes; of several entries for
      a kernel, each is for those that none before it is for. What follows from the kernel and the machine alone is filled
      in: `heads`, `splits`, `section_bytes`, `block_mask`, `early`, `headroom` and `batch_inside`.
    - `steps`: columns, stages and, of a backward, logit stages of a step, in order of preference: the first for
      which there is room is taken. The first is the schedule's own, and where the list is absent, the only one.
    - `registers`: of a thread, for the tiles that it holds and for what elements take; no limit where it is absent.
    - `blocks`: that find room on a multiprocessor together.

    Example:

    ```mlir
    #attn.entry<kernels = <kinds = [register_bound], max_dim = 128>, steps = [128 x 2, 96 x 2, 64 x 4], registers = 200,
                schedule = <query_tile = 128, key_tile = 128, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                                   consumer_registers = 240, epilogue = direct>>>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"KernelsAttr">:$kernels,
    Attn_StepsParameter:$steps,
    DefaultValuedParameter<"int64_t", "::attnc::attn::unlimited">:$registers,
    DefaultValuedParameter<"int64_t", "1">:$blocks,
    "ScheduleAttr":$schedule);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Its steps: the schedule's own where none are listed.
    llvm::SmallVector<TileStep> listSteps() const;
    /// Whether it is for `program`.
    bool isFor(Program program) const;
    /// Its schedule for `program`, one of its own, with this step.
    ScheduleAttr getSchedule(Program program, TileStep step) const;
  }];
}

def Attn_RegisterCostsAttr : AttrDef<Attn_Dialect, "RegisterCosts"> {
  let mnemonic = "register_costs";
  let summary = "Registers that elements of the logits take";
  let description = [{
    What a thread needs for each of its elements in addition to the logit, as the assembler was seen to:

    - `narrow_tile`, `tile`: for a captured tile of 16 bits, or of more, of the next step and of this one.
    - `narrow_vector`, `vector`: for captured numbers that differ from key to key alone.
    - `function`: for functions that are kept for row maxima.
    - `dropout`: for random numbers that are under way.

    Example: `#attn.register_costs<narrow_tile = 0.75, tile = 1.75, narrow_vector = 0.25, vector = 0.5, function = 1.0,
    dropout = 0.6>`
  }];
  let parameters = (ins Attn_NumberParameter:$narrow_tile, Attn_NumberParameter:$tile,
                        Attn_NumberParameter:$narrow_vector, Attn_NumberParameter:$vector,
                        Attn_NumberParameter:$function, Attn_NumberParameter:$dropout);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_ScheduleTableAttr : AttrDef<Attn_Dialect, "ScheduleTable"> {
  let mnemonic = "schedule_table";
  let summary = "Schedules of an architecture";
  let description = [{
    The schedules of kernels that are carried out in one way.

    - `archs`: names of architectures; all where it is absent. The tables that a function brings along
      (`attn.schedule_tables`) are asked first, then those of the architecture, then those of all.
    - `staging`: `tma` for kernels by roles, `cp_async` for those by warps. All entries have it.
    - `split_queries`: up to how many queries of ungrouped heads tiles go over parts of their keys.
    - `packed_queries`: up to how many queries tiles hold several heads of a group.
    - `window_registers`: what the loop of a window takes of an entry's `registers`, unless captured tiles are staged: its
      numbers say that already.
    - `costs`: registers that elements take.
    - `entries`: in the order in which they are asked.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::ArrayAttr">:$archs,
    Attn_StagingParameter:$staging,
    DefaultValuedParameter<"int64_t", "0">:$split_queries,
    DefaultValuedParameter<"int64_t", "0">:$packed_queries,
    DefaultValuedParameter<"int64_t", "0">:$window_registers,
    OptionalParameter<"RegisterCostsAttr">:$costs,
    Attn_EntriesParameter:$entries);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether it is for this architecture by its name, and whether it is for all.
    bool names(llvm::StringRef arch) const;
    bool isForAll() const { return !getArchs(); }
  }];
}

#endif // ATTNC_DIALECT_ATTN_SCHEDULETABLE
