//===- ShapesTest.cpp - Sizes for a kernel's arguments ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/jit/JitTestSupport.h"

using namespace attnc;
using namespace attnc::test;
using jit::parseShape;
using jit::Shapes;
using runtime::Dims;

/// Why `shape` and `dims` do not fit `kernel`; empty where they do.
static std::string fault(const attn::KernelFunction &kernel, const std::string &shape,
                         llvm::ArrayRef<std::string> dims = {}) {
  auto request = parseShape(shape, dims);
  return request ? Shapes::resolve(kernel, *request).message() : request.message();
}

TEST(ParseShape, ReadsSizesAndDimensions) {
  auto request = parseShape("B=2, Sq = 128,,Sk=0", {"bias.0=1", "a.b.2=7"});
  ASSERT_TRUE(static_cast<bool>(request)) << request.message();
  EXPECT_EQ(request->symbols, (std::map<std::string, int64_t>{{"B", 2}, {"Sq", 128}, {"Sk", 0}}));
  EXPECT_EQ(request->dims, (std::map<std::pair<std::string, unsigned>, int64_t>{{{"bias", 0}, 1}, {{"a.b", 2}, 7}}));
  EXPECT_TRUE(parseShape("")->symbols.empty());
}

TEST(ParseShape, NamesWhatItCannotRead) {
  const std::string form = "': expected NAME=SIZE, as in B=2,Sq=128, got '";
  for (std::string part : {"Sq", "Sq=", "=3", "Sq=x", "Sq=-1", "Sq=1.5", "Sq=99999999999999999999", "Sq=2199023255552"})
    EXPECT_EQ(parseShape("B=1," + part).message(), "shape 'B=1," + part + form + part + "'");
  EXPECT_EQ(parseShape("B=1,B=1").message(), "shape 'B=1,B=1': 'B' is given twice");
  for (std::string dim : {"bias", "bias=1", "bias.=1", ".0=1", "bias.x=1", "bias.0=", "bias.-1=2"})
    EXPECT_EQ(parseShape("", {dim}).message(), "dimension '" + dim + "': expected NAME.N=SIZE, as in bias.0=1");
  EXPECT_EQ(parseShape("", {"bias.0=1", "bias.0=2"}).message(), "dimension 'bias.0' is given twice");
}

TEST(Shapes, FillInEveryArgument) {
  OpenSpec spec(paddedSpec());
  Shapes shapes = shapesOf(spec.kernel, "B=3,Sq=5,Sk=7");
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[0]), (Dims{3, 5, 2, 8}));
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[1]), (Dims{3, 7, 1, 8}));
  EXPECT_EQ(shapes.shapeOf(spec.kernel.outputs[1]), (Dims{3, 2, 5}));
  EXPECT_EQ(shapes.batch(), 3);
  EXPECT_EQ(shapes.queryRows(), 5);
  attn::KernelOpInterface op = spec.kernel.kernels.front();
  EXPECT_EQ(shapes.launchSizes(spec.kernel, op).toString(), "queries 5, keys 7, batch 3, query_heads 2, all_heads 6");
  EXPECT_EQ(shapes.keyRows(), 7);
  EXPECT_FALSE(shapes.packed());
  EXPECT_EQ(shapes.toString(), "B=3, Sq=5, Sk=7");
}

TEST(Shapes, NameWhatIsMissingOrUnknown) {
  OpenSpec spec(paddedSpec());
  EXPECT_EQ(fault(spec.kernel, "Sq=1"), "the spec leaves sizes open: expected B=…,Sk=… in the shape");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1,Tq=4"), "unknown size 'Tq'; this spec has B, Sq, Sk");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1", {"z.0=1"}),
            "dimension 'z.0': the spec has no argument 'z'; it has q, k, v");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1", {"q.4=1"}), "dimension 'q.4': 'q' has rank 4");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1", {"q.2=3"}), "dimension 'q.2' is 2 in the spec, got 3");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1", {"q.1=3"}), "size 'Sq' is 1, got 3");
}

TEST(Shapes, TakeWhatTheSpecFixes) {
  std::string text = paddedSpec();
  for (size_t place; (place = text.find("tensor<?x?x1x8")) != std::string::npos;)
    text.replace(place, 14, "tensor<4x9x1x8");
  OpenSpec spec(text);
  Shapes shapes = shapesOf(spec.kernel, "Sq=5");
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[0]), (Dims{4, 5, 2, 8}));
  EXPECT_EQ(shapes.keyRows(), 9);
  EXPECT_EQ(fault(spec.kernel, "B=3,Sq=5"), "size 'B' is 4 in the spec, got 3");
}

TEST(Shapes, LetDimensionsBroadcast) {
  OpenSpec spec(paddedSpec("%bias: tensor<?x2x?x?xf32>", R"(score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x2x?x?xf32>
      attn.yield %x : f32
    })"));
  EXPECT_EQ(shapesOf(spec.kernel, "B=3,Sq=5,Sk=7").shapeOf(spec.kernel.inputs[3]), (Dims{3, 2, 5, 7}));
  EXPECT_EQ(shapesOf(spec.kernel, "B=3,Sq=5,Sk=7", {"bias.0=1", "bias.2=1"}).shapeOf(spec.kernel.inputs[3]),
            (Dims{1, 2, 1, 7}));
  EXPECT_EQ(fault(spec.kernel, "B=3,Sq=5,Sk=7", {"bias.0=2"}), "size 'B' is 3, got 2");
}

TEST(Shapes, JoinTheAxesOfOneTensor) {
  OpenSpec spec(paddedSpec("%ids: tensor<?x?xi32>", R"(mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    })"));
  Shapes shapes = shapesOf(spec.kernel, "B=2,Sq=6");
  EXPECT_EQ(shapes.keyRows(), 6);
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[1]), (Dims{2, 6, 1, 8}));

  OpenSpec other(paddedSpec("%t: tensor<?xi1>", R"(mask (%b, %h, %i, %j) {
      %x = attn.load %t[%b] : tensor<?xi1>
      %y = attn.load %t[%j] : tensor<?xi1>
      %keep = arith.andi %x, %y : i1
      attn.yield %keep : i1
    })"));
  shapes = shapesOf(other.kernel, "B=3,Sq=6");
  EXPECT_EQ(shapes.batch(), 3);
  EXPECT_EQ(shapes.queryRows(), 6);
  EXPECT_EQ(shapes.keyRows(), 3);
}

/// Kernels of 4 and 2 query heads that index one dimension by their head can share a single element only.
TEST(Shapes, ServeTheHeadsOfAllKernels) {
  OpenSpec spec(R"(!four = tensor<?x?x4x8xf32>
!two = tensor<?x?x2x8xf32>
func.func @f(%q: !four, %p: !two, %k: !two, %t: tensor<?xf32> {attn.name = "t"}) -> (!four, !two) {
  %x = attn.forward %q, %k, %k score (%s, %b, %h, %i, %j) {
    %y = attn.alibi %s, %t[%h], %i, %j : tensor<?xf32>
    attn.yield %y : f32
  } : (!four, !two, !two) -> !four
  %z = attn.forward %p, %k, %k score (%s, %b, %h, %i, %j) {
    %y = attn.alibi %s, %t[%h], %i, %j : tensor<?xf32>
    attn.yield %y : f32
  } : (!two, !two, !two) -> !two
  return %x, %z : !four, !two
}
)");
  EXPECT_EQ(shapesOf(spec.kernel, "B=1,Sq=2,Sk=3").shapeOf(spec.kernel.inputs[3]), (Dims{1}));
  for (std::string shape : {"B=1,Sq=2,Sk=3", "arg0.0=1,arg0.1=2,arg2.1=3,t.0=1"})
    EXPECT_EQ(shapesOf(spec.kernel, shape).toString(), "B=1, Sq=2, Sk=3");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=2,Sk=3", {"t.0=4"}), "dimension 't.0' is 1 in the spec, got 4");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=2,Sk=3,t.0=4"), "dimension 't.0' is 1 in the spec, got 4");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=2,Sk=3,t.0=1", {"t.0=1"}), "dimension 't.0' is given twice");
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=2,Sk=3,t.x=1"), "unknown size 't.x'; this spec has B, Sq, Sk");
}

TEST(Shapes, NameDimensionsOfComputedIndices) {
  OpenSpec spec(paddedSpec("%t: tensor<?xf32>", R"(score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %t[%d] : tensor<?xf32>
      attn.yield %x : f32
    })"));
  EXPECT_EQ(fault(spec.kernel, "B=1,Sq=1,Sk=1"), "the spec leaves sizes open: expected t.0=… in the shape");
  EXPECT_EQ(shapesOf(spec.kernel, "B=1,Sq=1,Sk=1", {"t.0=32"}).shapeOf(spec.kernel.inputs[3]), (Dims{32}));
  EXPECT_EQ(shapesOf(spec.kernel, "B=1,Sq=1,Sk=1,t.0=32").shapeOf(spec.kernel.inputs[3]), (Dims{32}));
}

TEST(Shapes, CountSequencesByTheirOffsets) {
  OpenSpec spec(packedSpec("%n: tensor<?xi32>", R"(mask (%b, %h, %i, %j) {
      %keep = attn.prefix %j, %n[%b] : tensor<?xi32>
      attn.yield %keep : i1
    })"));
  for (std::string batch : {"B=4", "B+1=5", "B=4,B+1=5"}) {
    Shapes shapes = shapesOf(spec.kernel, batch + ",Tq=60,Tk=50");
    EXPECT_TRUE(shapes.packed());
    EXPECT_EQ(shapes.batch(), 4);
    EXPECT_EQ(shapes.queryRows(), 60);
    // Lengths are means, rounded up.
    attn::KernelOpInterface op = spec.kernel.kernels.front();
    EXPECT_EQ(shapes.launchSizes(spec.kernel, op).toString(),
              "queries 15, keys 13, batch 4, query_heads 2, all_heads 8");
    EXPECT_EQ(shapes.keyRows(), 50);
    EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[3]), (Dims{5}));
    EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[5]), (Dims{4})) << "captured by the number of the sequence";
    EXPECT_EQ(shapes.toString(), "Tq=60, Tk=50, B=4");
  }
  EXPECT_EQ(fault(spec.kernel, "B=4,B+1=4,Tq=1,Tk=1"), "size 'B' is 4, got 3");
  EXPECT_EQ(fault(spec.kernel, "Tq=1,Tk=1"), "the spec leaves sizes open: expected B=… in the shape");
  EXPECT_EQ(fault(spec.kernel, "B+1=0,Tq=1,Tk=1"),
            "size 'B' must be 0 or more, got -1: of cumulative lengths there is one more than of sequences");
  EXPECT_EQ(shapesOf(spec.kernel, "B=0,Tq=0,Tk=0").shapeOf(spec.kernel.inputs[4]), (Dims{1}));
}

TEST(Shapes, CountKeysByTheirPages) {
  std::string text = paddedSpec("%t: tensor<?x?xi32>", "paged(%t : tensor<?x?xi32>)");
  for (size_t place; (place = text.find("tensor<?x?x1x8")) != std::string::npos;)
    text.replace(place, 14, "tensor<?x4x1x8");
  OpenSpec spec(text);
  Shapes shapes = shapesOf(spec.kernel, "B=2,Sq=3,Sk=20,P=9");
  EXPECT_EQ(shapes.keyRows(), 20);
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[1]), (Dims{9, 4, 1, 8}));
  EXPECT_EQ(shapes.shapeOf(spec.kernel.inputs[3]), (Dims{2, 5}));
  EXPECT_EQ(fault(spec.kernel, "B=2,Sq=3,Sk=21,P=9"),
            "size 'Sk' must be a multiple of 4, the rows of a page of 't', got 21");
  EXPECT_EQ(fault(spec.kernel, "B=2,Sq=3,Sk=20"), "the spec leaves sizes open: expected P=… in the shape");
}
