#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<attnc::attn::AttnDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::registerTransformsPasses();
  return failed(mlir::MlirOptMain(argc, argv, "attnc-opt", registry));
}
