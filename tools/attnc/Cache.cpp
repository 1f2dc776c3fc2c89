//===- Cache.cpp - attnc cache ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheArchive.h"
#include "runtime/jit/InputFile.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/OutputFile.h"
#include "tools/attnc/UserCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <ctime>

using namespace attnc;
using namespace attnc::cli;
using cache::ArchiveCounts;
using cache::Bytes;
using cache::CacheDirectory;
using cache::FileKind;
using cache::StoredFile;
using image::Result;
using image::Status;

/// The user's cache, and its files, of which there are none where the directory is not there.
struct OpenCache {
  CacheDirectory directory;
  std::vector<StoredFile> files;
  int64_t maxBytes;

  static Result<OpenCache> open() {
    cache::CacheOptions options = readUserCache();
    if (!options.complaint.empty())
      return image::Error{options.complaint};
    if (options.directory.empty())
      return image::Error{"there is no kernel cache: ATTNC_CACHE is 'off'"};
    CacheDirectory directory(options.directory);
    Result<std::vector<StoredFile>> files = directory.list();
    // It is made when the first file is put there.
    llvm::sys::fs::file_status status;
    if (!files && llvm::sys::fs::status(options.directory, status) != std::errc::no_such_file_or_directory)
      return image::Error{"cannot read the kernel cache '" + options.directory + "': " + files.message()};
    return OpenCache{directory, files ? std::move(*files) : std::vector<StoredFile>(), options.maxBytes};
  }

  int64_t bytes() const {
    int64_t total = 0;
    for (const StoredFile &file : files)
      total += file.bytes;
    return total;
  }
};

/// "41.2 KiB".
static std::string printBytes(int64_t bytes) {
  if (bytes < 1024)
    return llvm::formatv("{0} B", bytes).str();
  double size = static_cast<double>(bytes) / 1024;
  const char *unit = " KiB";
  for (const char *next : {" MiB", " GiB"})
    if (size >= 1024) {
      size /= 1024;
      unit = next;
    }
  return llvm::formatv("{0:F1}", size).str() + unit;
}

/// A time of the cache, here.
static std::string printTime(int64_t stamp) {
  const std::time_t seconds = stamp / 1'000'000'000;
  std::tm here = {};
  char text[32] = "";
  if (!::localtime_r(&seconds, &here) || !std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &here))
    return "?";
  return text;
}

/// What is wrong with a file; an error for those of another version as well.
static Status check(const OpenCache &cache, const StoredFile &file) {
  Result<Bytes> content = cache.directory.read(file.name);
  if (!content)
    return content.takeError();
  return cache::checkWhole(file.name, *content);
}

static ExitCode list(const llvm::opt::InputArgList &) {
  Result<OpenCache> cache = OpenCache::open();
  if (!cache)
    return fail(cache.takeError());
  llvm::raw_ostream &os = llvm::outs();
  size_t kernels = 0;
  // The most recently used first.
  for (const StoredFile &file : llvm::reverse(cache->files)) {
    if (file.name.kind != FileKind::Entry)
      continue;
    ++kernels;
    Result<Bytes> content = cache->directory.read(file.name);
    Result<image::KernelImage> image =
        content ? cache::unpackEntry(file.name.key, *content) : Result<image::KernelImage>(content.takeError());
    os << cache::toHex(file.name.key).substr(0, 12) << "  " << printTime(file.lastUse) << "  "
       << llvm::right_justify(printBytes(file.bytes), 10) << "  ";
    if (image)
      os << llvm::left_justify(image->target, 14) << " @" << image->name << "  " << image->buildId.substr(0, 18)
         << '\n';
    else
      os << "cannot be read: " << image.message() << '\n';
  }
  os << cache->directory.path() << ": " << count(kernels, "kernel") << ", " << printBytes(cache->bytes()) << " of "
     << printBytes(cache->maxBytes) << '\n';
  return ExitCode::Success;
}

static ExitCode verify(const llvm::opt::InputArgList &) {
  Result<OpenCache> cache = OpenCache::open();
  if (!cache)
    return fail(cache.takeError());
  size_t damaged = 0;
  for (const StoredFile &file : cache->files)
    if (Status status = check(*cache, file); !status) {
      ++damaged;
      llvm::outs() << cache->directory.pathOf(file.name) << ": " << status.message() << '\n';
    }
  llvm::outs() << count(cache->files.size(), "file") << ", " << damaged << " damaged\n";
  return damaged ? ExitCode::Wrong : ExitCode::Success;
}

static ExitCode clear(const llvm::opt::InputArgList &) {
  Result<OpenCache> cache = OpenCache::open();
  if (!cache)
    return fail(cache.takeError());
  // And what processes left that were killed.
  cache->directory.shrink(0);
  Result<std::vector<StoredFile>> left = cache->directory.list();
  if (left && !left->empty())
    return fail("cannot remove the files of '" + cache->directory.path() + "'");
  llvm::outs() << "removed " << count(cache->files.size(), "file") << ", " << printBytes(cache->bytes()) << '\n';
  return ExitCode::Success;
}

/// "2 kernels, 1 alias".
static std::string describe(const ArchiveCounts &counts) {
  std::string text = count(counts.kernels, "kernel") + ", " + std::to_string(counts.aliases) +
                     (counts.aliases == 1 ? " alias" : " aliases");
  if (counts.leftOut)
    text += "; " + count(counts.leftOut, "file") + " left out, damaged or of another version";
  return text;
}

static ExitCode exportCache(const llvm::opt::InputArgList &args) {
  llvm::StringRef path = args.getLastArgValue(OPT_INPUT);
  Result<OpenCache> cache = OpenCache::open();
  if (!cache)
    return fail(cache.takeError());
  if (cache->files.empty())
    return fail("the kernel cache '" + cache->directory.path() + "' is empty");
  ArchiveCounts counts;
  Result<Bytes> archive = cache::exportArchive(cache->directory, counts);
  if (!archive)
    return fail("'" + cache->directory.path() + "': " + archive.message());
  Status written = writeFile(
      path, [&](llvm::raw_ostream &os) { os.write(reinterpret_cast<const char *>(archive->data()), archive->size()); });
  if (!written)
    return fail(written.takeError());
  llvm::errs() << "exported " << describe(counts) << '\n';
  return ExitCode::Success;
}

/// How many of `names` are in `directory`.
static size_t countThere(const CacheDirectory &directory, llvm::ArrayRef<cache::FileName> names) {
  return llvm::count_if(names,
                        [&](const cache::FileName &name) { return llvm::sys::fs::exists(directory.pathOf(name)); });
}

static ExitCode importCache(const llvm::opt::InputArgList &args) {
  llvm::StringRef path = args.getLastArgValue(OPT_INPUT);
  Result<OpenCache> cache = OpenCache::open();
  if (!cache)
    return fail(cache.takeError());
  // Twice what a cache holds unless its user says otherwise.
  constexpr size_t most = size_t(1) << 31;
  auto file = jit::readInput(path, most);
  if (!file)
    return fail(file.takeError());
  llvm::StringRef bytes = (*file)->getBuffer();
  Result<ArchiveCounts> counts =
      cache::importArchive(cache->directory, {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  if (!counts)
    return fail("cannot import '" + path + "': " + counts.message());
  cache->directory.shrink(cache->maxBytes);
  // The least recently used have gone: files that were here before, and then the archive's own.
  if (size_t lost = counts->written.size() - countThere(cache->directory, counts->written))
    return fail(std::to_string(lost) + " of " + count(counts->written.size(), "file") + " of '" + path +
                "' did not stay in '" + cache->directory.path() + "', which holds at most " +
                printBytes(cache->maxBytes) + "; ATTNC_CACHE_BYTES says how much");
  llvm::outs() << "imported " << describe(*counts) << " into " << cache->directory.path() << '\n';
  return ExitCode::Success;
}

/// The verbs.
static llvm::ArrayRef<Command> getVerbs() {
  static const Command verbs[] = {
      {"cache list", CacheCommand, "", "Show what is in the cache",
       "Lists the kernels, the most recently used first: the beginning of the key, when it was last used, its size, "
       "the\n"
       "target, the function, and the build of attnc that compiled it.\n",
       "  attnc cache list\n", "", list},
      {"cache verify", CacheCommand, "", "Check every file of the cache",
       "Reads every file and checks its content. A damaged one is named, and the exit status is 1; the next run that "
       "asks\n"
       "for it compiles its kernel anew.\n",
       "  attnc cache verify\n", "", verify},
      {"cache clear", CacheCommand, "", "Empty the cache",
       "Removes the files of the cache. Others in its directory stay, and so does what running programs have loaded.\n",
       "  attnc cache clear\n", "", clear},
      {"cache export", CacheCommand, "FILE", "Write the cache to an archive",
       "Writes all kernels to FILE, for 'attnc cache import' on another machine; '-' is standard output. What is "
       "damaged\n"
       "is left out.\n"
       "\n"
       "To ship kernels, compile them into a cache of their own: see the examples.\n",
       "  attnc cache export kernels.cache\n"
       "  ATTNC_CACHE_DIR=ship attnc compile llama3.mlir --target nvptx:sm_90a -o /dev/null\n"
       "  ATTNC_CACHE_DIR=ship attnc cache export llama3.cache\n",
       "file", exportCache},
      {"cache import", CacheCommand, "FILE", "Add an archive to the cache",
       "Adds the kernels of FILE, which 'attnc cache export' wrote, to the cache; '-' is standard input. A kernel of "
       "the\n"
       "same key is replaced. FILE is checked before anything is written; but kernels are code: import what you "
       "trust.\n"
       "\n"
       "An imported kernel needs no compiler: programs with the library libattnc-runtime launch it.\n",
       "  attnc cache import kernels.cache\n"
       "  ATTNC_CACHE_DIR=/opt/engine/kernels attnc cache import llama3.cache\n",
       "file", importCache},
  };
  return verbs;
}

const Command cli::cacheCommand = {
    "cache",
    CacheCommand,
    "VERB",
    "Look after the compiled kernels that are kept",
    "A kernel is compiled once: 'attnc run' and programs with the C library keep it in files, which all processes "
    "share,\n"
    "and take it from there. What it is kept under is a digest of the spec's function, the target, the schedule and "
    "the\n"
    "build of the compiler: nothing of a launch. While one process compiles a kernel, the others wait.\n"
    "\n"
    "'attnc compile' always compiles, and keeps the image; 'attnc verify' and 'attnc bench' compile and keep nothing.\n"
    "\n"
    "Environment:\n"
    "  ATTNC_CACHE        off: no files; on (default): files\n"
    "  ATTNC_CACHE_DIR    where they are; else $XDG_CACHE_HOME/attnc, else ~/.cache/attnc\n"
    "  ATTNC_CACHE_BYTES  the most bytes of all (default 1 GiB); the least recently used go first\n",
    "  attnc cache list\n"
    "  attnc cache export kernels.cache\n"
    "  attnc cache import --help\n",
    /*takes=*/"",
    /*run=*/nullptr,
    getVerbs,
};
