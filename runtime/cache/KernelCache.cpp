//===- KernelCache.cpp - Kernels that are compiled once --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/KernelCache.h"

#include <algorithm>
#include <iterator>

using namespace attnc;
using namespace attnc::cache;
using image::FunctionRef;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;

KernelCache::KernelCache(CacheOptions given) : options(std::move(given)) {
  if (!options.directory.empty())
    disk.emplace(options.directory);
  if (!options.complaint.empty())
    tellOnce(options.complaint);
}

/// What a compiler gave as what the cache gives.
static Result<CachedImage> wrap(Result<KernelImage> image) {
  if (!image)
    return image.takeError();
  return CachedImage{std::make_shared<const KernelImage>(std::move(*image)), Origin::Compiler};
}

void KernelCache::tell(const std::string &text) const {
  if (options.remark)
    options.remark(text);
}

void KernelCache::tellOnce(const std::string &text) {
  if (!told.exchange(true))
    tell(text);
}

bool KernelCache::isReady() {
  // Told after it is settled: who is told may compile, and come here.
  std::string complaint;
  std::call_once(created, [&] {
    if (!disk)
      return;
    Status status = disk->create();
    usable = static_cast<bool>(status);
    if (!status)
      complaint = "the kernel cache cannot be used: '" + disk->path() + "': " + status.message();
  });
  if (!complaint.empty())
    tellOnce(complaint);
  return usable;
}

std::optional<CachedImage> KernelCache::findInMemory(const Digest &key) {
  auto kept = index.find(key);
  if (kept == index.end())
    return std::nullopt;
  memory.splice(memory.begin(), memory, kept->second);
  return CachedImage{memory.front().image, Origin::Memory};
}

static int64_t sizeOf(const KernelImage &image) { return static_cast<int64_t>(image.bytes.size() + sizeof(image)); }

void KernelCache::forget(std::list<Kept>::iterator kept) {
  memoryBytes -= sizeOf(*kept->image);
  index.erase(kept->key);
  memory.erase(kept);
}

void KernelCache::remember(const Digest &key, std::shared_ptr<const KernelImage> image) {
  if (auto old = index.find(key); old != index.end())
    forget(old->second);
  memoryBytes += sizeOf(*image);
  memory.push_front({key, std::move(image)});
  index[key] = memory.begin();
  // The newest stays, whatever its size.
  while (memoryBytes > options.maxMemoryBytes && memory.size() > 1)
    forget(std::prev(memory.end()));
}

std::optional<CachedImage> KernelCache::findOnDisk(const Digest &key) {
  if (!isReady())
    return std::nullopt;
  const FileName name{FileKind::Entry, key};
  Result<Bytes> file = disk->read(name);
  if (!file)
    return std::nullopt;
  Result<KernelImage> image = unpackEntry(key, *file);
  if (!image) {
    tell("the kernel cache drops '" + disk->pathOf(name) + "': " + image.message());
    disk->remove(name);
    return std::nullopt;
  }
  disk->touch(name);
  return CachedImage{std::make_shared<const KernelImage>(std::move(*image)), Origin::Disk};
}

std::optional<CachedImage> KernelCache::find(const Digest &key) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (std::optional<CachedImage> found = findInMemory(key))
      return found;
  }
  std::optional<CachedImage> found = findOnDisk(key);
  if (found) {
    std::lock_guard<std::mutex> lock(mutex);
    remember(key, found->image);
  }
  return found;
}

Result<CachedImage> KernelCache::makeAlone(const Digest &key, FunctionRef<Result<KernelImage>()> make) {
  if (!isReady())
    return wrap(make());
  if (std::optional<CachedImage> found = findOnDisk(key))
    return *found;
  const FileName name{FileKind::Entry, key};
  // Where it cannot be had, two processes may do the same work.
  std::optional<CacheLock> lock = disk->lock(
      name, options.patience, [&] { tell("waiting for another process, which is compiling the same kernel"); });
  // Another may have made it in between.
  if (std::optional<CachedImage> found = findOnDisk(key))
    return *found;
  Result<CachedImage> made = wrap(make());
  if (made)
    write(name, packEntry(key, *made->image));
  return made;
}

Result<CachedImage> KernelCache::getOrMake(const Digest &key, FunctionRef<Result<KernelImage>()> make) {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (std::optional<CachedImage> found = findInMemory(key))
      return *found;
    if (flights.insert(key).second)
      break;
    landed.wait(lock);
  }
  lock.unlock();
  Result<CachedImage> made = makeAlone(key, make);
  lock.lock();
  if (made)
    remember(key, made->image);
  flights.erase(key);
  landed.notify_all();
  return made;
}

void KernelCache::write(const FileName &name, Span<const uint8_t> content) {
  if (Status status = disk->write(name, content); !status) {
    tellOnce("the kernel cache cannot be written: '" + disk->path() + "': " + status.message());
    return;
  }
  disk->shrink(options.maxBytes);
}

void KernelCache::put(const Digest &key, const KernelImage &image) {
  if (isReady())
    write({FileKind::Entry, key}, packEntry(key, image));
  std::lock_guard<std::mutex> lock(mutex);
  remember(key, std::make_shared<const KernelImage>(image));
}

/// What the alias of a request says; nothing where there is none, or none that can be read.
static std::vector<AliasTarget> readAlias(const CacheDirectory &disk, const Digest &request) {
  Result<Bytes> file = disk.read({FileKind::Alias, request});
  if (!file)
    return {};
  Result<std::vector<AliasTarget>> targets = unpackAlias(request, *file);
  return targets ? std::move(*targets) : std::vector<AliasTarget>();
}

std::vector<Digest> KernelCache::findAliases(const Digest &request) {
  std::vector<Digest> keys;
  if (isReady())
    for (const AliasTarget &target : readAlias(*disk, request))
      keys.push_back(target.key);
  if (!keys.empty())
    disk->touch({FileKind::Alias, request});
  return keys;
}

std::optional<Digest> KernelCache::findAlias(const Digest &request, const Digest &build) {
  if (isReady())
    for (const AliasTarget &target : readAlias(*disk, request))
      if (target.build == build) {
        disk->touch({FileKind::Alias, request});
        return target.key;
      }
  return std::nullopt;
}

void KernelCache::addAlias(const Digest &request, const AliasTarget &target) {
  if (!isReady())
    return;
  // Two processes that do this at once may forget one of the two, which then is compiled or found by its key.
  std::vector<AliasTarget> targets = readAlias(*disk, request);
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [&](const AliasTarget &other) { return other.build == target.build; }),
                targets.end());
  targets.insert(targets.begin(), target);
  if (targets.size() > mostBuilds)
    targets.resize(mostBuilds);
  write({FileKind::Alias, request}, packAlias(request, targets));
}
