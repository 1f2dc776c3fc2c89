//===- Compiler.h - What the C API knows of a compiler ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The one thing that the two libraries do not share: libattnc has a compiler, libattnc-runtime has none. Which it is
// is decided when they are linked, by who defines `getCompiler`.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_COMPILER_H
#define ATTNC_RUNTIME_CAPI_COMPILER_H

#include "runtime/cache/KernelCache.h"
#include "runtime/capi/Fault.h"
#include "runtime/capi/LoadedKernel.h"
#include "runtime/cuda/Device.h"

#include <functional>
#include <string_view>

namespace attnc::capi {

/// A spec, as it was given.
struct SpecSource {
  std::string text, name, entry;
};

/// What tuning found out, of a program. Threads may use it at the same time.
class Records {
public:
  virtual ~Records() = default;

  /// Adds the records of a file's text, to be used before all others.
  virtual image::Status add(std::string_view text) = 0;
};

/// A kernel that is asked for.
struct CompileRequest {
  std::shared_ptr<const SpecSource> spec;
  std::string target;                 ///< "cpu", "nvptx", "nvptx:sm_90a", ...
  std::string schedule;               ///< in place of the spec's own; empty for that
  bool backward;                      ///< whether it is the gradients that are asked for
  cuda::DeviceRef gpu;                ///< null for a CPU
  std::string shape;                  ///< "B=1,Sq=4096,Sk=4096", sizes that count most; empty for any
  int32_t policy = ATTNC_POLICY_AUTO; ///< an attnc_policy
  Records *records = nullptr;         ///< null for none
};

/// How to tune what a request asks for.
struct TuneSettings {
  double seconds = 0;
  int32_t warmUps = 0, iterations = 0, candidates = 0; ///< 0 for what is usual, -1 for none
  bool validateBackward = false;
  std::function<void(double share, const std::string &what)> progress; ///< may be null
  std::function<void(const std::string &text)> remark;
};

/// What came of tuning, or why nothing did.
struct Tuned {
  double defaultSeconds = 0, bestSeconds = 0;
  int64_t candidates = 0;
  std::string device, records;
  std::optional<Fault> fault;
};

/// What the compiler decided, for people, or why nothing is known of it.
struct Explained {
  std::string text;
  std::string svg; ///< a picture of the mask's tiles; empty where no sizes are known
  std::optional<Fault> fault;
};

/// An image, or why there is none.
struct Compiled {
  cache::CachedImage image;
  std::optional<Fault> fault;
};

/// Turns specs into images. Threads may use it at the same time.
class Compiler {
public:
  virtual ~Compiler() = default;

  /// What keeps `spec` from being one.
  virtual std::optional<Fault> check(const SpecSource &spec) const = 0;

  /// The image of a kernel, from `cache` or compiled into it.
  virtual Compiled compile(const CompileRequest &request, cache::KernelCache &cache) const = 0;

  /// Records that have files in `folder`, or none where that is empty; `remark` is told what is wrong with them.
  virtual std::shared_ptr<Records> openRecords(const std::string &folder,
                                               std::function<void(const std::string &)> remark) const = 0;

  /// Tunes at the sizes of `request.shape`, and keeps what comes of it in `request.records`.
  virtual Tuned tune(const CompileRequest &request, const TuneSettings &settings) const = 0;

  /// Tells what becomes of a kernel. Where `request.gpu` is null, its target may be a GPU that is not here.
  /// `cacheDirectory`: where images are kept; empty for nowhere. `cacheComplaint` says why, where nobody asked for
  /// that.
  virtual Explained explain(const CompileRequest &request, const std::string &cacheDirectory,
                            const std::string &cacheComplaint) const = 0;

  /// Links the code of `image`, which must be for this CPU, into the process.
  virtual image::Result<std::shared_ptr<CpuProgram>> link(const image::KernelImage &image) const = 0;
};

/// The compiler of this program; null where it has none.
const Compiler *getCompiler();

/// What a compiler is told of `gpu`, as facts of a key.
std::string describeMachine(const cuda::DeviceFacts &gpu);

/// The image of a kernel for a GPU from `cache`, where no compiler can say what its key is: by what is asked for. First
/// what was compiled for this very GPU, then what was for all of its kind.
Compiled findWithoutCompiler(const CompileRequest &request, cache::KernelCache &cache);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_COMPILER_H
