//===- Variant.h - Specs of common variants ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_VARIANT_H
#define ATTNC_RUNTIME_CAPI_VARIANT_H

#include "attnc/attnc.h"
#include "codegen/image/Error.h"

namespace attnc::capi {

/// The text of the spec that `variant` describes. What is no variant is an error that names the field.
image::Result<std::string> writeSpec(const attnc_variant &variant);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_VARIANT_H
