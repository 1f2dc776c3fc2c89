//===- SessionTest.cpp - Opening specs --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/jit/JitTestSupport.h"
#include "llvm/Support/FileSystem.h"

using namespace attnc;
using namespace attnc::test;
using image::Status;

namespace {

/// A session that keeps what it reports.
class Session : public testing::Test {
protected:
  /// Whether `text` holds all of `parts`, in this order.
  static bool holds(llvm::StringRef text, std::initializer_list<llvm::StringRef> parts) {
    for (llvm::StringRef part : parts) {
      size_t place = text.find(part);
      if (place == llvm::StringRef::npos)
        return false;
      text = text.drop_front(place + part.size());
    }
    return true;
  }

  std::string diagnostics;
  llvm::raw_string_ostream stream{diagnostics};
  jit::Session session{stream};
};

} // namespace

TEST_F(Session, ReadsAKernel) {
  ASSERT_TRUE(static_cast<bool>(session.openText(paddedSpec("%scale: f32", "scale(%scale)"), "spec")));
  auto kernel = session.findKernel();
  ASSERT_TRUE(static_cast<bool>(kernel));
  ASSERT_EQ(kernel->inputs.size(), 4U);
  EXPECT_EQ(kernel->inputs[3].name, "scale");
  EXPECT_TRUE(kernel->inputs[3].isUsedAs(attn::ArgumentUse::Scale));
  EXPECT_EQ(kernel->outputs[1].name, "lse");
  EXPECT_EQ(llvm::ArrayRef<std::string>(kernel->symbols), llvm::ArrayRef<std::string>({"B", "Sq", "Sk"}));
  EXPECT_EQ(diagnostics, "");
}

TEST_F(Session, ShowsAFaultInItsPlace) {
  Status status = session.openText("func.func @f() {\n  attn.nonsense\n  return\n}\n", "broken");
  EXPECT_FALSE(static_cast<bool>(status));
  EXPECT_EQ(status.message(), "") << "the diagnostic has said it";
  EXPECT_TRUE(holds(diagnostics, {"broken:2:", "error: ", "attn.nonsense", "  attn.nonsense\n", "^"})) << diagnostics;
}

TEST_F(Session, ShowsTheRuleThatIsBroken) {
  std::string text = paddedSpec("", R"(mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(-1)
      attn.yield %keep : i1
    })");
  EXPECT_FALSE(static_cast<bool>(session.openText(text, "spec")));
  EXPECT_TRUE(holds(diagnostics, {"spec:4:", "error: 'attn.window' op", "got -1 [S5]"})) << diagnostics;
  EXPECT_FALSE(holds(diagnostics, {"see current operation"})) << "the line of the spec says enough";
}

TEST_F(Session, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(session.openFile("/no/such/spec.mlir").message(),
            "cannot read '/no/such/spec.mlir': No such file or directory");
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("attnc-session", folder));
  EXPECT_EQ(session.openFile(folder).message(), "cannot read '" + folder.str().str() + "': it is a directory");
  llvm::sys::fs::remove(folder);
  EXPECT_EQ(diagnostics, "");
}

TEST_F(Session, ReadsAFile) {
  int file = 0;
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("attnc-session", "mlir", file, path));
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << paddedSpec();
  EXPECT_TRUE(static_cast<bool>(session.openFile(path))) << diagnostics;
  llvm::sys::fs::remove(path);
  EXPECT_TRUE(static_cast<bool>(session.findKernel()));
}

TEST_F(Session, FindsTheKernelThatIsAskedFor) {
  std::string first = paddedSpec(), second = paddedSpec("%scale: f32", "scale(%scale)");
  first.replace(first.find("@kernel"), 7, "@first");
  second.replace(second.find("@kernel"), 7, "@second");
  ASSERT_TRUE(static_cast<bool>(session.openText(first + second, "spec"))) << diagnostics;
  auto kernel = session.findKernel("second");
  ASSERT_TRUE(static_cast<bool>(kernel));
  EXPECT_EQ(kernel->inputs.size(), 4U);

  EXPECT_FALSE(static_cast<bool>(session.findKernel()));
  EXPECT_TRUE(holds(diagnostics, {"expected one function", "'first' is one", "'second' is one"})) << diagnostics;
  EXPECT_FALSE(static_cast<bool>(session.findKernel("third")));
  EXPECT_TRUE(holds(diagnostics, {"no function is named 'third'"})) << diagnostics;
}

TEST_F(Session, RefusesAFunctionThatIsNoKernel) {
  ASSERT_TRUE(static_cast<bool>(session.openText("func.func @f() {\n  return\n}\n", "spec")));
  EXPECT_FALSE(static_cast<bool>(session.findKernel()));
  EXPECT_TRUE(holds(diagnostics, {"spec:1:", "expected an attn.forward or attn.weights"})) << diagnostics;
}

TEST_F(Session, OpensOneSpecAfterAnother) {
  EXPECT_FALSE(static_cast<bool>(session.openText("func.func @f(", "first")));
  ASSERT_TRUE(static_cast<bool>(session.openText(paddedSpec(), "second")));
  ASSERT_TRUE(static_cast<bool>(session.openText(packedSpec(), "third")));
  auto kernel = session.findKernel();
  ASSERT_TRUE(static_cast<bool>(kernel));
  EXPECT_TRUE(kernel->kernels.front().isPacked());
}
