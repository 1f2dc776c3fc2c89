//===- TargetInterface.h - What passes ask a target -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_TARGETINTERFACE_H
#define ATTNC_DIALECT_ATTN_TARGETINTERFACE_H

#include "dialect/attn/AttnOps.h"

#include "dialect/attn/TargetInterface.h.inc"

#endif // ATTNC_DIALECT_ATTN_TARGETINTERFACE_H
