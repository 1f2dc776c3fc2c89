//===- ElementTypesTest.cpp - Names of element types ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Regions, the reference and images each name the types of elements, since none of them sees all others. Here they are
// held against each other.
//===----------------------------------------------------------------------===//

#include "codegen/describe/Types.h"
#include "dialect/attn/RegionOps.h"
#include "dialect/reference/Reference.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attnc;
using attn::getElementKind;
using image::DType;

TEST(ElementTypes, AreTheSameInAllRooms) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  for (mlir::Type type :
       {mlir::Type(b.getF64Type()), mlir::Type(b.getF32Type()), mlir::Type(b.getF16Type()), mlir::Type(b.getBF16Type()),
        mlir::Type(b.getI1Type()), mlir::Type(b.getI8Type()), mlir::Type(b.getI32Type()), mlir::Type(b.getI64Type())}) {
    std::optional<DType> dtype = describe::toDType(type);
    ASSERT_TRUE(dtype.has_value() && getElementKind(type).has_value());
    SCOPED_TRACE(std::string(image::name(*dtype)));
    EXPECT_EQ(describe::toType(*dtype, &context), type);
    EXPECT_NE(attn::getRegionType(type), 0u);
    // The same bytes are the same number.
    for (double number : {0.0, 1.0, 0.1, 100.0, -3.3}) {
      alignas(8) char ofRuntime[8] = {}, ofReference[8] = {};
      double exact = image::isFloat(*dtype) ? number : std::abs(std::trunc(number)) > 0;
      image::storeScalar(*dtype, ofRuntime, exact);
      attn::storeElement(*getElementKind(type), ofReference, 0, exact);
      EXPECT_EQ(attn::loadElement(*getElementKind(type), ofRuntime, 0), image::loadScalar(*dtype, ofReference))
          << number;
    }
  }
  EXPECT_EQ(describe::toDType(b.getIndexType()), DType::I64);
  EXPECT_EQ(getElementKind(b.getIndexType()), getElementKind(b.getI64Type()));
  for (mlir::Type type : {mlir::Type(b.getTF32Type()), mlir::Type(b.getIntegerType(4)), mlir::Type(b.getNoneType())}) {
    EXPECT_FALSE(describe::toDType(type).has_value());
    EXPECT_FALSE(getElementKind(type).has_value());
    EXPECT_EQ(attn::getRegionType(type), 0u);
  }
}
