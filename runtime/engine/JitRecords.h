//===- JitRecords.h - Records and tuning behind the C API -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_ENGINE_JITRECORDS_H
#define ATTNC_RUNTIME_ENGINE_JITRECORDS_H

#include "runtime/capi/Compiler.h"
#include "runtime/tune/Choice.h"
#include "runtime/tune/Tuner.h"

namespace attnc::engine {

/// The records of a context.
class JitRecords : public capi::Records {
public:
  JitRecords(const std::string &folder, std::function<void(const std::string &)> remark)
      : tell(remark), records(folder, tune::findShippedRecords(), std::move(remark)) {}

  image::Status add(std::string_view text) override { return records.addOverlay({text.data(), text.size()}); }

  tune::RecordBook &book() { return records; }
  void remark(const std::string &text) const { tell(text); }

private:
  std::function<void(const std::string &)> tell;
  tune::RecordBook records;
};

/// The spec of a request, open in a session.
struct OpenRequest {
  jit::Session &session;
  attn::KernelFunction &kernel; ///< what is asked for
  std::string entry;            ///< the function of the spec that it is, or is the backward of
  mlir::Attribute target;       ///< the machine
};

/// The sizes that `request` names for `kernel`. An error tells which it would have to name.
image::Result<jit::Shapes> resolveShape(const capi::CompileRequest &request, const attn::KernelFunction &kernel);

/// What records call the machine of `request`; `cpu` is the name of the target where that is a CPU. Empty for a GPU
/// that is not here.
std::string nameDevice(const capi::CompileRequest &request, llvm::StringRef cpu);

/// What may change the schedules of `request`, for keys: the records of `device`, and what is asked of them. Empty
/// where heuristics decide alone.
std::string describeChoice(const capi::CompileRequest &request, llvm::StringRef device);

/// Chooses the schedules of what is asked for, and attaches them.
image::Result<tune::Choice> choose(const capi::CompileRequest &request, const OpenRequest &open);

/// Tunes what is asked for at the sizes of `request.shape`, and keeps the record.
image::Result<tune::Tuning> tuneRequest(const capi::CompileRequest &request, const OpenRequest &open,
                                        const tune::TuneOptions &options);

} // namespace attnc::engine

#endif // ATTNC_RUNTIME_ENGINE_JITRECORDS_H
