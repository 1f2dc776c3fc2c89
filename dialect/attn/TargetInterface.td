//===- TargetInterface.td - What passes ask a target -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_TARGETINTERFACE
#define ATTNC_DIALECT_ATTN_TARGETINTERFACE

include "mlir/IR/OpBase.td"

def Attn_TargetInterface : AttrInterface<"TargetInterface"> {
  let cppNamespace = "::attnc::attn";
  let description = [{
    The attribute that a module carries as `attn.target`: the facts of the machine that its kernels are compiled for, and
    what is chosen by them. Passes that choose name no machine. Attributes of other dialects may have it as well: then the
    room of code generation that makes code for them registers as `target::Backend`.
  }];
  let methods = [
    InterfaceMethod<[{The schedules of a kernel that has none of its own: one, or several for different numbers of
                      queries.}],
                    "::llvm::SmallVector<::attnc::attn::ScheduleAttr>", "selectSchedules",
                    (ins "::attnc::attn::KernelOpInterface":$kernel)>,
    InterfaceMethod<"Checks that a schedule of the spec's own suits the machine; an error names what does not.",
                    "::llvm::LogicalResult", "checkSchedule",
                    (ins "::attnc::attn::KernelOpInterface":$kernel, "::attnc::attn::ScheduleAttr":$schedule)>,
    InterfaceMethod<[{Schedules that may be faster than `base`, one of `selectSchedules`, for its program and its queries.
                      What `checkSchedule` refuses, and null, may be among them: ask `listCandidates` (passes/attn/Candidates.h).
                      None where the machine has no others.}],
                    "::llvm::SmallVector<::attnc::attn::ScheduleAttr>", "enumerateSchedules",
                    (ins "::attnc::attn::KernelOpInterface":$kernel, "::attnc::attn::ScheduleAttr":$base), [{}],
                    [{ return {}; }]>,
    InterfaceMethod<"What `schedule` takes of the machine, in a line for people; empty where there is no more to say.",
                    "std::string", "explainSchedule", (ins "::attnc::attn::ScheduleAttr":$schedule), [{}],
                    [{ return ""; }]>,
    InterfaceMethod<"What errors call the machine.", "::llvm::StringRef", "getMachineName", (ins), [{}],
                    [{ return "the target"; }]>,
    InterfaceMethod<"Bytes of memory that the threads of one block can share; 0 where there is no such memory.",
                    "int64_t", "getSharedBytes", (ins), [{}], [{ return 0; }]>,
  ];
}

#endif // ATTNC_DIALECT_ATTN_TARGETINTERFACE
