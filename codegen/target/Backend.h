//===- Backend.h - What a room of code generation offers --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The one interface between the compiler and those who make code of tile programs. `runtime/jit` looks backends up here
// and names none: a new target is a folder under codegen, or outside of the tree, with an attribute for its machines
// and an object of this class.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_TARGET_BACKEND_H
#define ATTNC_CODEGEN_TARGET_BACKEND_H

#include "codegen/image/Error.h"
#include "codegen/image/KernelImage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace attnc::target {

/// A form that a kernel has on its way from tile programs to its image.
struct Stage {
  llvm::StringLiteral name;        ///< as `attnc compile --emit` takes it
  bool isBinary;                   ///< whether it is bytes, and no text
  llvm::StringLiteral description; ///< one line for people
};

/// A kernel that `Backend::buildPipeline` has lowered.
struct LoweredKernel {
  mlir::ModuleOp module;
  image::KernelImage &image; ///< all but its code
  mlir::Attribute target;    ///< the machine that it is for
};

/// A kernel as text, written or changed by hand.
struct SourceFile {
  std::string text;
  std::string name; ///< what errors call it
};

/// Makes code for one kind of machines. Where a function returns an error without a message, it has been reported as a
/// diagnostic.
class Backend {
public:
  virtual ~Backend();

  /// Enters what a context must know of the attributes that `parse` gives: the dialect that they belong to, and their
  /// `attn::TargetInterface` where that is not part of them. Contexts that know no backend have no schedules.
  virtual void registerMachines(mlir::DialectRegistry &registry) const = 0;

  /// The machine called `name` ("cpu", "nvptx:sm_90a"), as the attribute that passes read; nothing where the name is
  /// not of this backend's kind. An error says which machines there are.
  virtual std::optional<image::Result<mlir::Attribute>> parse(mlir::MLIRContext *context,
                                                              llvm::StringRef name) const = 0;

  /// The name of the machine that the compiler runs on, where this backend makes code for it; else empty.
  virtual llvm::StringRef getHostName() const { return ""; }

  /// How to write the names that `parse` takes, for messages.
  virtual std::string describeNames() const = 0;

  /// Whether it makes code for the machine that `target` describes.
  virtual bool serves(mlir::Attribute target) const = 0;

  /// The name of `target` in kernel images: "cpu:znver3", "nvptx:sm_90a".
  virtual std::string getName(mlir::Attribute target) const = 0;

  /// What else than this program makes the code of an image for `target`, so that it can be told from other tools and
  /// other versions: programs that are called, libraries that are opened. Empty where nothing else does.
  virtual std::string describeTools(mlir::Attribute) const { return ""; }

  /// The stages after tile programs and before the image, in order.
  virtual llvm::ArrayRef<Stage> getStages() const = 0;

  /// Tile programs to what `emit` and `setCode` take. The module carries its target.
  virtual void buildPipeline(mlir::OpPassManager &pm) const = 0;

  /// Enters in an image how its entries are launched; `module` has gone through `buildPipeline`.
  virtual mlir::LogicalResult setFacts(image::KernelImage &image, mlir::ModuleOp module) const = 0;

  /// What `kernel` is at `stage`, one of `getStages`.
  virtual image::Result<std::string> emit(LoweredKernel &kernel, llvm::StringRef stage) const = 0;

  /// Enters the code of `kernel` in its image.
  virtual image::Status setCode(LoweredKernel &kernel) const = 0;

  /// What the code of an image for `target` needs of the CPU that loads it, "+avx2,+fma"; nothing where a device runs
  /// it.
  virtual std::optional<llvm::StringRef> getHostFeatures(mlir::Attribute) const { return std::nullopt; }

  /// Whether `setCodeFrom` compiles what is given.
  virtual bool takesSource() const { return false; }

  /// The same with `source` in the place of what `emit` would print of `kernel`; its entries are to have the same names
  /// and parameters. An error where kernels of this kind have no text that can be compiled.
  virtual image::Status setCodeFrom(LoweredKernel &kernel, const SourceFile &source) const;
};

/// Adds a backend, which must live as long as the program. Not while kernels are compiled.
void registerBackend(const Backend &backend);

/// The backends that were added, in order. The compiler asks `jit::getBackends`, which adds attnc's own first.
llvm::ArrayRef<const Backend *> getBackends();

/// The text of `module`, as `attnc-opt` prints it.
std::string printModule(mlir::ModuleOp module);

} // namespace attnc::target

#endif // ATTNC_CODEGEN_TARGET_BACKEND_H
