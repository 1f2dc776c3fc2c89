//===- Explanation.cpp - What the compiler decided --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/Explanation.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/TargetInterface.h"
#include "runtime/cache/CacheDirectory.h"
#include "runtime/explain/Formula.h"
#include "runtime/explain/MaskPicture.h"
#include "runtime/explain/Roofline.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/SpecDiagnostics.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace attnc;
using namespace attnc::explain;
using image::Result;

namespace {

/// Prints explanations, part by part.
class Printer {
public:
  Printer(llvm::raw_ostream &os, const attn::KernelFunction &kernel) : os(os), formulas(kernel) {}

  void explainOperation(attn::KernelOpInterface op, attn::SizesAttr sizes);
  void explainChoice(const tune::Choice &choice);
  void explainMemory(const image::KernelImage &image);
  void explainCache(const cache::Digest &key, const std::string &folder, const std::string &complaint);
  void explainMasks(const jit::Shapes &shapes, llvm::ArrayRef<MaskWork> masks, unsigned columns);
  void explainWork(const Work &work);
  void explainLimits(const Work &work, const PeakRates &peak);

  /// Prints "label    ", in bold where that shows; what follows is the text of the line.
  llvm::raw_ostream &line(llvm::StringRef label) {
    os.changeColor(llvm::raw_ostream::SAVEDCOLOR, /*Bold=*/true) << llvm::left_justify(label, 9);
    return os.resetColor();
  }

private:
  void explainPipeline(attn::ScheduleAttr schedule);
  void explainSchedules(attn::KernelOpInterface op, attn::SizesAttr sizes);
  void explainDerivative(attn::BackwardOp op);
  void explainScattered(const attn::CapturedGradient &captured, llvm::ArrayRef<std::string> yielded);

  llvm::raw_ostream &os;
  FormulaPrinter formulas;
};

} // namespace

/// "[low, high)" of two formulas.
static std::string interval(llvm::StringRef low, llvm::StringRef high) {
  return ("[" + low + ", " + (FormulaPrinter::isUnbounded(high) ? "Sk" : high) + ")").str();
}

/// What a warpgroup adds up that only does that, or nothing.
static llvm::StringRef explainReducer(attn::ScheduleAttr schedule) {
  if (schedule.getPipeline().getReducerRegisters() == 0)
    return "";
  return schedule.getProgram() == attn::Program::Dkdv ? "one has gradients of keys, "
                                                      : "one adds up gradients of queries, ";
}

/// How a GPU overlaps the steps of a schedule, and the registers that it takes.
void Printer::explainPipeline(attn::ScheduleAttr schedule) {
  attn::PipelineAttr pipeline = schedule.getPipeline();
  line("");
  bool byTma = pipeline.getStaging() == attn::Staging::Tma;
  os << pipeline.getConsumers() << (pipeline.getConsumers() == 1 ? " warpgroup computes, " : " warpgroups compute, ")
     << (schedule.countPartsOfRows() > 1 ? "each some of the columns, " : "") << explainReducer(schedule)
     << (byTma ? "one loads by TMA" : "all warps load by cp.async") << ", " << pipeline.getStages()
     << (pipeline.getStages() == 1 ? " stage" : " stages") << " of " << (schedule.tilesKeys() ? "queries" : "keys")
     << (pipeline.getWeightsAhead() ? ", weights a step ahead" : "");
  if (byTma) {
    os << "; " << pipeline.getConsumerRegisters();
    if (pipeline.getReducerRegisters())
      os << ", " << pipeline.getReducerRegisters();
    os << " and " << pipeline.getProducerRegisters() << " registers a thread";
  }
  os << '\n';
}

/// The schedules of one operation, and what they take of the machine; which of them are for a launch of `sizes`, where
/// these are known.
void Printer::explainSchedules(attn::KernelOpInterface op, attn::SizesAttr sizes) {
  auto target = op->getParentOfType<mlir::ModuleOp>()->getAttrOfType<attn::TargetInterface>(attn::targetAttrName);
  llvm::SmallVector<attn::ScheduleAttr> schedules = op.getSchedules();
  std::set<attn::Program> used;
  for (attn::ScheduleAttr schedule : schedules) {
    bool only = llvm::count_if(schedules, [&](attn::ScheduleAttr other) {
                  return other.getProgram() == schedule.getProgram();
                }) == 1;
    line("schedule");
    if (schedule.getProgram() != attn::Program::Forward)
      os << attn::stringifyProgram(schedule.getProgram()) << ": ";
    os << "query tile " << schedule.getQueryTile() << ", key tile " << schedule.getKeyTile() << ", panel "
       << schedule.getPanel();
    if (schedule.getHeads() > 1)
      os << ", " << schedule.getHeads() << " heads a tile";
    if (!schedule.isUniversal())
      os << ", for " << schedule.getWhen().toString();
    else if (!only)
      os << ", for others";
    if (!only && sizes && schedule.getWhen().contains(sizes) && used.insert(schedule.getProgram()).second)
      os << ": used here";
    os << '\n';
    if (attn::PipelineAttr pipeline = schedule.getPipeline())
      explainPipeline(schedule);
    if (int64_t splits = schedule.getSplits())
      line("") << "keys in " << splits << " parts of each row, which a second kernel combines\n";
    else if (int64_t blocks = schedule.getSplitBlocks())
      line("") << "keys in as many parts as " << blocks << " blocks allow; a second kernel combines several\n";
    if (std::string taken = target.explainSchedule(schedule); !taken.empty())
      line("") << taken << '\n';
  }
}

/// The gradients that a score hands on: of its logit, and of what it reads of captured tensors.
void Printer::explainDerivative(attn::BackwardOp op) {
  std::vector<std::string> gradients = formulas.printYields(op.getDerivative());
  line("") << "its gradient: " << gradients.front() << '\n';
  for (const attn::CapturedGradient &captured : attn::getCapturedGradients(op)) {
    if (captured.form == attn::CapturedForm::Scattered) {
      explainScattered(captured, llvm::ArrayRef(gradients).drop_front(captured.yielded));
      continue;
    }
    line("") << "of " << formulas.tensorName(captured.tensor) << "[";
    llvm::interleaveComma(captured.axes(), os,
                          [&](std::optional<attn::Coordinate> axis) { os << attn::getAxisLetter(axis); });
    os << "]: " << gradients[captured.yielded];
    if (captured.form == attn::CapturedForm::Buckets)
      os << ", n = " << gradients[captured.yielded + 1];
    os << '\n';
  }
}

/// The same of a tensor whose gradient is scattered: what each read adds, and where.
void Printer::explainScattered(const attn::CapturedGradient &captured, llvm::ArrayRef<std::string> yielded) {
  for (const attn::Axes &read : captured.reads) {
    line("") << "of " << formulas.tensorName(captured.tensor) << "[";
    llvm::ArrayRef<std::string> indices = yielded.drop_front();
    llvm::SmallVector<unsigned> computed = captured.computedDims(read);
    llvm::interleaveComma(llvm::seq<unsigned>(read.size()), os, [&](unsigned dim) {
      if (!llvm::is_contained(computed, dim)) {
        os << attn::getAxisLetter(read[dim]);
        return;
      }
      os << indices.front();
      indices = indices.drop_front();
    });
    os << "], added up in memory: " << yielded.front() << '\n';
    yielded = indices;
  }
}

/// What was decided for one operation: its regions as formulas, and its schedules.
void Printer::explainOperation(attn::KernelOpInterface op, attn::SizesAttr sizes) {
  auto query = mlir::cast<mlir::RankedTensorType>(op.getQuery().getType());
  line("kernel");
  os << op->getName() << ", " << query.getElementType() << ", " << op.getQueryHeads() << " query heads on "
     << op.getKeyHeads() << ", D " << op.getHeadDim();
  if (mlir::Value value = op.getValueOrNull())
    os << ", Dv " << mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().back();
  if (op.isPacked())
    os << (op.isPaged() ? ", packed queries" : ", packed sequences");
  if (op.isPaged())
    os << ", keys in pages of " << op.getPageRows();
  os << '\n';
  if (!op.getScore().empty())
    line("score") << formulas.printYields(op.getScore()).front() << '\n';
  if (mlir::Region *derivative = op.getDerivativeOrNull(); derivative && !derivative->empty())
    explainDerivative(mlir::cast<attn::BackwardOp>(op.getOperation()));
  if (op.getMask().empty()) {
    line("mask") << "none: every tile is full\n";
  } else {
    line("mask") << formulas.printYields(op.getMask()).front() << '\n';
    if (op.getAlign() == attn::Alignment::BottomRight)
      line("") << "i is the row of the query plus Sk - Sq of its sequence"
               << (op.getQOffset() ? ", plus the query offset\n" : "\n");
  }
  std::vector<std::string> bounds = formulas.printYields(op.getBounds());
  if (bounds.size() == 4) {
    line("bounds") << "keys " << interval(bounds[0], bounds[3]) << " for queries [i_first, i_last]\n";
    if (FormulaPrinter::isUnbounded(bounds[1]) || bounds[2] == "0")
      line("") << "full tiles are not known from positions alone\n";
    else
      line("") << "full " << interval(bounds[1], bounds[2]) << '\n';
  }
  if (mlir::Region *region = op.getQueryBoundsOrNull(); region && !region->empty()) {
    std::vector<std::string> ends = formulas.printYields(*region);
    line("") << "queries at " << interval(ends[0], ends[3]) << " for keys [j_first, j_last]\n";
  }
  std::vector<std::string> blocks = formulas.printYields(op.getBlocks());
  if (blocks.size() == 2) {
    line("blocks") << "some kept where " << blocks[0] << '\n';
    line("") << "all kept where " << blocks[1] << '\n';
  }
  explainSchedules(op, sizes);
}

/// Where the schedules come from, and why from there.
void Printer::explainChoice(const tune::Choice &choice) {
  line("chosen");
  os << "by " << tune::getName(choice.source);
  os << (choice.why.empty() ? "" : ": ") << choice.why << '\n';
  for (const tune::FoundRecord &found : choice.records) {
    const tune::Record &record = found.record;
    const tune::SizeRange &queries = record.shape.queries;
    line("record") << queries.min << " to " << queries.max << " queries, measured at " << record.sizes << ": "
                   << (record.isDefaultBest() ? "the target's own schedules are the best"
                                              : llvm::formatv("{0:F2} times as fast as by heuristics, the best",
                                                              record.defaultSeconds / record.bestSeconds)
                                                    .str())
                   << " of " << record.candidates << " tried\n";
    line("") << "from " << tune::getName(found.source) << (found.place.empty() ? "" : ", ") << found.place << '\n';
  }
}

/// The memory of its own that a kernel takes.
void Printer::explainMemory(const image::KernelImage &image) {
  int64_t bytes = 0;
  for (const image::KernelEntry &entry : image.entries) {
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
void Printer::explainLimits(const Work &work, const PeakRates &peak) {
  line("machine") << printScaled(peak.flops) << "FLOP/s, " << printCount(peak.exponentials) << " exponentials/s, "
                  << printScaled(peak.bytes) << "B/s, measured on this CPU";
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

/// What the masks keep.
void Printer::explainMasks(const jit::Shapes &shapes, llvm::ArrayRef<MaskWork> masks, unsigned columns) {
  for (const MaskWork &mask : masks) {
    os << '\n';
    line("tiles") << shapes.toString() << (shapes.batch() > 1 ? ", sequence " + std::to_string(mask.mapBatch) : "")
                  << "\n";
    drawText(mask.map, columns, 32, os);
    line("kept") << (mask.estimated ? "about " : "")
                 << llvm::format("%.2f%% of ", mask.allPairs > 0 ? 100 * mask.keptPairs / mask.allPairs : 0.0)
                 << printScaled(mask.allPairs) << " pairs, over all sequences and heads\n";
  }
}

/// What the pairs that are kept cost.
void Printer::explainWork(const Work &work) {
  line("work") << printScaled(work.flops) << "FLOP and " << printCount(work.exponentials)
               << " exponentials on kept pairs, " << printScaled(work.bytes) << "B: intensity "
               << llvm::format("%.3g", work.intensity()) << " FLOP for each byte\n";
}

/// Where the image is, or will be, or why it is kept nowhere.
void Printer::explainCache(const cache::Digest &key, const std::string &folder, const std::string &complaint) {
  if (folder.empty()) {
    line("cache") << "off: every run compiles\n";
    if (!complaint.empty())
      line("") << jit::makePrintable(complaint) << '\n';
    return;
  }
  cache::CacheDirectory directory(folder);
  const cache::FileName name{cache::FileKind::Entry, key};
  Result<cache::Bytes> file = directory.read(name);
  bool there = file && cache::unpackEntry(name.key, *file);
  if (image::Status status = directory.checkWritable(); !there && !status) {
    line("cache") << "not compiled yet, and every run does: it cannot be kept\n";
    line("") << "in '" << jit::makePrintable(folder) << "': " << status.message() << '\n';
    return;
  }
  line("cache") << (there ? "compiled before: runs take it from\n"
                          : "not compiled yet: the first run does, and keeps it in\n");
  line("") << directory.pathOf(name) << '\n';
}

static std::string functionName(const attn::KernelFunction &kernel) {
  mlir::func::FuncOp function = kernel.function;
  return function.getName().str();
}

Result<Explanation> Explanation::get(Subject subject) {
  Result<LoweredKernel> lowered = LoweredKernel::get(subject.session, subject.kernel, subject.machine);
  if (!lowered)
    return lowered.takeError();
  Result<image::KernelImage> image = jit::describeKernel(subject.session, subject.kernel, subject.machine);
  if (!image)
    return image.takeError();
  Explanation explanation(std::move(subject), std::move(*lowered), std::move(*image));
  const Subject &of = explanation.subject;
  if (!of.shapes)
    return explanation;
  auto inputs = jit::makeRandomInputs(of.kernel, *of.shapes, {of.seed, 1, /*drawValues=*/false});
  if (!inputs)
    return inputs.takeError();
  auto masks = measureMasks(explanation.lowered.kernel, *inputs);
  if (!masks)
    return masks.takeError();
  explanation.masks = std::move(*masks);
  if (of.machine == jit::targetOrHost(of.machine.getContext(), {}))
    explanation.peak = measurePeakRates();
  return explanation;
}

void Explanation::print(llvm::raw_ostream &os, unsigned columns) const {
  const attn::KernelFunction &kernel = lowered.kernel;
  Printer printer(os, kernel);
  printer.line("spec") << '@' << functionName(kernel) << ", target " << subject.target << '\n';
  for (attn::KernelOpInterface op : kernel.kernels)
    printer.explainOperation(op, subject.shapes ? subject.shapes->launchSizes(kernel, op) : attn::SizesAttr());
  printer.explainChoice(subject.choice);
  printer.explainMemory(image);
  if (subject.key)
    printer.explainCache(*subject.key, subject.cacheDirectory, subject.cacheComplaint);
  if (!subject.shapes) {
    os << "\nGive sizes for the picture of the mask's tiles: " << subject.shapes.message() << '\n';
    return;
  }
  printer.explainMasks(*subject.shapes, masks, columns);
  const Work work = countWork(kernel, *subject.shapes, masks);
  printer.explainWork(work);
  if (peak)
    printer.explainLimits(work, *peak);
}

void Explanation::drawSvg(llvm::raw_ostream &os) const {
  if (!subject.shapes)
    return;
  const std::string title = functionName(lowered.kernel) + ": " + subject.shapes->toString();
  explain::drawSvg(masks.front().map, title, os);
}
