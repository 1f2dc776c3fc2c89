//===- AttnOps.cpp - What TableGen writes for the operations ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/LiteralSyntax.h"

using namespace mlir;
using namespace attnc::attn;

#define GET_OP_CLASSES
#include "dialect/attn/AttnOps.cpp.inc"
