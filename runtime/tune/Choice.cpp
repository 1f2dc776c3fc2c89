//===- Choice.cpp - Which schedules a kernel is compiled with ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Choice.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/PipelineFields.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/jit/Compile.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tune;
using attn::ScheduleAttr;
using image::Error;
using image::Result;
using image::Status;

Result<Policy> Policy::parse(StringRef name) {
  if (name.empty() || name == "auto")
    return Policy();
  if (name == "records")
    return Policy{/*records=*/true, /*autotune=*/false, /*heuristics=*/false};
  if (name == "autotune")
    return Policy{/*records=*/true, /*autotune=*/true, /*heuristics=*/true};
  if (name == "heuristics")
    return Policy{/*records=*/false, /*autotune=*/false, /*heuristics=*/true};
  return Error{"unknown policy '" + name.str() + "'; there are auto, records, autotune, heuristics"};
}

/// The number of queries, `queries` or more, after which `defaults` may have another schedule.
static int64_t findChange(ArrayRef<ScheduleAttr> defaults, int64_t queries) {
  int64_t change = attn::unlimited;
  for (ScheduleAttr schedule : defaults) {
    attn::SizeRange range = schedule.getWhen().getRange(attn::Size::Queries);
    for (int64_t last : {range.min - 1, range.max})
      if (last >= queries)
        change = std::min(change, last);
  }
  return change;
}

SmallVector<ScheduleAttr> tune::mergeSchedules(ArrayRef<ScheduleAttr> defaults, ArrayRef<RecordedSchedules> records) {
  // Those that come before each default.
  SmallVector<SmallVector<ScheduleAttr>> before(defaults.size());
  int64_t next = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const auto &[shape, schedules] = records[i];
    if (shape.queries.min < next)
      continue;
    int64_t most = findChange(defaults, shape.queries.max);
    if (i + 1 < records.size() && records[i + 1].shape.queries.min > shape.queries.min)
      most = std::min(most, records[i + 1].shape.queries.min - 1);
    next = most == attn::unlimited ? most : most + 1;
    if (schedules.empty())
      continue;
    // The default that they were faster than says which other sizes they are for.
    const ScheduleAttr *beaten = llvm::find_if(defaults, [&shape = shape](ScheduleAttr one) {
      return static_cast<bool>(one.getWhen().intersect(shape.toSizes(one.getContext())));
    });
    if (beaten == defaults.end())
      continue;
    SmallVector<attn::SizeRange> ranges{{attn::Size::Queries, shape.queries.min, most}};
    llvm::copy_if(beaten->getWhen().getRanges(), std::back_inserter(ranges),
                  [](attn::SizeRange range) { return range.size != attn::Size::Queries; });
    auto within = attn::SizesAttr::get(beaten->getContext(), ranges);
    for (ScheduleAttr schedule : schedules)
      if (attn::SizesAttr when = schedule.getWhen().intersect(within))
        before[beaten - defaults.begin()].push_back(schedule.forSizes(when));
  }
  SmallVector<ScheduleAttr> merged;
  for (auto [recorded, schedule] : llvm::zip_equal(before, defaults)) {
    llvm::append_range(merged, recorded);
    merged.push_back(schedule);
  }
  if (merged.empty())
    return merged;
  return attn::joinAlike(attn::keepServing(merged, attn::SizesAttr::get(merged.front().getContext())));
}

/// The schedules of one program.
static SmallVector<ScheduleAttr> selectProgram(ArrayRef<ScheduleAttr> schedules, attn::Program program) {
  SmallVector<ScheduleAttr> selected;
  llvm::copy_if(schedules, std::back_inserter(selected),
                [&](ScheduleAttr schedule) { return schedule.getProgram() == program; });
  return selected;
}

/// What `records` say about each kernel of `kernel`, as attributes.
static Result<std::vector<std::vector<SmallVector<ScheduleAttr>>>> readSchedules(attn::KernelFunction &kernel,
                                                                                 ArrayRef<FoundRecord> records) {
  std::vector<std::vector<SmallVector<ScheduleAttr>>> read;
  for (const FoundRecord &found : records) {
    if (Status status = setSchedules(kernel, found.record.schedules); !status)
      return status.takeError();
    read.emplace_back();
    for (attn::KernelOpInterface op : kernel.kernels)
      read.back().push_back(op.getSchedules());
  }
  return read;
}

/// Those of `schedules` that launches of the class have.
static SmallVector<ScheduleAttr> selectServing(ArrayRef<ScheduleAttr> schedules, const ShapeClass &shape) {
  if (schedules.empty())
    return {};
  attn::SizesAttr within = shape.toSizes(schedules.front().getContext());
  SmallVector<ScheduleAttr> cut;
  for (ScheduleAttr schedule : schedules)
    if (attn::SizesAttr when = schedule.getWhen().intersect(within))
      cut.push_back(schedule.forSizes(when));
  return attn::keepServing(cut, attn::SizesAttr::get(within.getContext()));
}

/// A schedule without what follows from the cache of the device that it is for: records of a device may be asked for
/// where that is not, with what is known of its architecture alone.
static ScheduleAttr withoutSections(ScheduleAttr schedule) {
  if (!schedule.getPipeline())
    return schedule;
  attn::PipelineFields fields(schedule.getPipeline());
  fields.sectionBytes = 0;
  return schedule.withPipeline(fields.get(schedule.getContext()));
}

/// The schedule that `text` spells; null where schedules have other words by now.
static ScheduleAttr readSchedule(const std::string &text, MLIRContext *context) {
  ScopedDiagnosticHandler silence(context, [](Diagnostic &) { return success(); });
  return dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, context));
}

/// Whether the target's own schedules of now, in `defaults`, are not those that `record` was measured against: then
/// nobody knows which are faster.
static bool isOutdated(const Record &record, MutableArrayRef<attn::KernelOpInterface> defaults) {
  if (record.beaten.size() != defaults.size())
    return !record.beaten.empty();
  for (auto [beaten, op] : llvm::zip_equal(record.beaten, defaults)) {
    SmallVector<ScheduleAttr> served = selectServing(op.getSchedules(), record.shape);
    for (const std::string &text : beaten) {
      ScheduleAttr before = readSchedule(text, op->getContext());
      if (!before || llvm::none_of(served, [&](ScheduleAttr schedule) {
            return withoutSections(schedule.forAllSizes()) == withoutSections(before);
          }))
        return true;
    }
  }
  return false;
}

namespace {

/// A kernel for a target, with its own schedules or, where it has none, the target's.
struct Lowered {
  OwningOpRef<ModuleOp> module;
  SmallVector<attn::KernelOpInterface> kernels; ///< in `module`, in order
};

} // namespace

/// Lowers `kernel` as far as schedules are chosen and checked.
static Result<Lowered> lower(jit::Session &session, const attn::KernelFunction &kernel, Attribute target) {
  std::string fault;
  ScopedDiagnosticHandler handler(&session.context(), [&](Diagnostic &diagnostic) {
    if (fault.empty())
      fault = diagnostic.str();
    return success();
  });
  auto module = jit::lowerToAttn(session, kernel, target);
  if (!module)
    return Error{fault};
  Lowered lowered{std::move(*module), {}};
  lowered.module->walk([&](attn::KernelOpInterface op) { lowered.kernels.push_back(op); });
  return lowered;
}

/// Leaves aside those of `records` that are outdated, and says so.
static void dropOutdated(MutableArrayRef<attn::KernelOpInterface> defaults,
                         const std::function<void(const std::string &)> &remark, std::vector<FoundRecord> &records) {
  llvm::erase_if(records, [&](const FoundRecord &one) {
    bool drops = isOutdated(one.record, defaults);
    if (drops && remark)
      remark("a record of @" + one.record.name + " at " + one.record.sizes +
             " is left aside: it was measured against schedules that are not the target's own any more");
    return drops;
  });
}

/// Attaches to `kernel` what `records` say in the place of `defaults`, the target's own, where the target allows that.
static Status attach(jit::Session &session, attn::KernelFunction &kernel, Attribute target, Result<Lowered> &defaults,
                     ArrayRef<FoundRecord> records) {
  auto read = readSchedules(kernel, records);
  clearSchedules(kernel);
  if (!read)
    return read.takeError();
  if (!defaults)
    return defaults.takeError();
  for (size_t k = 0; k < kernel.kernels.size(); ++k) {
    SmallVector<ScheduleAttr> chosen, all = defaults->kernels[k].getSchedules();
    llvm::SmallSetVector<attn::Program, 4> programs;
    for (ScheduleAttr schedule : all)
      programs.insert(schedule.getProgram());
    for (attn::Program program : programs) {
      SmallVector<RecordedSchedules> said;
      for (size_t i = 0; i < records.size(); ++i)
        said.push_back({records[i].record.shape, selectProgram((*read)[i][k], program)});
      llvm::append_range(chosen, mergeSchedules(selectProgram(all, program), said));
    }
    kernel.kernels[k].setSchedules(chosen);
  }
  Result<Lowered> lowered = lower(session, kernel, target);
  if (lowered)
    return {};
  clearSchedules(kernel);
  return lowered.takeError();
}

Result<Choice> tune::chooseSchedules(jit::Session &session, attn::KernelFunction &kernel, Attribute target,
                                     const ChoiceRequest &request) {
  if (hasOwnSchedules(kernel))
    return Choice{Source::Override, {}, "the spec's own, or the caller's"};
  const Policy &policy = request.policy;
  if (!policy.records)
    return Choice{Source::Heuristics, {}, "records are not asked for"};
  std::string name = "@" + kernel.function.getName().str(), why;
  std::vector<FoundRecord> found;
  std::optional<Result<Lowered>> defaults; // once there are records
  bool isTuned = false;
  if (!request.book) {
    why = "there are no records";
  } else if (request.device.empty()) {
    why = "no device is at hand, and none is named";
  } else {
    auto look = [&] {
      found = request.book->find(request.device, jit::getTargetName(target), digestOf(kernel),
                                 request.shape ? &*request.shape : nullptr);
      if (found.empty())
        return;
      if (!defaults)
        defaults = lower(session, kernel, target);
      if (*defaults)
        dropOutdated((*defaults)->kernels, request.remark, found);
    };
    look();
    bool isKnown = llvm::any_of(
        found, [&](const FoundRecord &one) { return request.shape && one.record.shape == *request.shape; });
    if (policy.autotune && request.shape && request.tune && !isKnown) {
      Status status = request.tune();
      if (!status && !policy.heuristics)
        return status.takeError();
      if (!status)
        request.remark(name + " is not tuned: " + status.message());
      isTuned = static_cast<bool>(status);
      look();
    }
    if (found.empty())
      why = "no record of " + name + " for " + request.device + " in " + request.book->describePlaces(request.device);
  }
  if (!found.empty()) {
    Status status = attach(session, kernel, target, *defaults, found);
    if (status) {
      // The source that says something about the sizes that count.
      const FoundRecord *first = &found.front();
      for (const FoundRecord &one : found)
        if (request.shape && one.record.shape.queries == request.shape->queries)
          first = &one;
      Source source = isTuned ? Source::Autotune : first->source;
      return Choice{source, std::move(found), ""};
    }
    why = "the record of " + name + " cannot be used: " + status.message();
    request.remark(why);
  }
  if (!policy.heuristics)
    return Error{why + "; 'attnc tune' makes one"};
  return Choice{Source::Heuristics, {}, why};
}
