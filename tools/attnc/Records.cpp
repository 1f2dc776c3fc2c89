//===- Records.cpp - attnc records ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/InputFile.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/UserRecords.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attnc;
using namespace attnc::cli;
using image::Error;
using image::Result;
using image::Status;
using llvm::opt::InputArgList;
using tune::Record;
using tune::RecordList;
using tune::RecordStore;

/// The user's records.
static Result<RecordStore> openStore() {
  std::string folder = findUserRecords();
  if (folder.empty())
    return Error{"there are no records: the kernel cache, which holds them, is off"};
  return RecordStore(folder);
}

/// What a record says, on a line.
static std::string describe(const Record &record) {
  std::string gain =
      record.isDefaultBest() ? "  own" : llvm::formatv("{0:F2}x", record.defaultSeconds / record.bestSeconds).str();
  return llvm::formatv("  {0}  {1,-14} @{2}  {3}\n", gain, record.target, record.name, record.sizes).str();
}

static ExitCode list(const InputArgList &) {
  Result<RecordStore> user = openStore();
  if (!user)
    return fail(user.takeError());
  std::vector<std::string> paths = user->listFiles();
  if (std::string shipped = tune::findShippedRecords(); !shipped.empty())
    llvm::append_range(paths, RecordStore(shipped).listFiles());
  for (const std::string &path : paths) {
    Result<std::optional<RecordList>> read = tune::readRecordFile(path);
    if (!read) {
      remark(read.message());
      continue;
    }
    if (!*read)
      continue;
    llvm::outs() << (*read)->device << ": " << count((*read)->records.size(), "record") << ", in " << path << '\n';
    for (const Record &record : (*read)->records)
      llvm::outs() << describe(record);
  }
  if (paths.empty())
    llvm::outs() << "no records in " << user->path() << "; 'attnc tune' makes some\n";
  return ExitCode::Success;
}

static ExitCode verify(const InputArgList &) {
  Result<RecordStore> store = openStore();
  if (!store)
    return fail(store.takeError());
  size_t records = 0, damaged = 0;
  std::vector<std::string> paths = store->listFiles();
  for (const std::string &path : paths) {
    Result<std::optional<RecordList>> read = tune::readRecordFile(path);
    if (read && *read) {
      records += (*read)->records.size();
    } else if (!read) {
      ++damaged;
      llvm::outs() << read.message() << '\n';
    }
  }
  llvm::outs() << count(paths.size(), "file") << ", " << count(records, "record") << ", " << damaged << " damaged\n";
  return damaged ? ExitCode::Wrong : ExitCode::Success;
}

static ExitCode clear(const InputArgList &) {
  Result<RecordStore> store = openStore();
  if (!store)
    return fail(store.takeError());
  size_t files = 0;
  for (const std::string &path : store->listFiles()) {
    if (std::error_code error = llvm::sys::fs::remove(path))
      return fail("'" + path + "': " + error.message());
    ++files;
  }
  llvm::outs() << "removed " << count(files, "file") << '\n';
  return ExitCode::Success;
}

/// The device whose records are wanted: what --device names, or the only one that has some.
static Result<std::string> chooseDevice(const InputArgList &args, const RecordStore &store) {
  if (args.hasArg(OPT_device))
    return args.getLastArgValue(OPT_device).str();
  std::vector<std::string> devices;
  for (const std::string &path : store.listFiles())
    if (Result<std::optional<RecordList>> read = tune::readRecordFile(path); read && *read)
      devices.push_back((*read)->device);
  if (devices.empty())
    return Error{"there are no records in '" + store.path() + "'"};
  if (devices.size() > 1)
    return Error{"expected --device, as there are records of '" + llvm::join(devices, "', '") + "'"};
  return devices.front();
}

static ExitCode exportRecords(const InputArgList &args) {
  Result<RecordStore> store = openStore();
  if (!store)
    return fail(store.takeError());
  Result<std::string> device = chooseDevice(args, *store);
  if (!device)
    return fail(device.takeError());
  Result<RecordList> records = store->read(*device);
  if (!records)
    return fail(records.takeError());
  if (records->records.empty())
    return fail("there are no records of '" + *device + "' in '" + store->path() + "'");
  std::string text = tune::writeRecords(*records);
  if (Status status = writeFile(args.getLastArgValue(OPT_INPUT), [&](llvm::raw_ostream &os) { os << text; }); !status)
    return fail(status.takeError());
  llvm::errs() << "exported " << count(records->records.size(), "record") << " of " << *device << '\n';
  return ExitCode::Success;
}

static ExitCode importRecords(const InputArgList &args) {
  Result<RecordStore> store = openStore();
  if (!store)
    return fail(store.takeError());
  llvm::StringRef path = args.getLastArgValue(OPT_INPUT);
  auto file = jit::readInput(path, tune::longestRecordFile);
  if (!file)
    return fail(file.takeError());
  Result<RecordList> records = tune::readRecords((*file)->getBuffer());
  if (!records)
    return fail("cannot import '" + path + "': " + records.message());
  if (Status status = store->add(*records, remark); !status)
    return fail(status.takeError());
  llvm::outs() << "imported " << count(records->records.size(), "record") << " of " << records->device << " into "
               << store->pathOf(records->device) << '\n';
  return ExitCode::Success;
}

/// The verbs.
static llvm::ArrayRef<Command> getVerbs() {
  static const Command verbs[] = {
      {"records list", RecordsCommand, "", "Show what was tuned",
       "Lists the records of all devices, the user's and those that came with attnc: by how much tuning was faster "
       "than\n"
       "the heuristics ('own' where nothing was), the target, the function, and the sizes.\n",
       "  attnc records list\n", "", list},
      {"records verify", RecordsCommand, "", "Check the files of records",
       "Reads every file of the user's and checks its content. A damaged one is named, and the exit status is 1; "
       "until\n"
       "the next 'attnc tune' replaces it, its device has none.\n",
       "  attnc records verify\n", "", verify},
      {"records clear", RecordsCommand, "", "Forget what was tuned", "Removes the user's records of all devices.\n",
       "  attnc records clear\n", "", clear},
      {"records export", RecordsCommand, "FILE", "Write the records of a device to a file",
       "Writes the records of one device to FILE, for 'attnc records import' elsewhere or for --records; '-' is "
       "standard\n"
       "output. Under the name that the file has here it can also be shipped, in share/attnc/records of an "
       "installation.\n",
       "  attnc records export h200.json --device 'NVIDIA H200'\n", "file", exportRecords},
      {"records import", RecordsCommand, "FILE", "Add the records of a file",
       "Adds the records of FILE, which 'attnc records export' wrote; '-' is standard input. A record of the same "
       "spec,\n"
       "target and sizes is replaced. FILE is checked before anything is written, and a schedule that a machine "
       "cannot\n"
       "have is not used.\n",
       "  attnc records import h200.json\n", "file", importRecords},
  };
  return verbs;
}

const Command cli::recordsCommand = {
    "records",
    RecordsCommand,
    "VERB",
    "Look after what tuning found out",
    "'attnc tune' keeps which schedules were the fastest: JSON files, one for each device, in the folder 'records' of "
    "the\n"
    "kernel cache (see 'attnc cache --help'). They are of the spec's function and of sizes in octaves, hold no code, "
    "and\n"
    "may be given to others who have the same device.\n",
    "  attnc records list\n"
    "  attnc records export h200.json\n"
    "  attnc records import --help\n",
    /*takes=*/"",
    /*run=*/nullptr,
    getVerbs,
};
