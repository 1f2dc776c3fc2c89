//===- Choice.cpp - Which schedules a kernel is compiled with ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Choice.h"
#include "runtime/jit/Compile.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tune;
using attn::ScheduleAttr;
using runtime::Error;
using runtime::Result;
using runtime::Status;

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

namespace {

/// Puts schedules together in the order of their queries.
class ScheduleList {
public:
  explicit ScheduleList(ArrayRef<ScheduleAttr> defaults) : defaults(defaults) {}

  /// Adds what the defaults say about these queries.
  void addDefaults(int64_t least, int64_t most) {
    for (ScheduleAttr schedule : defaults)
      if (schedule.getLeastQueries() <= most && schedule.getMostQueries() >= least)
        add(schedule, std::max(least, schedule.getLeastQueries()), std::min(most, schedule.getMostQueries()));
  }

  /// Adds a schedule for the queries after those before it.
  void add(ScheduleAttr schedule, int64_t least, int64_t most) {
    if (!list.empty() &&
        list.back() == schedule.forQueries(list.back().getLeastQueries(), list.back().getMostQueries()))
      list.back() = schedule.forQueries(list.back().getLeastQueries(), most);
    else
      list.push_back(schedule.forQueries(least, most));
  }

  SmallVector<ScheduleAttr> list;

private:
  ArrayRef<ScheduleAttr> defaults;
};

} // namespace

SmallVector<ScheduleAttr> tune::mergeSchedules(ArrayRef<ScheduleAttr> defaults,
                                               ArrayRef<std::pair<SizeRange, ScheduleAttr>> records) {
  ScheduleList merged(defaults);
  int64_t next = 0;
  bool isFull = false;
  for (size_t i = 0; i < records.size() && !isFull; ++i) {
    const auto &[queries, schedule] = records[i];
    if (queries.least < next)
      continue;
    int64_t most = queries.most;
    for (ScheduleAttr around : defaults)
      if (around.serves(queries.most))
        most = around.getMostQueries();
    if (i + 1 < records.size() && records[i + 1].first.least > queries.least)
      most = std::min(most, records[i + 1].first.least - 1);
    if (queries.least > next)
      merged.addDefaults(next, queries.least - 1);
    if (schedule)
      merged.add(schedule, queries.least, most);
    else
      merged.addDefaults(queries.least, most);
    isFull = most == attn::unlimitedQueries;
    next = isFull ? most : most + 1;
  }
  if (!isFull)
    merged.addDefaults(next, attn::unlimitedQueries);
  return std::move(merged.list);
}

/// The schedules of one program.
static SmallVector<ScheduleAttr> selectProgram(ArrayRef<ScheduleAttr> schedules, attn::Program program) {
  SmallVector<ScheduleAttr> selected;
  llvm::copy_if(schedules, std::back_inserter(selected),
                [&](ScheduleAttr schedule) { return schedule.getProgram() == program; });
  return selected;
}

/// The schedule that a kernel has in `list` for one program; null for the default.
static ScheduleAttr findProgram(ArrayRef<ScheduleAttr> list, attn::Program program) {
  SmallVector<ScheduleAttr> selected = selectProgram(list, program);
  return selected.empty() ? ScheduleAttr() : selected.front();
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

/// Whether the target's own schedules of now, in `defaults`, are not those that `record` was measured against: then
/// nobody knows which are faster.
static bool isOutdated(const Record &record, MutableArrayRef<attn::KernelOpInterface> defaults) {
  if (record.beaten.size() != defaults.size())
    return !record.beaten.empty();
  const SizeRange &queries = record.shape.queries;
  for (auto [beaten, op] : llvm::zip_equal(record.beaten, defaults))
    for (const std::string &text : beaten) {
      bool isThere = llvm::any_of(op.getSchedules(), [&](ScheduleAttr schedule) {
        return schedule.getLeastQueries() <= queries.most && schedule.getMostQueries() >= queries.least &&
               print(schedule.forQueries(0, attn::unlimitedQueries)) == text;
      });
      if (!isThere)
        return true;
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
      SmallVector<std::pair<SizeRange, ScheduleAttr>> said;
      for (size_t i = 0; i < records.size(); ++i)
        said.push_back({records[i].record.shape.queries, findProgram((*read)[i][k], program)});
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
