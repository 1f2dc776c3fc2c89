//===- NoCompiler.cpp - Programs without a compiler -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Compiler.h"

using namespace attnc;

const capi::Compiler *capi::getCompiler() { return nullptr; }
