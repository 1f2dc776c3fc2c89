//===- Tune.cpp - attnc tune ------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/engine/BuildId.h"
#include "runtime/jit/CompileTarget.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/ProgressBar.h"
#include "tools/attnc/UserRecords.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace attnc;
using namespace attnc::cli;
using image::Result;
using llvm::opt::InputArgList;
using tune::Trial;

/// What the command line says of how to tune.
static Result<tune::TuneOptions> readOptions(const InputArgList &args) {
  tune::TuneOptions options;
  constexpr int64_t mostRuns = 1'000'000;
  Result<int64_t> warmUps = getInteger(args, OPT_warmup, options.warmUps, 0),
                  iterations = getInteger(args, OPT_iterations, options.iterations, 1),
                  candidates = getInteger(args, OPT_candidates, options.mostCandidates, 1),
                  seed = getInteger(args, OPT_seed, 0, 0);
  for (Result<int64_t> *number : {&warmUps, &iterations, &candidates, &seed})
    if (!*number)
      return number->takeError();
  Result<double> seconds = getNumber(args, OPT_seconds, options.seconds);
  if (!seconds)
    return seconds.takeError();
  if (*seconds <= 0)
    return image::Error{"option '--seconds': expected more than 0, got '" + args.getLastArgValue(OPT_seconds).str() +
                        "'"};
  options.warmUps = static_cast<int>(std::min(*warmUps, mostRuns));
  options.iterations = static_cast<int>(std::min(*iterations, mostRuns));
  options.mostCandidates = *candidates;
  options.seconds = *seconds;
  options.seed = static_cast<uint64_t>(*seed);
  options.validateBackward = args.hasArg(OPT_validate_backward);
  return options;
}

/// The trials that were measured, those of a program together, the fastest first.
static std::vector<const Trial *> rank(const tune::Tuning &tuning) {
  std::vector<const Trial *> trials;
  llvm::SmallVector<llvm::StringRef> programs;
  for (const Trial &trial : tuning.trials) {
    if (trial.fault.empty())
      trials.push_back(&trial);
    if (!llvm::is_contained(programs, trial.program))
      programs.push_back(trial.program);
  }
  auto place = [&](const Trial *trial) { return llvm::find(programs, trial->program) - programs.begin(); };
  llvm::sort(trials, [&](const Trial *a, const Trial *b) {
    return std::make_pair(place(a), -a->ratio) < std::make_pair(place(b), -b->ratio);
  });
  return trials;
}

/// The times as a table: the fastest of each program, the chosen one, and the target's own.
static void printTable(const tune::Tuning &tuning) {
  constexpr int shownOfProgram = 8;
  llvm::raw_ostream &os = llvm::outs();
  os << "  program  time        speed  runs  schedule\n";
  int shown = 0;
  std::string program;
  for (const Trial *trial : rank(tuning)) {
    if (trial->program != program) {
      program = trial->program;
      shown = 0;
    }
    const Trial *first = &*llvm::find_if(tuning.trials, [&](const Trial &other) { return other.program == program; });
    if (++shown > shownOfProgram && !trial->isChosen && trial != first)
      continue;
    os << (trial->isChosen ? "* " : "  ") << llvm::left_justify(program, 8)
       << llvm::format(" %8.4g ms  %4.2fx  %4zu  ", 1e3 * trial->seconds, trial->ratio, trial->runs) << trial->schedule
       << (trial == first ? "  (the target's own)" : "") << '\n';
  }
}

static llvm::json::Value toJson(const tune::Tuning &tuning, llvm::StringRef device) {
  llvm::json::Array trials;
  for (const Trial &trial : tuning.trials) {
    llvm::json::Object object{{"program", trial.program}, {"schedule", trial.schedule}};
    if (!trial.fault.empty())
      object["fault"] = trial.fault;
    else
      object.insert({"median_s", trial.seconds});
    object["ratio"] = trial.ratio;
    object["runs"] = static_cast<int64_t>(trial.runs);
    object["chosen"] = trial.isChosen;
    trials.push_back(std::move(object));
  }
  const tune::Record &record = tuning.record;
  llvm::json::Array schedules;
  for (const std::vector<std::string> &list : record.schedules)
    schedules.push_back(llvm::json::Array(list));
  return llvm::json::Object{{"spec", record.name},
                            {"device", device},
                            {"target", record.target},
                            {"shape", record.sizes},
                            {"default_s", record.defaultSeconds},
                            {"best_s", record.bestSeconds},
                            {"gain", record.bestSeconds > 0 ? record.defaultSeconds / record.bestSeconds : 1},
                            {"candidates", record.candidates},
                            {"schedules", std::move(schedules)},
                            {"trials", std::move(trials)}};
}

static ExitCode run(const InputArgList &args) {
  Result<tune::TuneOptions> options = readOptions(args);
  if (!options)
    return fail(options.takeError());
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return fail(records.takeError());
  Result<Spec> spec = Spec::open(args);
  if (!spec)
    return fail(spec.takeError());
  Result<jit::Shapes> shapes = spec->resolveShapes(args);
  if (!shapes)
    return fail(shapes.takeError());
  Result<mlir::Attribute> machine = jit::findMachine(&spec->session->context(), spec->target->name);
  if (!machine)
    return fail(machine.takeError());
  ProgressBar bar;
  options->progress = [&](double share, const std::string &what) { bar.show(share, what); };
  options->remark = [&](const std::string &text) {
    bar.clear();
    remark(text);
  };
  Result<tune::Tuning> tuning = tune::tune(spec->getSubject(spec->kernel, *shapes), *options);
  bar.clear();
  if (!tuning)
    return fail(tuning.takeError());
  tuning->record.build = engine::getBuildId();
  std::string device = records->findDevice(spec->kernel, *machine, /*isHere=*/true);
  bool keeps = !args.hasArg(OPT_no_keep) && !device.empty();
  const bool isKept = !keeps || records->book().keep(device, tuning->record);
  const ExitCode code = isKept ? ExitCode::Success : ExitCode::BadUse;
  llvm::raw_ostream &os = llvm::outs();
  if (args.hasArg(OPT_json)) {
    os << llvm::formatv("{0:2}", toJson(*tuning, device)) << '\n';
    return code;
  }
  const tune::Record &record = tuning->record;
  os << '@' << record.name << " on " << device << " for " << record.target << ", " << record.sizes << '\n';
  printTable(*tuning);
  if (record.isDefaultBest())
    os << "best     the target's own schedules, "
       << llvm::format("%.4g ms, of %lld tried\n", 1e3 * record.defaultSeconds,
                       static_cast<long long>(record.candidates));
  else
    os << llvm::format("best     %.4g ms, was %.4g ms by heuristics: %.2f times as fast\n", 1e3 * record.bestSeconds,
                       1e3 * record.defaultSeconds, record.defaultSeconds / record.bestSeconds);
  if (std::string folder = findUserRecords(); keeps && isKept && !folder.empty())
    os << "kept     for " << record.shape.toString() << ", in " << tune::RecordStore(folder).pathOf(device) << '\n';
  return code;
}

const Command cli::tuneCommand = {
    "tune",
    TuneCommand,
    "SPEC --shape B=1,Sq=4096,Sk=4096 [options]",
    "Find the fastest schedules by trying, and remember them",
    "Tries schedules in the place of those that the compiler chooses by heuristics: candidates compile in parallel, "
    "each\n"
    "is held to the results of the compiler's own, and the fastest race in turns, so that a machine that warms up\n"
    "decides nothing. What fails is skipped with a remark. A candidate is chosen where it is at least 2% faster.\n"
    "\n"
    "The result is kept as a record: of this device, of what the spec says, and of sizes up to a factor of two around\n"
    "those given. From then on 'attnc run', 'compile', 'bench', 'verify', 'explain' and programs with the C library "
    "use\n"
    "it by themselves ('--policy' says otherwise), and 'attnc explain' says so. 'attnc records' lists, exports and\n"
    "imports records.\n",
    "  attnc tune llama3.mlir --shape B=1,Sq=4096,Sk=4096\n"
    "  attnc tune gemma2.mlir --shape B=8,Sq=1024,Sk=1024 --seconds 20 --backward\n"
    "  attnc explain llama3.mlir --shape B=1,Sq=3000,Sk=3000\n",
    /*takes=*/"spec",
    run,
};
