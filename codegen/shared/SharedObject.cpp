//===- SharedObject.cpp - A kernel as a shared object -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/shared/SharedObject.h"
#include "codegen/llvm/Programs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace attnc;
using codegen::ProgramResult;
using codegen::TemporaryFile;
using image::KernelImage;
using image::Result;
using image::Status;

/// The names of linkers in the PATH, those that are liked best first.
static constexpr StringLiteral linkers[] = {"ld.lld", "ld.lld-22", "ld"};

/// Functions of compiler-rt, and so of no shared library, that LLVM calls where a CPU lacks an instruction.
static constexpr StringLiteral missingFunctions[] = {"__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2",
                                                     "__extendhfsf2"};

Status shared::checkName(const KernelImage &image) {
  // What begins with an underscore is C's, and after "__tvm_ffi_" TVM FFI's.
  StringRef name = image.name;
  if (name.empty() || !isAlpha(name.front()) || !all_of(name, [](char c) { return isAlnum(c) || c == '_'; }))
    return image::Error{"functions of C are named after the kernel: expected a letter, then letters, digits and "
                        "underscores, got '" +
                        image.name + "'"};
  // "attnc_kernel_launch" is what the library exports, and what the object itself would then call by mistake.
  if (any_of(listExports(image), [](StringRef exported) { return exported.starts_with("attnc_"); }))
    return image::Error{"functions of C are named after the kernel: expected a name that gives none which begins "
                        "with 'attnc_', as those of libattnc-runtime do, got '" +
                        image.name + "'"};
  return {};
}

static Result<std::string> findLinker() {
  for (StringRef name : linkers)
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return image::Error{"a shared object takes a linker: there is no " +
                      join(std::begin(linkers), std::end(linkers), ", no ") + " in the PATH"};
}

/// Fails where the code of `image`, an object of this CPU, calls what no library has.
static Status checkCode(const KernelImage &image, StringRef code) {
  auto object = object::ObjectFile::createELFObjectFile(MemoryBufferRef(code, image.name));
  if (!object)
    return image::Error{toString(object.takeError())};
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return image::Error{toString(flags ? name.takeError() : flags.takeError())};
    if ((*flags & object::SymbolRef::SF_Undefined) && is_contained(missingFunctions, *name))
      return image::Error{"kernel '" + image.name + "' calls '" + name->str() +
                          "', which no shared library has; a CPU with instructions for 16-bit floats needs no call"};
  }
  return {};
}

namespace {

/// The files that a linker works on.
class Link {
public:
  /// Adds an object.
  Status addObject(StringRef content) { return addFile("o", content); }

  /// Adds a library called `name` that is to be there at run time, and is asked for `functions`. It need not be on this
  /// machine: what is linked with is a file that says as much as a linker must know.
  Status addLibrary(StringRef name, ArrayRef<StringLiteral> functions, uint16_t machine);

  /// Hides all functions but `functions`.
  Status exportOnly(ArrayRef<std::string> functions) {
    return addFile("map", "{ global: " + join(functions, "; ") + "; local: *; };\n", "--version-script=");
  }

  /// Links, with further options; what came of it.
  Result<std::string> run(std::vector<std::string> options);

private:
  Status addFile(StringRef suffix, StringRef content, StringRef option = "") {
    Result<TemporaryFile> file = TemporaryFile::create("attnc", suffix, content);
    if (!file)
      return file.takeError();
    arguments.push_back((option + file->path()).str());
    files.push_back(std::move(*file));
    return {};
  }

  std::vector<TemporaryFile> files;
  std::vector<std::string> arguments;
};

} // namespace

Status Link::addLibrary(StringRef name, ArrayRef<StringLiteral> functions, uint16_t machine) {
  if (Status status = addFile("so", ""); !status)
    return status;
  ifs::IFSStub stub;
  stub.SoName = name.str();
  stub.Target.Arch = machine;
  stub.Target.BitWidth = ifs::IFSBitWidthType::IFS64;
  stub.Target.Endianness = ifs::IFSEndiannessType::Little;
  for (StringRef function : functions) {
    stub.Symbols.emplace_back(function.str());
    stub.Symbols.back().Type = ifs::IFSSymbolType::Func;
  }
  if (Error error = ifs::writeBinaryStub(files.back().path(), stub))
    return image::Error{toString(std::move(error))};
  return {};
}

Result<std::string> Link::run(std::vector<std::string> options) {
  Result<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  Result<TemporaryFile> output = TemporaryFile::create("attnc", "so");
  if (!output)
    return output.takeError();
  options.insert(options.end(), {"-shared", "-o", output->path()});
  options.insert(options.end(), arguments.begin(), arguments.end());
  Result<ProgramResult> result = codegen::runProgram(*linker, options);
  if (!result)
    return result.takeError();
  if (result->exitCode != 0)
    return image::Error{*linker + " cannot link the shared object: " +
                        StringRef(result->output + result->log).trim().split('\n').first.str()};
  return output->read();
}

/// The machine that ELF files of this process are for.
static Result<uint16_t> readMachine(StringRef code) {
  auto object = object::ObjectFile::createELFObjectFile(MemoryBufferRef(code, "the glue"));
  if (!object)
    return image::Error{toString(object.takeError())};
  return static_cast<uint16_t>(cast<object::ELFObjectFileBase>(**object).getEMachine());
}

Result<std::string> shared::link(const SharedObject &object) {
  if (Status status = checkName(object.image); !status)
    return status.takeError();
  Result<SmallVector<char, 0>> glue = writeGlue(object);
  if (!glue)
    return glue.takeError();
  StringRef glueCode(glue->data(), glue->size());
  StringRef code(reinterpret_cast<const char *>(object.image.bytes.data()), object.image.bytes.size());
  Result<uint16_t> machine = readMachine(glueCode);
  if (!machine)
    return machine.takeError();

  Link link;
  Status status = link.addObject(glueCode);
  if (status && object.features) {
    status = checkCode(object.image, code);
    if (status)
      status = link.addObject(code);
  }
  if (status)
    status = link.addLibrary(ATTNC_RUNTIME_LIBRARY, listImports(), *machine);
  // What a kernel's code calls besides: copies of memory and functions of numbers.
  for (StringRef library : {"libm.so.6", "libc.so.6"})
    if (status && object.features)
      status = link.addLibrary(library, {}, *machine);
  if (status)
    status = link.exportOnly(listExports(object.image));
  if (!status)
    return status.takeError();
  return link.run({"-soname", object.fileName.str(), "-rpath", "$ORIGIN", "--enable-new-dtags", "-Bsymbolic",
                   "--hash-style=gnu", "--build-id=none", "-z", "now", "-z", "relro", "-z", "noexecstack"});
}
