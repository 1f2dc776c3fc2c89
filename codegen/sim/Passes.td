//===- Passes.td - Simulating tile programs ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_PASSES
#define ATTNC_CODEGEN_SIM_PASSES

include "mlir/Pass/PassBase.td"

def TileSimulate : Pass<"tile-simulate", "::mlir::ModuleOp"> {
  let summary = "Simulates tile programs of GPUs under adverse timing";
  let description = [{
    For tests of synchronisation: every `tile.program` runs on random numbers, once for each of a list of interleavings
    (`Simulator.h`). The first fault is an error at its operation; so is a result that depends on the interleaving, or
    that is no number. The module stays as it is.

    `args` has one entry for each argument of the program but the last: the sizes that a tensor's type leaves open, in
    order and with `x` between them, the value of a scalar, or `-` for a tensor of fixed sizes. Integers count up from 0,
    by 1 or by what follows `*`: `4*150` is 0, 150, 300, 450.

    An operation with the attribute `no_wait` goes on without what it waits for; a put that clears rows leaves a part of
    that out with `no_landing`, `no_clear`, `no_fence` or `no_arrival`; a store with `no_limit` goes through its buffer
    whole.
  }];
  let options = [
    ListOption<"args", "args", "std::string", "Open sizes of tensors, values of scalars">,
    Option<"multiprocessors", "multiprocessors", "int64_t", /*default=*/"2", "Blocks that share the tiles">,
    Option<"random", "random", "int64_t", /*default=*/"2", "Random interleavings, beside the extremes">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0", "Seed of inputs and interleavings">,
    Option<"rules", "rules", "bool", /*default=*/"true",
           "Whether breaking an operation's rule is an error by itself, not only what comes of it">,
  ];
}

#endif // ATTNC_CODEGEN_SIM_PASSES
