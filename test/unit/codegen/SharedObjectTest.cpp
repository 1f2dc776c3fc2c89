//===- SharedObjectTest.cpp - A kernel as a shared object -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/shared/SharedObject.h"
#include "codegen/llvm/LlvmModule.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <set>

using namespace attnc;
using namespace attnc::shared;
using image::KernelImage;
using image::Result;

/// The object that LLVM makes of `text` for this machine.
static std::vector<uint8_t> assemble(llvm::StringRef text) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  codegen::LlvmModule made(codegen::createMachine(llvm::Triple(llvm::sys::getProcessTriple()), "", "",
                                                  llvm::CodeGenOptLevel::Default, llvm::Reloc::PIC_));
  llvm::SMDiagnostic fault;
  made.module = llvm::parseAssemblyString(text, fault, made.context);
  made.module->setTargetTriple(made.machine->getTargetTriple());
  made.module->setDataLayout(made.machine->createDataLayout());
  auto code = codegen::writeCode(made, llvm::CodeGenFileType::ObjectFile);
  return {code->begin(), code->end()};
}

static KernelImage makeImage(std::string name, llvm::StringRef code) {
  KernelImage image;
  image.name = std::move(name);
  image.target = "cpu:test";
  image::KernelEntry entry;
  entry.symbol = image.name + "_entry";
  entry.grid = image::GridRule::constant(1);
  image.entries = {entry};
  image.bytes = assemble(code);
  return image;
}

/// The symbols that others see of `bytes`, a shared object.
static std::set<std::string> listSymbols(const std::string &bytes) {
  std::set<std::string> names;
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  EXPECT_TRUE(static_cast<bool>(object));
  for (const llvm::object::ELFSymbolRef symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(**object).getDynamicSymbolIterators())
    if (!(*symbol.getFlags() & llvm::object::SymbolRef::SF_Undefined))
      names.insert(symbol.getName()->str());
  return names;
}

TEST(SharedObject, ExportsWhatIsNamedAfterTheKernel) {
  const KernelImage image =
      makeImage("f", "define void @f_entry(ptr %arguments, i64 %tile, ptr %scratch) { ret void }");
  Result<std::string> bytes = link({image, "f.so", llvm::StringRef("+sse2")});
  ASSERT_TRUE(bytes) << bytes.message();
  EXPECT_EQ(listSymbols(*bytes),
            (std::set<std::string>{"f_launch", "f_get_kernel", "f_image", "f_image_bytes", "__tvm_ffi_f"}));
  EXPECT_EQ(*bytes, *link({image, "f.so", llvm::StringRef("+sse2")})) << "the same each time";
}

TEST(SharedObject, NamesAreThoseOfC) {
  KernelImage image;
  for (const char *name : {"a", "Causal_2", "main", "attnc2"}) {
    image.name = name;
    EXPECT_TRUE(checkName(image)) << name;
  }
  for (const char *name :
       {"", "_library_ctx", "2d", "llama-3", "a.b", "a b", "a@b", "a;", "\xC3\xA4", "attnc", "attnc_kernel"}) {
    image.name = name;
    EXPECT_FALSE(checkName(image)) << name;
    EXPECT_FALSE(link({image, "f.so", std::nullopt})) << name;
  }
}

TEST(SharedObject, RefusesCodeThatNeedsCompilerRt) {
  const KernelImage image = makeImage("f", "declare i16 @__truncsfbf2(float)\n"
                                           "define void @f_entry(ptr %arguments, i64 %tile, ptr %scratch) {\n"
                                           "  call i16 @__truncsfbf2(float 1.0)\n"
                                           "  ret void\n"
                                           "}\n");
  EXPECT_EQ(link({image, "f.so", llvm::StringRef("+sse2")}).message(),
            "kernel 'f' calls '__truncsfbf2', which no shared library has; a CPU with instructions for 16-bit floats "
            "needs no call");
}

TEST(SharedObject, SaysWhatTheLinkerSays) {
  const KernelImage image = makeImage("f", "define void @other(ptr %arguments, i64 %tile, ptr %scratch) { ret void }");
  const std::string message = link({image, "f.so", llvm::StringRef("+sse2")}).message();
  EXPECT_NE(message.find("cannot link the shared object: "), std::string::npos) << message;
  EXPECT_NE(message.find("f_entry"), std::string::npos) << message;
}

TEST(SharedObject, NeedsALinker) {
  const std::string before = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  KernelImage image;
  image.name = "f";
  EXPECT_EQ(link({image, "f.so", std::nullopt}).message(),
            "a shared object takes a linker: there is no ld.lld, no ld.lld-22, no ld in the PATH");
  setenv("PATH", before.c_str(), 1);
}
