//===- ApiStressTest.cpp - Many compiles, launches and evictions *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Steps drawn at random, of which ATTNC_STRESS says how many (a few by
// default): what a server does over weeks must not take more and more memory.
//
//===----------------------------------------------------------------------===//

#include "../cache/CacheTestSupport.h"
#include "../runtime/Sanitizers.h"
#include "ApiTestSupport.h"
#include <cstdlib>
#include <fstream>
#include <malloc.h>
#include <random>
#include <unistd.h>

using namespace attnc;
using namespace attnc::test;

namespace {

/// A kernel that is held, and the sizes that it is launched with.
struct Held {
  attnc_variant variant;
  KernelHandle kernel;
};

class Stress {
public:
  Stress(const std::string &directory, uint64_t seed) : directory(directory), random(seed) { renewContext(); }

  /// One step: a new kernel, one that was there before, a launch, or an end.
  void step() {
    if (held.empty() || draw(8) == 0)
      add(draw(4) == 0 && !seen.empty() ? seen[draw(seen.size())] : drawVariant());
    else
      launch(held[draw(held.size())]);
    // Kernels outlive their context.
    if (held.size() > 24)
      held.erase(held.begin() + draw(held.size()));
    if (draw(200) == 0)
      renewContext();
  }

  int compiled = 0, launched = 0;

private:
  int64_t draw(size_t below) { return std::uniform_int_distribution<int64_t>(0, below - 1)(random); }

  void renewContext() {
    attnc_context_options options = {};
    options.struct_size = sizeof(options);
    options.cache_directory = directory.c_str();
    options.use_cache = 1;
    // Room for a few kernels, so that files go as others come.
    options.cache_bytes = 1 << 18;
    attnc_context *created = nullptr;
    ASSERT_EQ(take(attnc_context_create(&options, &created)), "");
    context = {created, attnc_context_destroy};
  }

  attnc_variant drawVariant() {
    attnc_variant variant = {};
    variant.struct_size = sizeof(variant);
    variant.dtype = ATTNC_F32;
    variant.key_heads = static_cast<int32_t>(1 + draw(2));
    variant.query_heads = static_cast<int32_t>(variant.key_heads * (1 + draw(3)));
    variant.head_dim = static_cast<int32_t>(8 * (1 + draw(4)));
    variant.causal = static_cast<int32_t>(draw(2));
    variant.window = variant.causal ? draw(30) : 0;
    variant.softcap = draw(3) ? 0 : static_cast<double>(1 + draw(1000)) / 8;
    variant.scale = static_cast<double>(1 + draw(4096)) / 1024;
    variant.lse = 1;
    return variant;
  }

  void add(const attnc_variant &variant) {
    attnc_spec *spec = nullptr;
    ASSERT_EQ(take(attnc_spec_create_variant(context.get(), &variant, &spec)), "");
    SpecHandle owned(spec, attnc_spec_destroy);
    held.push_back({variant, compile(context, owned)});
    compiled += originOf(held.back().kernel) == ATTNC_FROM_COMPILER;
    if (seen.size() < 64)
      seen.push_back(variant);
    else
      seen[draw(seen.size())] = variant;
  }

  /// Weights of a row add up to 1: of values that are all 1, so are the results.
  void launch(const Held &kernel) {
    const int64_t b = 1 + draw(2), rows = 1 + draw(40), keys = 1 + draw(60), h = kernel.variant.query_heads,
                  hk = kernel.variant.key_heads, d = kernel.variant.head_dim;
    std::vector<float> q(b * rows * h * d), k(b * keys * hk * d), v(k.size(), 1.0f), out(q.size()), lse(b * h * rows);
    for (std::vector<float> *tensor : {&q, &k})
      for (float &number : *tensor)
        number = std::normal_distribution<float>()(random);
    const int64_t sizes[5][4] = {{b, rows, h, d}, {b, keys, hk, d}, {b, keys, hk, d}, {b, rows, h, d}, {b, h, rows, 0}};
    float *addresses[] = {q.data(), k.data(), v.data(), out.data(), lse.data()};
    std::vector<attnc_value> values(5);
    for (int i = 0; i < 5; ++i) {
      values[i].kind = ATTNC_TENSOR;
      values[i].as.tensor = {reinterpret_cast<uint64_t>(addresses[i]), ATTNC_F32, i < 4 ? 4 : 3, sizes[i], nullptr};
    }
    attnc_launch_options options = {};
    options.struct_size = sizeof(options);
    options.values = values.data();
    options.num_values = values.size();
    options.value_size = sizeof(attnc_value);
    ASSERT_EQ(take(attnc_kernel_launch(kernel.kernel.get(), &options)), "");
    ++launched;
    // A causal query sees its own key where there are as many keys.
    if (kernel.variant.causal && rows > keys)
      return;
    for (float number : out)
      ASSERT_NEAR(number, 1.0f, 1e-5f);
  }

  std::string directory;
  std::mt19937_64 random;
  ContextHandle context{nullptr, attnc_context_destroy};
  std::vector<Held> held;
  std::vector<attnc_variant> seen;
};

/// Bytes of memory that this process has, without what the allocator would give back.
int64_t residentBytes() {
  malloc_trim(0);
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(ApiStress, DoesNotGrow) {
  const char *asked = std::getenv("ATTNC_STRESS");
  const int steps = asked ? static_cast<int>(std::strtol(asked, nullptr, 10)) : 120;
  TemporaryDirectory directory;
  Stress stress(directory.path(), /*seed=*/20);
  int64_t before = 0;
  for (int step = 0; step < steps; ++step) {
    stress.step();
    if (HasFatalFailure())
      return;
    if (step == steps / 2)
      before = residentBytes();
    if (asked && step % 1000 == 999) {
      std::printf("%d steps, %d compiled, %d launched, %lld MiB\n", step + 1, stress.compiled, stress.launched,
                  static_cast<long long>(residentBytes() >> 20));
      std::fflush(stdout); // Who waits for ten thousand steps may read a file.
    }
  }
  EXPECT_GT(stress.compiled, steps / 25);
  EXPECT_GT(stress.launched, steps / 2);
  // A kernel takes some 100 KiB: of ten thousand steps, the second half would leave some 60 MiB behind.
  if (!isThreadSanitized && !isAddressSanitized)
    EXPECT_LT(residentBytes() - before, 24 << 20);
}

} // namespace
