//===- ContextApi.cpp - Contexts, specs, compilations for C -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"
#include "runtime/cache/CacheEnvironment.h"
#include "runtime/cache/CacheKey.h"
#include "runtime/capi/CApi.h"
#include "runtime/capi/Context.h"
#include "runtime/capi/Variant.h"

using namespace attnc;
using namespace attnc::capi;
using image::Error;
using image::Result;

/// What handles of C stand for.
struct attnc_context {
  Context context;
};

struct attnc_spec {
  std::shared_ptr<const SpecSource> source;
  cache::Digest digest;
};

struct attnc_tuning {
  Tuned tuned;
};

struct attnc_explanation {
  Explained explained;
};

struct attnc_compilation {
  std::shared_ptr<Compilation> compilation;
  bool borrowed = false; ///< lent to a callback, and not the caller's to destroy
};

static std::string textOr(const char *text, const char *otherwise) { return text ? text : otherwise; }

int attnc_has_compiler() { return getCompiler() ? 1 : 0; }

attnc_error *attnc_context_create(const attnc_context_options *given, attnc_context **context) {
  Result<attnc_context_options> options = readOptionalStruct(given, "attnc_context_options");
  if (!options)
    return fail(options.takeError());
  if (!context)
    return fail(Error{"expected a place for the context, got null"});
  *context = nullptr;
  if (options->use_cache < -1 || options->use_cache > 1)
    return fail(Error{"expected use_cache to be -1, 0 or 1, got " + std::to_string(options->use_cache)});
  if (options->threads < 0 || options->cache_bytes < 0)
    return fail(Error{"expected threads and cache_bytes of 0 or more, got " + std::to_string(options->threads) +
                      " and " + std::to_string(options->cache_bytes)});
  cache::CacheOptions cache =
      cache::readCacheEnvironment(textOr(options->cache_directory, ""), /*always=*/options->use_cache == 1);
  if (options->use_cache == -1)
    cache = {};
  if (options->cache_bytes > 0)
    cache.maxBytes = options->cache_bytes;
  if (options->remark)
    cache.remark = [remark = options->remark, data = options->remark_data](const std::string &text) {
      remark(data, text.c_str());
    };
  const unsigned threads =
      options->threads > 0 ? static_cast<unsigned>(options->threads) : runtime::ThreadPool::numAvailableCores();
  *context = new attnc_context{{std::move(cache), threads}};
  return nullptr;
}

void attnc_context_destroy(attnc_context *context) {
  // What a child cannot use, it cannot end either: the threads are not here.
  if (context && context->context.isUsable())
    delete context;
}

int attnc_context_is_usable(attnc_context *context) { return context && context->context.isUsable() ? 1 : 0; }

/// The fault of a context whose threads are in another process.
static Error forkedError() {
  return {"the context was in use when this process was forked, and its threads are in the parent: expected a fork "
          "before the first context is made, or a context that the child makes"};
}

/// Sets `spec` to a handle on `given`, if it is a spec.
static attnc_error *readSpec(SpecSource given, attnc_spec **spec) {
  auto source = std::make_shared<const SpecSource>(std::move(given));
  if (const Compiler *compiler = getCompiler())
    if (std::optional<Fault> fault = compiler->check(*source))
      return fail(std::move(*fault));
  const cache::Digest digest = cache::keyOf({source->text, source->entry, "", "", ""});
  *spec = new attnc_spec{std::move(source), digest};
  return nullptr;
}

attnc_error *attnc_spec_create(attnc_context *context, const attnc_spec_options *given, attnc_spec **spec) {
  Result<attnc_spec_options> options = readStruct(given, "attnc_spec_options");
  if (!options)
    return fail(options.takeError());
  if (!context || !spec || !options->text)
    return fail(Error{"expected a context, a text and a place for the spec, got null"});
  *spec = nullptr;
  if (!context->context.isUsable())
    return fail(forkedError());
  // Messages begin with it, and are read by lines.
  std::string name = textOr(options->name, "spec");
  std::replace(name.begin(), name.end(), '\n', ' ');
  return readSpec(
      SpecSource{std::string(options->text, options->text_bytes), std::move(name), textOr(options->entry, "")}, spec);
}

attnc_error *attnc_spec_create_variant(attnc_context *context, const attnc_variant *given, attnc_spec **spec) {
  Result<attnc_variant> variant = readStruct(given, "attnc_variant");
  if (!variant)
    return fail(variant.takeError());
  if (!context || !spec)
    return fail(Error{"expected a context and a place for the spec, got null"});
  *spec = nullptr;
  if (!context->context.isUsable())
    return fail(forkedError());
  Result<std::string> text = writeSpec(*variant);
  if (!text)
    return fail(text.takeError());
  return readSpec(SpecSource{std::move(*text), "variant", ""}, spec);
}

const char *attnc_spec_get_text(const attnc_spec *spec) { return spec ? spec->source->text.c_str() : ""; }

void attnc_spec_destroy(attnc_spec *spec) { delete spec; }

/// What the caller wants of a spec.
static Result<Wish> readWish(attnc_context *context, const attnc_spec *spec, const attnc_compile_options *given) {
  if (!context || !spec)
    return Error{"expected a context and a spec, got null"};
  if (!context->context.isUsable())
    return forkedError();
  Result<attnc_compile_options> options = readOptionalStruct(given, "attnc_compile_options");
  if (!options)
    return options.takeError();
  if (options->device_plus_one < 0)
    return Error{"expected device_plus_one of 0 or more, got " + std::to_string(options->device_plus_one)};
  if (options->backward < 0 || options->backward > 1)
    return Error{"expected backward to be 0 or 1, got " + std::to_string(options->backward)};
  if (options->policy < ATTNC_POLICY_AUTO || options->policy > ATTNC_POLICY_HEURISTICS)
    return Error{"expected policy to be an attnc_policy, got " + std::to_string(options->policy)};
  if (options->policy == ATTNC_POLICY_AUTOTUNE && !options->shape)
    return Error{"expected a shape, whose sizes are tuned for, with ATTNC_POLICY_AUTOTUNE; got null"};
  return Wish{textOr(options->target, "auto"), textOr(options->schedule, ""), options->backward == 1,
              options->device_plus_one - 1,    textOr(options->shape, ""),    options->policy};
}

/// Sets `kernel` to a handle on what came of a compilation.
static attnc_error *hand(const Outcome &outcome, attnc_kernel **kernel) {
  if (outcome.fault)
    return fail(*outcome.fault);
  *kernel = new attnc_kernel{outcome.kernel, outcome.origin};
  return nullptr;
}

attnc_error *attnc_compile(attnc_context *context, const attnc_spec *spec, const attnc_compile_options *options,
                           attnc_kernel **kernel) {
  Result<Wish> wish = readWish(context, spec, options);
  if (!wish)
    return fail(wish.takeError());
  if (!kernel)
    return fail(Error{"expected a place for the kernel, got null"});
  *kernel = nullptr;
  if (std::optional<Outcome> found = context->context.find(spec->digest, *wish))
    return hand(*found, kernel);
  return hand(context->context.start(spec->source, spec->digest, std::move(*wish), Context::Waiting::Now)->wait(),
              kernel);
}

attnc_error *attnc_compile_start(attnc_context *context, const attnc_spec *spec, const attnc_compile_options *options,
                                 attnc_compilation **compilation) {
  Result<Wish> wish = readWish(context, spec, options);
  if (!wish)
    return fail(wish.takeError());
  if (!compilation)
    return fail(Error{"expected a place for the compilation, got null"});
  *compilation = new attnc_compilation{context->context.start(spec->source, spec->digest, std::move(*wish))};
  return nullptr;
}

int attnc_compilation_is_done(const attnc_compilation *compilation) {
  return compilation && compilation->compilation->isDone() ? 1 : 0;
}

attnc_error *attnc_compilation_on_done(attnc_compilation *compilation, attnc_callback callback, void *data) {
  if (!compilation || !callback)
    return fail(Error{"expected a compilation and a callback, got null"});
  if (compilation->compilation->isLost())
    return fail(*compilation->compilation->wait().fault);
  // The caller's handle may be gone by then. This one refers to itself while it waits, which `run` ends.
  auto handle = std::make_shared<attnc_compilation>(attnc_compilation{compilation->compilation, /*borrowed=*/true});
  compilation->compilation->onDone([handle, callback, data] { callback(data, handle.get()); });
  return nullptr;
}

attnc_error *attnc_compilation_get(const attnc_compilation *compilation, attnc_kernel **kernel) {
  if (!compilation || !kernel)
    return fail(Error{"expected a compilation and a place for the kernel, got null"});
  *kernel = nullptr;
  return hand(compilation->compilation->wait(), kernel);
}

void attnc_compilation_destroy(attnc_compilation *compilation) {
  if (compilation && !compilation->borrowed)
    delete compilation;
}

attnc_error *attnc_context_add_records(attnc_context *context, const char *text, size_t text_bytes) {
  if (!context || !text)
    return fail(Error{"expected a context and records, got null"});
  if (!context->context.isUsable())
    return fail(forkedError());
  image::Status status = context->context.addRecords({text, text_bytes});
  return status ? nullptr : fail(status.takeError());
}

/// How the caller wants a spec tuned.
static Result<TuneSettings> readSettings(const attnc_tune_options &options) {
  if (!(options.seconds >= 0) || options.warm_ups < -1 || options.iterations < 0 || options.candidates < 0)
    return Error{"expected seconds, iterations and candidates of 0 or more, and warm_ups of -1 or more"};
  if (options.validate_backward < 0 || options.validate_backward > 1)
    return Error{"expected validate_backward to be 0 or 1, got " + std::to_string(options.validate_backward)};
  TuneSettings settings;
  settings.seconds = options.seconds;
  settings.warmUps = options.warm_ups;
  settings.iterations = options.iterations;
  settings.candidates = options.candidates;
  settings.validateBackward = options.validate_backward == 1;
  if (options.progress)
    settings.progress = [progress = options.progress, data = options.progress_data](
                            double share, const std::string &what) { progress(data, share, what.c_str()); };
  return settings;
}

attnc_error *attnc_tune(attnc_context *context, const attnc_spec *spec, const attnc_tune_options *given,
                        attnc_tuning **tuning) {
  if (tuning)
    *tuning = nullptr;
  Result<attnc_tune_options> options = readStruct(given, "attnc_tune_options");
  if (!options)
    return fail(options.takeError());
  auto compile = attnc_compile_options();
  compile.struct_size = sizeof(compile);
  compile.target = options->target;
  compile.device_plus_one = options->device_plus_one;
  compile.backward = options->backward;
  compile.shape = options->shape;
  Result<Wish> wish = readWish(context, spec, &compile);
  if (!wish)
    return fail(wish.takeError());
  Result<TuneSettings> settings = readSettings(*options);
  if (!settings)
    return fail(settings.takeError());
  Tuned tuned = context->context.tune(spec->source, std::move(*wish), std::move(*settings));
  if (tuned.fault)
    return fail(std::move(*tuned.fault));
  if (tuning)
    *tuning = new attnc_tuning{std::move(tuned)};
  return nullptr;
}

attnc_error *attnc_tuning_get_info(const attnc_tuning *tuning, attnc_tuning_info *info) {
  if (!tuning)
    return fail(Error{"expected a tuning, got null"});
  auto ours = attnc_tuning_info();
  ours.default_seconds = tuning->tuned.defaultSeconds;
  ours.best_seconds = tuning->tuned.bestSeconds;
  ours.candidates = tuning->tuned.candidates;
  ours.device = tuning->tuned.device.c_str();
  ours.records = tuning->tuned.records.c_str();
  return writeStruct(info, ours, "attnc_tuning_info");
}

void attnc_tuning_destroy(attnc_tuning *tuning) { delete tuning; }

attnc_error *attnc_explain(attnc_context *context, const attnc_spec *spec, const attnc_compile_options *options,
                           attnc_explanation **explanation) {
  Result<Wish> wish = readWish(context, spec, options);
  if (!wish)
    return fail(wish.takeError());
  if (!explanation)
    return fail(Error{"expected a place for the explanation, got null"});
  *explanation = nullptr;
  Explained explained = context->context.explain(spec->source, std::move(*wish));
  if (explained.fault)
    return fail(std::move(*explained.fault));
  *explanation = new attnc_explanation{std::move(explained)};
  return nullptr;
}

attnc_error *attnc_explanation_get_info(const attnc_explanation *explanation, attnc_explanation_info *info) {
  if (!explanation)
    return fail(Error{"expected an explanation, got null"});
  auto ours = attnc_explanation_info();
  ours.text = explanation->explained.text.c_str();
  ours.svg = explanation->explained.svg.c_str();
  return writeStruct(info, ours, "attnc_explanation_info");
}

void attnc_explanation_destroy(attnc_explanation *explanation) { delete explanation; }
