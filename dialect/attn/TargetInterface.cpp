//===- TargetInterface.cpp - What passes ask a target -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/TargetInterface.h"

#include "dialect/attn/TargetInterface.cpp.inc"
