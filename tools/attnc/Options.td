//===- Options.td - Command line of attnc ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One table for all commands. An option's visibility says which commands take it; `CommandLine.h` names them.
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def CompileCommand : OptionVisibility;
def RunCommand : OptionVisibility;
def VerifyCommand : OptionVisibility;
def ExplainCommand : OptionVisibility;
def BenchCommand : OptionVisibility;
def TargetsCommand : OptionVisibility;
def CacheCommand : OptionVisibility;
def TuneCommand : OptionVisibility;
def RecordsCommand : OptionVisibility;
def SchedulesCommand : OptionVisibility;

/// An option without a value.
class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

/// An option with a value: `--name value` and `--name=value`.
multiclass Value<string name, string metaVar, string help, list<OptionVisibility> commands> {
  def "" : Separate<["--"], name>, MetaVarName<metaVar>, HelpText<help>, Visibility<commands>;
  def _joined : Joined<["--"], name # "=">, Alias<!cast<Option>(NAME)>, Visibility<commands>;
}

defvar specCommands = [CompileCommand, RunCommand, VerifyCommand, ExplainCommand, BenchCommand];
defvar tunedCommands = !listconcat(specCommands, [TuneCommand]);
defvar shapeCommands = [VerifyCommand, ExplainCommand, BenchCommand, TuneCommand];
defvar allCommands = !listconcat(tunedCommands, [TargetsCommand, CacheCommand, RecordsCommand, SchedulesCommand]);

def help : Switch<"help", "Show this page">, Visibility<allCommands>;
def help_short : Flag<["-"], "h">, Alias<help>, Visibility<allCommands>;

// What is compiled, and for what.
defm entry : Value<"entry", "NAME", "Function of the spec; needed where it has several", tunedCommands>;
defm target : Value<"target", "T", "auto (default), cpu, nvptx:ARCH, ...: what 'attnc targets' lists",
                    !listconcat(tunedCommands, [SchedulesCommand])>;
defm schedule : Value<"schedule", "ATTR", "Tile sizes and overlap of one's own, as #attn.schedule<...> or [several]",
                      specCommands>;

defm schedules : Value<"schedules", "FILE", "Tables of schedules to ask before attnc's own; may be given again",
                       !listconcat(tunedCommands, [SchedulesCommand])>;

def backward : Switch<"backward", "The gradients of the spec in place of its results">, Visibility<tunedCommands>;

def deterministic : Switch<"deterministic", "Gradients with the same bits in every run">, Visibility<tunedCommands>;

def tf32 : Switch<"tf32", "Products of f32 by the eleven bits of TF32, where a target has such">, Visibility<tunedCommands>;

// Schedules that were found by tuning.
defm policy : Value<"policy", "P", "Schedules by auto (default: records, else heuristics), records, autotune or heuristics",
                    specCommands>;
defm records : Value<"records", "FILE", "Records to use before all others; may be given again", specCommands>;
defm device : Value<"device", "NAME", "Whose records to use, as 'attnc records list' shows it (default: what is here)",
                    !listconcat(specCommands, [RecordsCommand])>;

// Sizes and inputs.
defm shape : Value<"shape", "B=2,Sq=128,...", "Sizes that the spec leaves open", shapeCommands>;
defm dim : Value<"dim", "NAME.N=K", "Size of dimension N of tensor NAME: 1 where it may broadcast, or one of its own",
                 shapeCommands>;
defm seed : Value<"seed", "N", "Seed of the random inputs (default 0)", shapeCommands>;

defm cuda : Value<"cuda", "FILE", "An edited file of CUDA C++ in the place of the one that is printed; with nvrtc",
                  [CompileCommand, RunCommand, VerifyCommand, BenchCommand]>;

// attnc compile
defm emit : Value<"emit", "STAGE", "attn, tile, nvvm, llvm, asm, cuda, ptx, cubin, sass, shared or image (default)", [CompileCommand]>;
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, HelpText<"Output file; '-' or none is standard output">,
             Visibility<[CompileCommand]>;

// attnc run
defm inputs : Value<"inputs", "IN.safetensors", "One tensor for each argument, by its name", [RunCommand]>;
defm outputs : Value<"outputs", "OUT.safetensors", "Where the results go, by their names", [RunCommand]>;
def check : Switch<"check", "Judge the results against the fp64 reference">, Visibility<[RunCommand]>;

// attnc verify
defm rows : Value<"rows", "N", "Judge N query rows only, edges of the sequence and of tiles included", [VerifyCommand]>;
defm scale_values : Value<"scale-values", "X", "Multiply random queries, keys and values by X (default 1)",
                          [VerifyCommand]>;
defm repeat : Value<"repeat", "N", "Run N times and expect the same bits each time; of gradients with --deterministic", [VerifyCommand]>;

// attnc explain
defm svg : Value<"svg", "FILE", "Write the picture of the mask's tiles as SVG", [ExplainCommand]>;

// attnc bench
def json : Switch<"json", "Print one JSON object instead of text">, Visibility<[BenchCommand, TuneCommand]>;

// attnc tune
defm warmup : Value<"warmup", "N", "Runs of a candidate that are not counted (default 5)", [TuneCommand]>;
defm iterations : Value<"iterations", "N", "Runs that are counted of the fastest candidates (default 100)", [TuneCommand]>;
defm seconds : Value<"seconds", "S", "Time to measure in (default 60); compiling and checking take theirs", [TuneCommand]>;
defm candidates : Value<"candidates", "N", "Schedules to try for each program, the nearest first (default 64)",
                        [TuneCommand]>;
def validate_backward : Switch<"validate-backward", "Compare also the gradients from what forward saves">,
                        Visibility<[TuneCommand]>;
def no_keep : Switch<"no-keep", "Keep no record">, Visibility<[TuneCommand]>;
