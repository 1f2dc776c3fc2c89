//===- ToyTarget.cpp - A target that lists operations -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/unit/toy-target/ToyTarget.h"
#include "dialect/attn/TargetInterface.h"
#include "dialect/tile/TileOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace attnc;
using image::KernelImage;
using image::Result;
using image::Status;
using target::LoweredKernel;
using target::Stage;

namespace {

/// `#toy.target`: the one toy that there is.
class ToyTargetAttr
    : public Attribute::AttrBase<ToyTargetAttr, Attribute, AttributeStorage, attn::TargetInterface::Trait> {
public:
  using Base::Base;
  static constexpr StringLiteral name = "toy.target";

  SmallVector<attn::ScheduleAttr> selectSchedules(attn::KernelOpInterface) const {
    return {attn::ScheduleAttr::get(getContext(), /*queryTile=*/4, /*keyTile=*/8, /*panel=*/4)};
  }

  LogicalResult checkSchedule(attn::KernelOpInterface kernel, attn::ScheduleAttr schedule) const {
    if (schedule.getQueryTile() > 4)
      return kernel.emitError() << "expected the schedule's query_tile to be at most 4 on a toy, got "
                                << schedule.getQueryTile();
    return success();
  }

  std::string explainSchedule(attn::ScheduleAttr schedule) const {
    return std::to_string(schedule.getQueryTile()) + " of 4 building blocks hold rows";
  }

  StringRef getMachineName() const { return "a toy"; }
};

/// Holds the attribute: each belongs to a dialect.
class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addAttributes<ToyTargetAttr>();
  }

  static constexpr StringLiteral getDialectNamespace() { return StringLiteral("toy"); }

  void printAttribute(Attribute, DialectAsmPrinter &printer) const override { printer << "target"; }
};

constexpr Stage stages[] = {{"listing", false, "of a toy: the operations that it would carry out"}};

class ToyBackend : public target::Backend {
public:
  void registerMachines(DialectRegistry &registry) const override { registry.insert<ToyDialect>(); }

  std::optional<Result<Attribute>> parse(MLIRContext *context, StringRef name) const override {
    if (name != "toy")
      return std::nullopt;
    context->getOrLoadDialect<ToyDialect>();
    return Result<Attribute>(ToyTargetAttr::get(context));
  }

  std::string describeNames() const override { return "toy"; }
  bool serves(Attribute target) const override { return isa<ToyTargetAttr>(target); }
  std::string getName(Attribute) const override { return "toy"; }
  ArrayRef<Stage> getStages() const override { return stages; }
  void buildPipeline(OpPassManager &) const override {}
  LogicalResult setFacts(KernelImage &, ModuleOp) const override { return success(); }

  Result<std::string> emit(LoweredKernel &kernel, StringRef) const override {
    std::string listing;
    kernel.module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<tile::TileDialect>(op->getDialect()))
        listing += op->getName().getStringRef().str() + "\n";
    });
    return listing;
  }

  Status setCode(LoweredKernel &kernel) const override {
    Result<std::string> listing = emit(kernel, "listing");
    kernel.image.bytes.assign(listing->begin(), listing->end());
    return {};
  }
};

} // namespace

const target::Backend &toy::getBackend() {
  static const ToyBackend backend;
  return backend;
}

static std::string explainToy(const jit::Target &) { return "toys run nothing"; }

static Result<std::unique_ptr<jit::Executable>> loadToy(const jit::Target &target, jit::Session &,
                                                        const attn::KernelFunction &, jit::ImageSource) {
  return image::Error{target.whyUnavailable()};
}

const jit::Target &toy::getTarget() {
  static constexpr jit::Target target = {"toy", "lists what it would do", explainToy, loadToy};
  return target;
}

void toy::registerAll() {
  static const bool once = [] {
    target::registerBackend(getBackend());
    jit::registerTarget(getTarget());
    return true;
  }();
  (void)once;
}
