//===- Context.h - What compiles and keeps kernels for C --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_CONTEXT_H
#define ATTNC_RUNTIME_CAPI_CONTEXT_H

#include "runtime/capi/Compilation.h"
#include "runtime/capi/Compiler.h"
#include "runtime/capi/Workers.h"

#include <atomic>
#include <list>
#include <map>
#include <unordered_map>

namespace attnc::capi {

/// What to compile a spec for.
struct Wish {
  std::string target;   ///< "auto", or as in `CompileRequest`
  std::string schedule; ///< empty for the spec's own
  bool backward = false;
  int ordinal = -1;  ///< of a GPU; -1 for that of the thread's context
  std::string shape; ///< as in `CompileRequest`
  int32_t policy = ATTNC_POLICY_AUTO;
};

/// Compiles kernels in the background and keeps them loaded. Threads may use it at the same time.
class Context {
public:
  /// `threads`: the most kernels that are compiled at once.
  Context(cache::CacheOptions cache, unsigned threads);

  /// Waits for what is under way. What has not begun ends with a fault.
  ~Context() { stopping = true; }

  /// Who waits for what.
  enum class Waiting { Later, Now };

  /// The kernel of `spec`, whose digest is `digest`: one compilation for all who ask for the same. A thread that
  /// compiles, and that waits `Now`, does it itself: there may be no other.
  std::shared_ptr<Compilation> start(std::shared_ptr<const SpecSource> spec, const cache::Digest &digest, Wish wish,
                                     Waiting waiting = Waiting::Later);

  /// Whether this process may use it. A child that is forked may where nobody used it then: where a thread did, its
  /// locks are held for good. To be asked before all else.
  bool isUsable();

  /// The same where it is loaded already; nothing else.
  std::optional<Outcome> find(const cache::Digest &digest, Wish &wish);

  /// Tunes in the thread that calls.
  Tuned tune(std::shared_ptr<const SpecSource> spec, Wish wish, TuneSettings settings);

  /// Tells what becomes of a kernel, in the thread that calls. A GPU that is asked for need not be here.
  Explained explain(std::shared_ptr<const SpecSource> spec, Wish wish);

  /// Adds the records of a file's text.
  image::Status addRecords(std::string_view text);

private:
  /// Notes that a thread uses the context, while this lives.
  class Use;

  /// Settles what `wish` leaves open: by the machine, and by the thread that calls.
  void settle(Wish &wish);

  /// What identifies a loaded kernel.
  std::string makeKey(const cache::Digest &digest, const Wish &wish) const;

  /// What the compiler is asked for, without a GPU.
  CompileRequest makeRequestWithoutGpu(std::shared_ptr<const SpecSource> spec, const Wish &wish) const;

  /// The same on an open GPU, where it is for one.
  image::Result<CompileRequest> makeRequest(std::shared_ptr<const SpecSource> spec, const Wish &wish);

  /// Compiles and loads.
  Outcome make(std::shared_ptr<const SpecSource> spec, const Wish &wish);

  /// The GPU number `ordinal`, which stays open as long as the context.
  image::Result<cuda::DeviceRef> open(int ordinal);

  /// Keeps a kernel.
  void keep(const std::string &key, const std::shared_ptr<LoadedKernel> &kernel);

  std::optional<Outcome> findByKey(const std::string &key);

  struct Kept {
    std::string key;
    std::shared_ptr<LoadedKernel> kernel;
  };

  std::function<void(const std::string &)> remark;
  const std::string cacheDirectory; ///< empty for none
  const std::string cacheComplaint; ///< why there is none, where nobody asked for that
  cache::KernelCache kernels;
  std::shared_ptr<Records> records;   ///< null without a compiler
  std::atomic<unsigned> revision = 0; ///< of the records: kernels of another are not what is asked for
  std::atomic<bool> stopping = false;
  std::atomic<pid_t> process;      ///< which uses it
  std::atomic<unsigned> users = 0; ///< threads that are inside, without those of `workers`

  std::mutex mutex;       ///< of the four below
  std::list<Kept> loaded; ///< the most recently used first
  std::unordered_map<std::string, std::list<Kept>::iterator> index;
  std::unordered_map<std::string, std::shared_ptr<Compilation>> flights; ///< what is under way
  std::optional<bool> hasGpu;                                            ///< once somebody asked

  std::mutex deviceMutex; ///< of the one below; it takes up to a second to open a GPU
  std::map<int, cuda::DeviceRef> devices;

  Workers workers; ///< ends first: its jobs use all above
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_CONTEXT_H
