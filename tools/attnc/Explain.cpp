//===- Explain.cpp - attnc explain ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/target/HostCpu.h"
#include "dialect/attn/CapturedGradients.h"
#include "runtime/engine/CachedCompile.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/CompileTarget.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/Formula.h"
#include "tools/attnc/MaskPicture.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/Roofline.h"
#include "tools/attnc/Spec.h"
#include "tools/attnc/UserCache.h"
#include "tools/attnc/UserRecords.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

using namespace attnc;
using namespace attnc::cli;
using runtime::Result;

/// Prints "label    text", with the label in bold where that shows.
static llvm::raw_ostream &line(llvm::StringRef label) {
  llvm::raw_ostream &os = llvm::outs();
  os.changeColor(llvm::raw_ostream::SAVEDCOLOR, /*Bold=*/true) << llvm::left_justify(label, 9);
  return os.resetColor();
}

/// "[low, high)" of two formulas.
static std::string interval(llvm::StringRef low, llvm::StringRef high) {
  return ("[" + low + ", " + (FormulaPrinter::isUnbounded(high) ? "Sk" : high) + ")").str();
}

/// The numbers of queries that a schedule is for: "up to 1535 queries", "1536 queries and more".
static std::string queriesOf(attn::ScheduleAttr schedule) {
  std::string least = std::to_string(schedule.getLeastQueries()), most = std::to_string(schedule.getMostQueries());
  if (schedule.getMostQueries() == attn::unlimitedQueries)
    return least + " queries and more";
  return schedule.getLeastQueries() == 0 ? "up to " + most + " queries" : least + " to " + most + " queries";
}

/// How a GPU overlaps the steps of a schedule, and the registers that it takes.
static void explainPipeline(attn::ScheduleAttr schedule) {
  attn::PipelineAttr pipeline = schedule.getPipeline();
  llvm::raw_ostream &os = line("");
  bool byTma = pipeline.getStaging() == attn::Staging::Tma;
  os << pipeline.getConsumers() << (pipeline.getConsumers() == 1 ? " warpgroup computes, " : " warpgroups compute, ")
     << (byTma ? "one loads by TMA" : "all warps load by cp.async") << ", " << pipeline.getStages()
     << (pipeline.getStages() == 1 ? " stage" : " stages") << " of " << (schedule.tilesKeys() ? "queries" : "keys");
  if (byTma)
    os << "; " << pipeline.getConsumerRegisters() << " and " << pipeline.getProducerRegisters()
       << " registers a thread";
  os << '\n';
}

/// The schedules of one operation, and what they take of the machine; which of them is for `queries`, where that is
/// known.
static void explainSchedules(attn::KernelOpInterface op, std::optional<int64_t> queries) {
  auto cpu = op->getParentOfType<mlir::ModuleOp>()->getAttrOfType<attn::CpuTargetAttr>(attn::targetAttrName);
  for (attn::ScheduleAttr schedule : op.getSchedules()) {
    llvm::raw_ostream &os = line("schedule");
    if (schedule.getProgram() != attn::Program::Forward)
      os << attn::stringifyProgram(schedule.getProgram()) << ": ";
    os << "query tile " << schedule.getQueryTile() << ", key tile " << schedule.getKeyTile() << ", panel "
       << schedule.getPanel();
    if (schedule.getHeads() > 1)
      os << ", " << schedule.getHeads() << " heads a tile";
    if (!schedule.isUniversal())
      os << ", for " << queriesOf(schedule) << (queries && schedule.serves(*queries) ? ": used here" : "");
    os << '\n';
    if (attn::PipelineAttr pipeline = schedule.getPipeline())
      explainPipeline(schedule);
    if (int64_t splits = schedule.getSplits())
      line("") << "keys in " << splits << " parts of each row, which a second kernel combines\n";
    else if (int64_t blocks = schedule.getSplitBlocks())
      line("") << "keys in as many parts as " << blocks << " blocks allow; a second kernel combines several\n";
    if (!cpu)
      continue;
    int64_t sums = schedule.getPanel() * 32 / cpu.getVectorBits() * cpu::columnsTogether(cpu);
    line("") << sums << " of " << cpu.getVectorRegisters() << " vector registers of " << cpu.getVectorBits()
             << " bits hold sums of products\n";
  }
}

/// The gradients that a score hands on: of its logit, and of what it reads of captured tensors.
static void explainDerivative(attn::BackwardOp op, FormulaPrinter &printer) {
  std::vector<std::string> gradients = printer.printYields(op.getDerivative());
  line("") << "its gradient: " << gradients.front() << '\n';
  for (const attn::CapturedGradient &captured : attn::getCapturedGradients(op)) {
    llvm::raw_ostream &os = line("") << "of " << printer.tensorName(captured.tensor) << "[";
    llvm::interleaveComma(captured.axes, os,
                          [&](std::optional<attn::Coordinate> axis) { os << attn::getAxisLetter(axis); });
    os << "]: " << gradients[captured.yielded];
    if (captured.form == attn::CapturedForm::Buckets)
      os << ", n = " << gradients[captured.yielded + 1];
    os << '\n';
  }
}

/// What was decided for one operation: its regions as formulas, and its schedules.
static void explainOperation(attn::KernelOpInterface op, std::optional<int64_t> queries, FormulaPrinter &printer) {
  auto query = mlir::cast<mlir::RankedTensorType>(op.getQuery().getType());
  llvm::raw_ostream &os = line("kernel");
  os << op->getName() << ", " << query.getElementType() << ", " << op.getQueryHeads() << " query heads on "
     << op.getKeyHeads() << ", D " << op.getHeadDim();
  if (mlir::Value value = op.getValueOrNull())
    os << ", Dv " << mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().back();
  os << (op.isPacked() ? ", packed sequences\n" : "\n");
  if (!op.getScore().empty())
    line("score") << printer.printYields(op.getScore()).front() << '\n';
  if (mlir::Region *derivative = op.getDerivativeOrNull(); derivative && !derivative->empty())
    explainDerivative(mlir::cast<attn::BackwardOp>(op.getOperation()), printer);
  if (op.getMask().empty()) {
    line("mask") << "none: every tile is full\n";
  } else {
    line("mask") << printer.printYields(op.getMask()).front() << '\n';
    if (op.getAlign() == attn::Alignment::BottomRight)
      line("") << "i is the row of the query plus Sk - Sq of its sequence"
               << (op.getQOffset() ? ", plus the query offset\n" : "\n");
  }
  std::vector<std::string> bounds = printer.printYields(op.getBounds());
  if (bounds.size() == 4) {
    line("bounds") << "keys " << interval(bounds[0], bounds[3]) << " for queries [i_first, i_last]\n";
    if (FormulaPrinter::isUnbounded(bounds[1]) || bounds[2] == "0")
      line("") << "full tiles are not known from positions alone\n";
    else
      line("") << "full " << interval(bounds[1], bounds[2]) << '\n';
  }
  if (mlir::Region *region = op.getQueryBoundsOrNull(); region && !region->empty()) {
    std::vector<std::string> ends = printer.printYields(*region);
    line("") << "queries at " << interval(ends[0], ends[3]) << " for keys [j_first, j_last]\n";
  }
  std::vector<std::string> blocks = printer.printYields(op.getBlocks());
  if (blocks.size() == 2) {
    line("blocks") << "some kept where " << blocks[0] << '\n';
    line("") << "all kept where " << blocks[1] << '\n';
  }
  explainSchedules(op, queries);
}

/// Where the schedules come from, and why from there.
static void explainChoice(const tune::Choice &choice) {
  llvm::raw_ostream &os = line("chosen");
  os << "by " << tune::getName(choice.source);
  os << (choice.why.empty() ? "" : ": ") << choice.why << '\n';
  for (const tune::FoundRecord &found : choice.records) {
    const tune::Record &record = found.record;
    const tune::SizeRange &queries = record.shape.queries;
    line("record") << queries.least << " to " << queries.most << " queries, measured at " << record.sizes << ": "
                   << (record.isDefaultBest() ? "the target's own schedules are the best"
                                              : llvm::formatv("{0:F2} times as fast as by heuristics",
                                                              record.defaultSeconds / record.bestSeconds)
                                                    .str())
                   << " of " << record.candidates << " tried\n";
    line("") << "from " << tune::getName(found.source) << (found.place.empty() ? "" : ", ") << found.place << '\n';
  }
}

/// The memory of its own that a kernel takes.
static void explainMemory(const runtime::KernelImage &image) {
  int64_t bytes = 0;
  for (const runtime::KernelEntry &entry : image.entries) {
    bytes = std::max(bytes, entry.scratchBytes);
    if (entry.threads != 0)
      line("memory") << entry.sharedBytes << " B of shared memory a block of " << entry.threads << " threads, in "
                     << entry.symbol << '\n';
  }
  if (!image.entries.empty() && image.entries.front().threads != 0)
    return;
  line("memory") << printScaled(static_cast<double>(bytes)) << "B of scratch a thread, whatever the sizes\n";
}

/// A number of things that have no unit: "1.37 M", "12".
static std::string printCount(double value) { return llvm::StringRef(printScaled(value)).rtrim().str(); }

/// What this machine can make of `work`, and which part of it binds.
static void explainLimits(const Work &work) {
  PeakRates peak = measurePeakRates();
  line("machine") << printScaled(peak.flops) << "FLOP/s, " << printCount(peak.exponentials) << " exponentials/s, "
                  << printScaled(peak.bytes) << "B/s, measured on this CPU";
  llvm::raw_ostream &os = llvm::outs();
  if (peak.bytes > 0)
    os << llvm::format("; balance %.3g FLOP for each byte", peak.flops / peak.bytes);
  os << '\n';
  Roofline roofline(work, peak);
  if (!(roofline.seconds() > 0))
    return;
  line("limit") << "attainable " << printScaled(work.flops / roofline.seconds())
                << "FLOP/s, bound by: " << roofline.bound() << '\n';
  line("") << llvm::format("alone, multiply-adds take %.3g ms, exponentials %.3g ms, memory %.3g ms\n",
                           1e3 * roofline.flopSeconds, 1e3 * roofline.exponentialSeconds, 1e3 * roofline.byteSeconds);
}

/// What the mask keeps and what that costs, at given sizes.
static void explainWork(const attn::KernelFunction &kernel, const jit::Shapes &shapes, llvm::ArrayRef<MaskWork> masks,
                        bool onCpu) {
  llvm::raw_ostream &os = llvm::outs();
  unsigned columns = llvm::sys::Process::StandardOutColumns();
  for (const MaskWork &mask : masks) {
    os << '\n';
    line("tiles") << shapes.toString() << (shapes.batch() > 1 ? ", sequence " + std::to_string(mask.mapBatch) : "")
                  << "\n";
    drawText(mask.map, columns > 20 ? std::min(columns, 140U) - 10 : 80, 32, os);
    line("kept") << (mask.estimated ? "about " : "")
                 << llvm::format("%.2f%% of ", mask.allPairs > 0 ? 100 * mask.keptPairs / mask.allPairs : 0.0)
                 << printScaled(mask.allPairs) << " pairs, over all sequences and heads\n";
  }
  Work work = countWork(kernel, shapes, masks);
  line("work") << printScaled(work.flops) << "FLOP and " << printCount(work.exponentials)
               << " exponentials on kept pairs, " << printScaled(work.bytes) << "B: intensity "
               << llvm::format("%.3g", work.intensity()) << " FLOP for each byte\n";
  if (onCpu)
    explainLimits(work);
}

/// Where the image of `kernel` for `machine` is, or will be.
static void explainCache(const attn::KernelFunction &kernel, mlir::Attribute machine) {
  cache::CacheOptions options = readUserCache();
  if (options.directory.empty()) {
    line("cache") << "off: every run compiles\n";
    return;
  }
  cache::CacheDirectory directory(options.directory);
  const cache::FileName name{cache::FileKind::Entry, engine::getKey(kernel, machine)};
  Result<cache::Bytes> file = directory.read(name);
  bool there = file && cache::unpackEntry(name.key, *file);
  line("cache") << (there ? "compiled before: runs take it from\n"
                          : "not compiled yet: the first run does, and keeps it in\n");
  line("") << directory.pathOf(name) << '\n';
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  Result<int64_t> seed = getInteger(args, OPT_seed, 0, 0);
  if (!seed)
    return fail(seed.takeError());
  if (args.hasArg(OPT_svg))
    if (runtime::Status status = checkOutput(args.getLastArgValue(OPT_svg), {args.getLastArgValue(OPT_INPUT)}); !status)
      return fail(status.takeError());
  Result<Spec> spec = Spec::openAlone(args);
  if (!spec)
    return fail(spec.takeError());
  // The machine need not be this one. The reference has no schedule; what this CPU's would be is shown instead.
  llvm::StringRef target = args.getLastArgValue(OPT_target, "auto");
  if (target == "auto" || target == "reference")
    target = "cpu";
  Result<mlir::Attribute> machine = jit::parseTargetAttr(&spec->session->context(), target);
  if (!machine)
    return fail(machine.takeError());
  bool sized = args.hasArg(OPT_shape) || args.hasArg(OPT_dim);
  Result<jit::Shapes> shapes = spec->resolveShapes(args);
  if (!shapes && (sized || args.hasArg(OPT_svg)))
    return fail(shapes.takeError());
  Result<UserRecords> records = UserRecords::open(args);
  if (!records)
    return fail(records.takeError());
  Result<tune::Choice> choice = records->choose(*spec->session, spec->kernel, *machine, shapes ? &*shapes : nullptr);
  if (!choice)
    return fail(choice.takeError());
  Result<LoweredSpec> lowered = LoweredSpec::get(*spec, *machine);
  if (!lowered)
    return fail(lowered.takeError());
  Result<runtime::KernelImage> image = jit::describeKernel(*spec->session, spec->kernel, *machine);
  if (!image)
    return fail(image.takeError());

  std::vector<MaskWork> masks;
  if (shapes) {
    auto inputs = jit::makeRandomInputs(spec->kernel, *shapes, {static_cast<uint64_t>(*seed), 1, /*drawValues=*/false});
    if (!inputs)
      return fail(inputs.takeError());
    auto measured = measureMasks(lowered->kernel, *inputs);
    if (!measured)
      return fail(measured.takeError());
    masks = std::move(*measured);
  }
  llvm::StringRef name = spec->kernel.function.getName();
  line("spec") << '@' << name << ", target " << target << '\n';
  FormulaPrinter printer(lowered->kernel);
  for (attn::KernelOpInterface op : lowered->kernel.kernels)
    explainOperation(op, shapes ? std::optional(shapes->queryRowsOfSequence()) : std::nullopt, printer);
  explainChoice(*choice);
  explainMemory(*image);
  if (!target.starts_with("sim"))
    explainCache(spec->kernel, *machine);
  if (shapes)
    explainWork(lowered->kernel, *shapes, masks, target == "cpu");
  else
    llvm::outs() << "\nGive sizes for the picture of the mask's tiles: " << shapes.message() << '\n';
  // Last, so that nothing is written where standard output fails.
  if (runtime::Status status = flushStandardOutput(); !status)
    return fail(status.takeError());
  if (args.hasArg(OPT_svg))
    if (runtime::Status status = writeFile(
            args.getLastArgValue(OPT_svg),
            [&](llvm::raw_ostream &os) { drawSvg(masks.front().map, (name + ": " + shapes->toString()).str(), os); });
        !status)
      return fail(status.takeError());

  return ExitCode::Success;
}

const Command cli::explainCommand = {
    "explain",
    ExplainCommand,
    "SPEC [--shape B=1,Sq=8192,Sk=8192] [options]",
    "Show what the compiler decided, and why",
    "Shows what became of a spec: score and mask as formulas, the keys that each tile of queries can see (bounds), "
    "the\n"
    "decision for each tile where positions do not settle it (blocks), and the schedule with the registers and the\n"
    "memory that it takes. --target takes what 'attnc compile' does: a GPU need not be here. Where short and long\n"
    "sequences have schedules of their own, sizes tell which is used. Last comes the file of the kernel in the cache.\n"
    "\n"
    "With sizes it draws the mask's tiles, · empty (never visited), ▒ partial (mask evaluated), █ full (no mask), and\n"
    "counts the work that the mask leaves: FLOPs and exponentials on kept pairs, bytes, FLOPs for each byte "
    "(intensity).\n"
    "Beside it stands what this CPU does at most, measured: where the intensity is below its balance, memory binds; "
    "the\n"
    "limit is the least time of the part that binds. Captured tensors hold the random inputs of 'attnc verify'.\n",
    "  attnc explain mistral.mlir\n"
    "  attnc explain mistral.mlir --shape B=1,Sq=16384,Sk=16384\n"
    "  attnc explain llama3.mlir --target nvptx:sm_90a --shape B=1,Sq=1024,Sk=1024\n"
    "  attnc explain packed_documents.mlir --shape B=1,Sq=4096 --svg documents.svg\n",
    /*takes=*/"spec",
    run,
};
