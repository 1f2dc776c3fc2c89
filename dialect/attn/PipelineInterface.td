//===- PipelineInterface.td - How a GPU runs a kernel body -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What passes ask of a pipeline, whichever kind of kernel body it is of.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_PIPELINEINTERFACE
#define ATTNC_DIALECT_ATTN_PIPELINEINTERFACE

include "mlir/IR/Interfaces.td"

/// A method that pipelines of one kind have no field for, with what it answers for the others.
class Attn_PipelineOption<string description, string type, string name, string otherwise>
    : InterfaceMethod<description, type, name, (ins), [{}], "return " # otherwise # ";">;

def Attn_PipelineAttr : AttrInterface<"PipelineAttr"> {
  let cppNamespace = "::attnc::attn";
  let summary = "how a GPU overlaps steps: #attn.roles or #attn.warps";
  let description = [{
    How a GPU overlaps the steps of a kernel: `#attn.roles`, whose warpgroups load or compute, or `#attn.warps`, all of whose
    warps do both. Passes ask this interface; what a kind has no field for is answered as for a kernel that does nothing of
    the kind. AttnAttrs.td says what the fields mean.
  }];
  let methods = [
    InterfaceMethod<"How operands of products come to shared memory, which tells the kinds apart.",
                    "::attnc::attn::Staging", "getStaging">,
    InterfaceMethod<"Warpgroups that compute.", "int64_t", "getConsumers">,
    InterfaceMethod<"Buffers of keys and of values; of a backward, of the columns of its steps.", "int64_t", "getStages">,
    InterfaceMethod<"When the accumulated output is rescaled.", "::attnc::attn::Rescaling", "getRescaling">,
    InterfaceMethod<"Whether the softmax of a thread's first row stands before that of its second.", "bool", "getByRow">,
    InterfaceMethod<"Bytes of keys and values that are worked on together; 0 for all.", "int64_t", "getSectionBytes">,
    InterfaceMethod<"Whether a program of its own lists the steps.", "bool", "getBlockMask">,
    InterfaceMethod<"Whether the kernel starts before the one that it waits for has ended.", "bool", "getEarly">,
    InterfaceMethod<"Whether tiles of all batch entries follow each other.", "bool", "getBatchInside">,
    InterfaceMethod<"Whether a backward multiplies its rows from registers.", "bool", "getRowsInRegisters">,
    // Of roles.
    Attn_PipelineOption<"Buffers of queries, or of a backward's rows; 0 where they stay in registers.", "int64_t",
                        "getQueryStages", "1">,
    Attn_PipelineOption<"Registers of a producer's thread; 0 where the assembler chooses.", "int64_t",
                        "getProducerRegisters", "0">,
    Attn_PipelineOption<"Registers of a consumer's thread; 0 where the assembler chooses.", "int64_t",
                        "getConsumerRegisters", "0">,
    Attn_PipelineOption<"Whether each consumer goes over the keys of its own rows alone.", "bool", "getOwnKeys", "false">,
    Attn_PipelineOption<"Whether consumers take turns at issuing products.", "bool", "getPingPong", "false">,
    Attn_PipelineOption<"How the output leaves.", "::attnc::attn::Epilogue", "getEpilogue",
                        "::attnc::attn::Epilogue::Direct">,
    Attn_PipelineOption<"Whether blocks take tiles from a counter.", "bool", "getDynamic", "false">,
    Attn_PipelineOption<"Octaves by which the weight of a row's greatest logit is below 1.", "int64_t", "getHeadroom", "0">,
    Attn_PipelineOption<"Buffers of captured tiles that the copy engine brings.", "int64_t", "getCaptureStages", "0">,
    Attn_PipelineOption<"Buffers of a ring of columns that only products read which start from zero; 0 for as many as others.",
                        "int64_t", "getLogitStages", "0">,
    Attn_PipelineOption<"What products of a backward overlap with.", "::attnc::attn::Overlap", "getOverlap",
                        "::attnc::attn::Overlap::InStep">,
    Attn_PipelineOption<"Registers of a thread of the warpgroup that adds up gradients of queries; 0 where there is none.",
                        "int64_t", "getReducerRegisters", "0">,
    Attn_PipelineOption<"Steps whose sums a tile holds that heads or batch entries share.", "int64_t", "getSums", "1">,
    // Of warps.
    Attn_PipelineOption<"Whether all threads split the right operands of exact f32, once.", "bool", "getSplitFloats",
                        "false">,
    Attn_PipelineOption<"Whether products with values run while logits of the next step become weights.", "bool",
                        "getWeightsAhead", "false">,
  ];
  let extraSharedClassDeclaration = [{
    /// Buffers of a ring of columns that products read which start from zero, and no others.
    int64_t countLogitStages() const { return $_attr.getLogitStages() ? $_attr.getLogitStages() : $_attr.getStages(); }
    /// Warpgroups of a block whose warpgroups have roles.
    int64_t countWarpgroups() const { return 1 + $_attr.getConsumers() + ($_attr.getReducerRegisters() ? 1 : 0); }
  }];
  let extraClassDeclaration = [{
    /// The same with `split_floats`, which pipelines of warps alone have.
    PipelineAttr withSplitFloats() const;
    /// The same of a kernel that starts before the one that it waits for has ended.
    PipelineAttr withEarlyStart() const;
    /// The same with so many stages, and logit stages.
    PipelineAttr withStages(int64_t stages, int64_t logitStages) const;
    /// The same with so many buffers of captured tiles, and without any.
    PipelineAttr withCaptureStages(int64_t stages) const;
    PipelineAttr withoutCaptureStages() const;
    /// How many warps have some of the columns each of the same rows, where a tile has `rows` and four warps take `panel`
    /// of them: more than one where all warps together would have more rows than the tile. One with `#attn.roles`.
    int64_t countPartsOfRows(int64_t panel, int64_t rows) const;
  }];
}

#endif // ATTNC_DIALECT_ATTN_PIPELINEINTERFACE
