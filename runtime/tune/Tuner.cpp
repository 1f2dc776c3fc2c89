//===- Tuner.cpp - Finds the fastest schedules by trying --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Tuner.h"
#include "dialect/attn/LaunchSizes.h"
#include "passes/attn/Candidates.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/tune/CandidateImages.h"
#include "runtime/tune/CompareResults.h"
#include "runtime/tune/Race.h"
#include "runtime/tune/Subject.h"
#include "runtime/tune/ValidateBackward.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tune;
using attn::ScheduleAttr;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

/// By how much a schedule must be faster to be chosen: less is noise, and an entry more in a kernel.
static constexpr double leastRatio = 1.02;

/// The most candidates that are raced, the first included.
static constexpr size_t mostRaced = 8;

/// The share of the time that goes to the first look at all candidates.
static constexpr double shareOfLook = 0.5;

namespace {

/// A program of one kernel of the function: what is tuned at a time, while the others stay as they are.
struct Axis {
  size_t kernel;
  size_t place; ///< among the schedules of the kernel
  std::string program;
};

class Tuner {
public:
  Tuner(TuneSubject &subject, const TuneOptions &options) : subject(subject), options(options) {}

  Result<Tuning> run();

private:
  Status prepare();
  Status tuneAxis(const Axis &axis, double seconds);
  Status check(Runner &runner);
  Status raceWithDefault(double seconds);
  Status validateBackward();
  Result<std::unique_ptr<jit::Executable>> load(const KernelImage &image) const;

  /// The values of a launch that writes to `results`.
  std::vector<ArgValue> joinArguments(image::Span<const Tensor> results) const {
    std::vector<ArgValue> values = inputs;
    values.insert(values.end(), results.begin(), results.end());
    return values;
  }

  /// The text of `current` with `schedule` in the place of `axis`.
  ScheduleTexts printWith(const Axis &axis, ScheduleAttr schedule) const;

  void tell(const std::string &text) const {
    if (options.remark)
      options.remark(text);
  }

  /// Tells how far the part of the work is that is under way.
  void report(double share, const std::string &what) const {
    if (options.progress)
      options.progress((partsDone + std::clamp(share, 0.0, 1.0)) / parts, what);
  }

  TuneSubject &subject;
  const TuneOptions &options;
  Attribute target;                                    ///< the machine
  OwningOpRef<ModuleOp> lowered;                       ///< with the target's own schedules
  SmallVector<attn::KernelOpInterface> kernels;        ///< of `lowered`
  std::vector<SmallVector<ScheduleAttr>> own, current; ///< of each kernel, at these sizes
  std::vector<ArgValue> inputs;
  std::vector<Tensor> want, got; ///< results by the target's own schedules, and by a candidate
  std::unique_ptr<jit::Executable> ownKernel, bestKernel;
  double runSeconds = 0; ///< that a run takes by the target's own schedules
  Tuning tuning;
  double parts = 1, partsDone = 0;
};

} // namespace

Result<std::unique_ptr<jit::Executable>> Tuner::load(const KernelImage &image) const {
  return subject.load(
      subject.session, subject.kernel,
      [&](jit::Session &, const attn::KernelFunction &, Attribute) -> Result<KernelImage> { return image; });
}

/// Compiles the kernel as it is, draws its inputs, and computes what candidates are held against.
Status Tuner::prepare() {
  if (hasOwnSchedules(subject.kernel))
    return Error{"the spec has a schedule of its own, which is what it is compiled with; remove it to tune"};
  Result<std::unique_ptr<jit::Executable>> loaded = subject.load(
      subject.session, subject.kernel,
      [&](jit::Session &session, const attn::KernelFunction &kernel, Attribute machine) -> Result<KernelImage> {
        target = jit::targetOrHost(&session.context(), machine);
        return jit::compileToImage(session, kernel, target);
      });
  if (!loaded)
    return loaded.takeError();
  ownKernel = std::move(*loaded);
  if (!target)
    return Error{"the target has no schedules to choose among"};
  Result<OwningOpRef<ModuleOp>> module = jit::lowerToAttn(subject.session, subject.kernel, target);
  if (!module)
    return module.takeError();
  lowered = std::move(*module);
  lowered->walk([&](attn::KernelOpInterface op) { kernels.push_back(op); });
  for (attn::KernelOpInterface op : kernels)
    own.push_back(attn::keepServing(op.getSchedules(), subject.shapes.launchSizes(subject.kernel, op)));
  current = own;

  jit::RandomOptions random{options.seed};
  random.computeSaved = false;
  Result<std::vector<ArgValue>> drawn = jit::makeRandomInputs(subject.kernel, subject.shapes, random);
  if (!drawn)
    return drawn.takeError();
  inputs = std::move(*drawn);
  for (std::vector<Tensor> *results : {&want, &got}) {
    Result<std::vector<Tensor>> room = jit::allocateOutputs(subject.kernel, subject.shapes);
    if (!room)
      return room.takeError();
    *results = std::move(*room);
  }
  if (Status status = ownKernel->run(joinArguments(want)); !status)
    return status;
  std::vector<Runner> alone(1);
  alone[0].kernel = ownKernel.get();
  race(alone, joinArguments(got), {/*warmUps=*/1, /*iterations=*/3, /*seconds=*/1}, [](double) {});
  runSeconds = alone[0].seconds;
  return alone[0].fault.empty() ? Status() : Status(Error{alone[0].fault});
}

/// The text of the schedules of each kernel.
static ScheduleTexts printAll(ArrayRef<SmallVector<ScheduleAttr>> lists) {
  ScheduleTexts texts;
  for (const SmallVector<ScheduleAttr> &list : lists) {
    texts.emplace_back();
    for (ScheduleAttr schedule : list)
      texts.back().push_back(print(schedule));
  }
  return texts;
}

ScheduleTexts Tuner::printWith(const Axis &axis, ScheduleAttr schedule) const {
  ScheduleTexts texts = printAll(current);
  texts[axis.kernel][axis.place] = print(schedule);
  return texts;
}

/// Runs a candidate once, and compares what it gives.
Status Tuner::check(Runner &runner) {
  for (const Tensor &result : got)
    result.poison();
  if (Status status = runner.kernel->run(joinArguments(got)); !status)
    return status;
  std::string fault = compareResults(subject.kernel, got, want);
  return fault.empty() ? Status() : Status(Error{"it gives other results: " + fault});
}

Status Tuner::tuneAxis(const Axis &axis, double seconds) {
  SmallVector<ScheduleAttr> candidates = attn::listCandidates(kernels[axis.kernel], current[axis.kernel][axis.place]);
  // No more than there is time to look at: each runs at least twice.
  double reached = std::clamp(seconds * shareOfLook / (2 * std::max(runSeconds, 1e-9)), 4.0, 1e9);
  candidates.resize(
      std::min({candidates.size(), static_cast<size_t>(options.mostCandidates), static_cast<size_t>(reached)}));
  if (candidates.size() < 2)
    return {};
  std::vector<ScheduleTexts> texts;
  for (ScheduleAttr schedule : candidates)
    texts.push_back(printWith(axis, schedule));
  std::string machine;
  llvm::raw_string_ostream(machine) << target;
  std::string count = std::to_string(candidates.size()) + " candidates of " + axis.program;
  std::vector<Result<KernelImage>> images =
      compileCandidates({subject.session.text().str(), subject.entry, subject.backward, machine}, texts,
                        options.threads, [&](double share) { report(share / 2, "compiling " + count); });

  std::vector<std::unique_ptr<jit::Executable>> loaded(candidates.size());
  std::vector<Runner> runners(candidates.size());
  auto makeReady = [&](size_t i) -> Status {
    if (!images[i])
      return images[i].takeError();
    Result<std::unique_ptr<jit::Executable>> executable = load(*images[i]);
    if (!executable)
      return executable.takeError();
    loaded[i] = std::move(*executable);
    runners[i].kernel = loaded[i].get();
    return check(runners[i]);
  };
  auto prepareRunner = [&](size_t i) {
    if (Status status = makeReady(i); !status)
      runners[i].fault = status.message();
  };
  std::vector<ArgValue> values = joinArguments(got);
  std::vector<size_t> fastest =
      selectFastest(runners, values, {options.warmUps, options.iterations, seconds * shareOfLook}, mostRaced,
                    prepareRunner, [&](double share) { report(0.5 + 0.3 * share, "measuring " + count); });
  if (fastest.empty())
    return Error{"the schedule that is there fails: " + runners[0].fault};
  std::vector<Runner> finalists;
  for (size_t index : fastest) {
    finalists.emplace_back();
    finalists.back().kernel = runners[index].kernel;
  }
  race(finalists, values, {options.warmUps, options.iterations, seconds * (1 - shareOfLook)},
       [&](double share) { report(0.8 + 0.2 * share, "racing the fastest of " + count); });
  size_t best = 0;
  for (size_t n = 0; n < finalists.size(); ++n) {
    runners[fastest[n]] = finalists[n];
    if (finalists[n].runs > 0 && finalists[n].ratio > std::max(runners[best].ratio, leastRatio))
      best = fastest[n];
  }
  int64_t late = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Runner &runner = runners[i];
    if (runner.isLate && ++late)
      continue;
    if (!runner.fault.empty())
      tell("candidate " + print(candidates[i]) + " is skipped: " + runner.fault);
    tuning.record.candidates += runner.fault.empty();
    tuning.trials.push_back(
        {axis.program, print(candidates[i]), runner.fault, runner.seconds, runner.ratio, runner.runs, i == best});
  }
  if (late > 0)
    tell("the time was up before " + std::to_string(late) + " of " + count + " ran");
  current[axis.kernel][axis.place] = candidates[best];
  bestKernel = std::move(loaded[best]);
  return {};
}

/// Measures what was found against the target's own schedules, and goes back to those where they are as good.
Status Tuner::raceWithDefault(double seconds) {
  std::vector<Runner> runners(2);
  runners[0].kernel = ownKernel.get();
  runners[1].kernel = bestKernel ? bestKernel.get() : ownKernel.get();
  bool isOther = current != own && bestKernel;
  if (!isOther)
    runners.pop_back();
  race(runners, joinArguments(got), {options.warmUps, options.iterations, seconds},
       [&](double share) { report(share, "measuring the best"); });
  if (!runners[0].fault.empty())
    return Error{runners[0].fault};
  tuning.record.defaultSeconds = tuning.record.bestSeconds = runners[0].seconds;
  if (isOther && runners[1].fault.empty() && runners[1].ratio >= leastRatio)
    tuning.record.bestSeconds = runners[0].seconds / runners[1].ratio;
  else
    current = own;
  return {};
}

Status Tuner::validateBackward() {
  if (current == own)
    return {};
  Runner runner;
  runner.kernel = bestKernel.get();
  if (Status status = check(runner); !status)
    return status;
  Result<std::string> fault = compareGradients(subject, inputs, got, want, options.seed);
  if (!fault)
    return fault.takeError();
  if (!fault->empty()) {
    tell("the best schedule is not taken: gradients from what it saves are others: " + *fault);
    current = own;
    tuning.record.bestSeconds = tuning.record.defaultSeconds;
  }
  return {};
}

Result<Tuning> Tuner::run() {
  report(0, "compiling");
  if (Status status = prepare(); !status)
    return status.takeError();
  std::vector<Axis> axes;
  for (size_t k = 0; k < own.size(); ++k)
    for (size_t place = 0; place < own[k].size(); ++place)
      axes.push_back({k, place, attn::stringifyProgram(own[k][place].getProgram()).str()});
  parts = static_cast<double>(axes.size() + 1);
  double seconds = options.seconds / parts;
  for (const Axis &axis : axes) {
    if (Status status = tuneAxis(axis, seconds); !status)
      return status.takeError();
    ++partsDone;
  }
  if (Status status = raceWithDefault(seconds); !status)
    return status.takeError();
  if (options.validateBackward && !subject.backward)
    if (Status status = validateBackward(); !status)
      return status.takeError();

  Record &record = tuning.record;
  record.kernel = digestOf(subject.kernel);
  record.target = jit::getTargetName(target);
  record.shape = ShapeClass::of(subject.kernel, subject.shapes);
  record.schedules = current == own ? ScheduleTexts(own.size()) : printAll(current);
  record.beaten = printAll(own);
  record.name = subject.kernel.function.getName().str();
  record.sizes = subject.shapes.toString();
  return std::move(tuning);
}

/// Whether a launch of `kernel` at `shapes` computes anything: no argument is without elements.
static bool hasWork(const attn::KernelFunction &kernel, const jit::Shapes &shapes) {
  auto hasElements = [&](const attn::KernelArgument &argument) {
    return llvm::none_of(shapes.shapeOf(argument), [](int64_t size) { return size == 0; });
  };
  return llvm::all_of(kernel.inputs, hasElements) && llvm::all_of(kernel.outputs, hasElements);
}

Result<Tuning> tune::tune(TuneSubject subject, const TuneOptions &options) {
  if (!hasWork(subject.kernel, subject.shapes))
    return Error{"expected sizes of 1 or more to tune at, got " + subject.shapes.toString()};
  if (options.validateBackward && !subject.backward)
    if (Status status = checkSavesLse(subject.kernel); !status)
      return status.takeError();
  return Tuner(subject, options).run();
}
