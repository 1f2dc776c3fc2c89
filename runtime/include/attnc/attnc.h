/*===- attnc.h - Attention kernels, for C and all that calls it ---*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a spec to a launched kernel:
 *
 *   attnc_context *context;
 *   attnc_spec *spec;
 *   attnc_kernel *kernel;
 *   attnc_spec_options source = {.struct_size = sizeof source, .text = text, .text_bytes = strlen(text)};
 *   attnc_error *error = attnc_context_create(NULL, &context);
 *   if (!error) error = attnc_spec_create(context, &source, &spec);
 *   if (!error) error = attnc_compile(context, spec, NULL, &kernel);
 *   if (!error) error = attnc_kernel_launch(kernel, &launch);
 *   if (error) { fputs(attnc_error_details(error), stderr); attnc_error_destroy(error); }
 *
 * Two libraries have these functions. libattnc holds the compiler. libattnc-runtime does not: it finds kernels in the
 * cache, as they were compiled elsewhere, or loads the images that `attnc compile` writes; and it launches them on GPUs
 * alone, but for those that come in shared objects (object.h). docs/embedding.md goes through all of it.
 *
 * Functions that can fail return null where all went well, else an error that the caller destroys. A fault of a spec,
 * of the machine or of the compiler is such an error, and never ends the program. NVIDIA's driver is opened when it is
 * first needed: the libraries load on machines without one.
 *
 * All functions may be called by several threads at once, also on the same objects; but an object is destroyed when
 * nobody uses it any more.
 *
 * `struct_size` is the size of the structure that the caller was compiled with: what a later version adds at the end
 * reads as zero for older callers.
 *===---------------------------------------------------------------------===*/

#ifndef ATTNC_ATTNC_H
#define ATTNC_ATTNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTNC_API __attribute__((visibility("default")))

/* C has no other way to name a type. NOLINTBEGIN(modernize-use-using) */

/** Compiled kernels, the cache that they come from, and the threads that compile. Most programs have one. */
typedef struct attnc_context attnc_context;

/** The text of a spec, found to be one. */
typedef struct attnc_spec attnc_spec;

/** A kernel that is being compiled. */
typedef struct attnc_compilation attnc_compilation;

/** A kernel that is ready to launch, on one GPU or on the CPU. */
typedef struct attnc_kernel attnc_kernel;

/** What tuning found out. */
typedef struct attnc_tuning attnc_tuning;

/** What the compiler decided, and why. */
typedef struct attnc_explanation attnc_explanation;

/** Why something failed. */
typedef struct attnc_error attnc_error;

/** Element types. */
typedef enum attnc_dtype {
  ATTNC_F32 = 0,
  ATTNC_F16 = 1,
  ATTNC_BF16 = 2,
  ATTNC_F64 = 3,
  ATTNC_I1 = 4, /**< a byte that is 0 or 1 */
  ATTNC_I8 = 5,
  ATTNC_I32 = 6,
  ATTNC_I64 = 7
} attnc_dtype;

/** What an argument is. */
typedef enum attnc_value_kind {
  ATTNC_TENSOR = 0,
  ATTNC_INTEGER = 1, /**< accepted for every scalar */
  ATTNC_REAL = 2,    /**< accepted for scalars of floating-point type */
  ATTNC_DLPACK = 3   /**< a tensor as DLPack describes it */
} attnc_value_kind;

/** What an error is about. */
typedef enum attnc_error_kind {
  ATTNC_ERROR_OTHER = 0,
  ATTNC_ERROR_SPEC = 1,    /**< the spec is at fault; the error has its place */
  ATTNC_ERROR_COMPILER = 2 /**< the compiler is at fault, or is not there and the cache has no such kernel */
} attnc_error_kind;

/** Where a kernel came from. */
typedef enum attnc_origin {
  ATTNC_FROM_IMAGE = 0, /**< attnc_kernel_load */
  ATTNC_FROM_COMPILER = 1,
  ATTNC_FROM_DISK = 2,  /**< the files of the cache */
  ATTNC_FROM_MEMORY = 3 /**< the context had it */
} attnc_origin;

/** Where schedules come from that neither the spec nor the caller gives. Records are what tuning found out: those of
 * attnc_context_add_records first, then those of this process, of the user's files, and those that came with attnc. */
typedef enum attnc_policy {
  ATTNC_POLICY_AUTO = 0,      /**< records where there are some, else heuristics */
  ATTNC_POLICY_RECORDS = 1,   /**< records; it is an error where there are none */
  ATTNC_POLICY_AUTOTUNE = 2,  /**< records; where there are none of the sizes of `shape`, it is tuned for them first */
  ATTNC_POLICY_HEURISTICS = 3 /**< heuristics alone */
} attnc_policy;

/** A tensor in the memory of a GPU, or of the CPU for its kernels. */
typedef struct attnc_tensor {
  uint64_t address; /**< of the element with index 0 in every dimension */
  int32_t dtype;    /**< an attnc_dtype */
  int32_t rank;
  const int64_t *sizes;   /**< `rank` of them, outermost first */
  const int64_t *strides; /**< likewise, in elements; null for a row-major tensor */
} attnc_tensor;

/** One argument of a launch. */
typedef struct attnc_value {
  int32_t kind; /**< an attnc_value_kind; says which member of `as` counts */
  int32_t reserved;
  union {
    attnc_tensor tensor;
    int64_t integer;
    double real;
    /** A DLTensor, which lies in DLManagedTensor and DLManagedTensorVersioned. Nothing of it is owned. */
    const struct DLTensor *dlpack;
  } as;
} attnc_value;

/** What a context is. All zeros, or no structure at all, is what most want. */
typedef struct attnc_context_options {
  size_t struct_size;
  /** Where the cache has its files; null for what the environment says: ATTNC_CACHE_DIR, else XDG_CACHE_HOME/attnc,
   * else
   * ~/.cache/attnc. */
  const char *cache_directory;
  /** 0: files, unless the environment turns them off (ATTNC_CACHE=off); 1: files; -1: no files. */
  int32_t use_cache;
  /** The most kernels that are compiled at once; 0 for as many as there are cores. */
  int32_t threads;
  /** The most bytes of the cache's files; 0 for what the environment says (ATTNC_CACHE_BYTES), else 1 GiB. */
  int64_t cache_bytes;
  /** What is called with a line for people where there is something to say: another process is waited for, the cache
   * cannot be written. By any thread; null for nothing. */
  void (*remark)(void *data, const char *text);
  void *remark_data;
} attnc_context_options;

/** A spec. */
typedef struct attnc_spec_options {
  size_t struct_size;
  const char *text;  /**< MLIR, as text or as bytecode; bytecode must come from somebody you trust */
  size_t text_bytes; /**< without a zero at the end */
  const char *name;  /**< what errors call it; null for "spec" */
  const char *entry; /**< the function to compile; null for the only one */
} attnc_spec_options;

/** A common variant, in place of a text. Batch and lengths are free; arguments are q, k, v and the results, as in
 * docs/spec.md. */
typedef struct attnc_variant {
  size_t struct_size;
  int32_t dtype; /**< ATTNC_F32, ATTNC_F16 or ATTNC_BF16 */
  int32_t query_heads;
  int32_t key_heads; /**< 0 for as many */
  int32_t head_dim;
  int32_t value_head_dim; /**< 0 for the same */
  int32_t causal;         /**< 1: a query sees the keys up to its own; 0: all */
  int64_t window;         /**< the most keys that a causal query sees, its own counted in; 0 for all */
  double softcap;         /**< 0 for none */
  double scale;           /**< 0 for 1 / sqrt(head_dim) */
  int32_t lse;            /**< 1: the LSE is a result, after the output; 0: it is not */
  int32_t reserved;
} attnc_variant;

/** What to compile for. All zeros but `device`, or no structure at all, is this machine. */
typedef struct attnc_compile_options {
  size_t struct_size;
  /** "auto", "cpu", "nvptx", "nvptx:sm_90a", ...; null for "auto": the GPU where there is one, else the CPU. */
  const char *target;
  const char *schedule; /**< `#attn.schedule<...>` in place of the spec's or the compiler's; null for that */
  /** The number of a GPU plus one; 0 for that of the thread's current context, or the first where it has none. */
  int32_t device_plus_one;
  int32_t backward; /**< 1: the kernel of the gradients, as `attnc compile --backward` makes it; 0: of the results */
  /** "B=1,Sq=4096,Sk=4096": sizes of the launches that count most, for the choice among records; null for any. The
   * kernel takes all sizes whatever this says. */
  const char *shape;
  int32_t policy; /**< an attnc_policy */
  int32_t reserved;
} attnc_compile_options;

/** How to tune. All zeros but `shape` is what most want. */
typedef struct attnc_tune_options {
  size_t struct_size;
  const char *target;      /**< as for attnc_compile */
  int32_t device_plus_one; /**< likewise */
  int32_t backward;        /**< likewise */
  const char *shape;       /**< "B=1,Sq=4096,Sk=4096": a size for each name that the spec leaves open */
  double seconds;          /**< that measuring may take; compiling and checking are not counted. 0 for 60 */
  int32_t warm_ups;        /**< runs of a candidate that are not counted; 0 for 5, -1 for none */
  int32_t iterations;      /**< runs that are counted of those that are the fastest; 0 for 100 */
  int32_t candidates;      /**< schedules to try for each program of the kernel; 0 for 64 */
  /** 1: the gradients from what forward saves are compared as well, which needs a spec that returns the LSE. */
  int32_t validate_backward;
  /** What is called with the share of the work that is done, from 0 to 1, by the thread that tunes; null for nothing.
   */
  void (*progress)(void *data, double share, const char *what);
  void *progress_data;
} attnc_tune_options;

/** What tuning found out. Texts live as long as the attnc_tuning. */
typedef struct attnc_tuning_info {
  size_t struct_size;     /**< set by the caller */
  double default_seconds; /**< of a run by heuristics, a median */
  double best_seconds;    /**< of a run with the best schedules; the same where heuristics are the best */
  int64_t candidates;     /**< that were measured */
  const char *device;     /**< as records call it: "NVIDIA H200" */
  const char *records;    /**< the record, as attnc_context_add_records and `attnc records import` take it */
} attnc_tuning_info;

/** What the compiler decided. Texts live as long as the attnc_explanation, and are never null. */
typedef struct attnc_explanation_info {
  size_t struct_size; /**< set by the caller */
  const char *text;   /**< lines for people, as `attnc explain` prints them, in UTF-8 */
  const char *svg;    /**< a picture of the tiles that the mask keeps; empty where no sizes are known */
} attnc_explanation_info;

/** What is called when a compilation has ended, well or not: once, by a thread of the context, or by the caller where
 * it has ended already. It may compile, and wait for other kernels, but not destroy the context. The handle is lent for
 * the call: to destroy it does nothing. */
typedef void (*attnc_callback)(void *data, attnc_compilation *compilation);

/** What to load, and where to. */
typedef struct attnc_load_options {
  size_t struct_size;
  const void *image; /**< the content of an image file; not needed after the call */
  size_t image_bytes;
  /** The number of a GPU, or -1 for that of the thread's current context, and GPU 0 where there is none. Kernels live
   * in the GPU's primary context, as those of the CUDA runtime do. */
  int32_t device;
} attnc_load_options;

/** One launch. */
typedef struct attnc_launch_options {
  size_t struct_size;
  const attnc_value *values; /**< the inputs, then the results, in the order of the spec; not needed after the call */
  size_t num_values;
  size_t value_size; /**< sizeof(attnc_value) */
  void *stream;      /**< a CUstream or cudaStream_t; null for the default stream, and on a CPU */
  /** The address of the device memory that attnc_kernel_get_workspace asks for, aligned to 16 bytes, which nothing else
   * uses until the launch's work is done. 0: where some is needed it comes from the memory pool of the GPU, in the
   * order of the stream, and goes back there. */
  uint64_t workspace;
} attnc_launch_options;

/** What a kernel is. Texts live as long as the kernel. */
typedef struct attnc_kernel_info {
  size_t struct_size; /**< set by the caller */
  const char *name;   /**< of the spec's function */
  const char *target; /**< "nvptx:sm_90a" */
  size_t num_arguments;
  size_t num_entries;      /**< functions, which a launch runs one after another */
  uint64_t resident_bytes; /**< device memory that the kernel holds from its load on, whatever the sizes */
  int32_t registers;       /**< of a thread, the most of all entries */
  int32_t spill_bytes;     /**< of a thread, the most of all entries, as the driver reports them */
  int64_t shared_bytes;    /**< of a block, the most of all entries */
  int32_t threads;         /**< of a block, the most of all entries */
  int32_t origin;          /**< an attnc_origin */
  const char *build;       /**< of the compiler: "0.1.0-1f0c..."; empty where that is not known */
} attnc_kernel_info;

/** What one argument of a kernel is. The name lives as long as the kernel. */
typedef struct attnc_argument_info {
  size_t struct_size; /**< set by the caller */
  const char *name;
  int32_t is_tensor;
  int32_t is_output;
  int32_t dtype; /**< an attnc_dtype */
  int32_t rank;
} attnc_argument_info;

/** What one dimension of a tensor argument is. The name lives as long as the kernel. */
typedef struct attnc_dimension_info {
  size_t struct_size; /**< set by the caller */
  int64_t size;       /**< of a dimension that the spec fixes; -1 where the launch says */
  /** "Sq": the size of the launch that the dimension has, as all of that name do. Null where it shares its size with
   * none. All dimensions of results have a size or a name. */
  const char *symbol;
  int64_t extra;     /**< elements beyond that size: 1 for cumulative lengths, 0 for others */
  int32_t broadcast; /**< 1: a size of 1 is accepted as well, and stands for every position; 0: it is not */
  int32_t reserved;
  /** What one element stands for of that size: the rows of a page for the entries of a page table, 1 for others. The
   * size is (elements - extra) * unit. */
  int64_t unit;
} attnc_dimension_info;

/** What went wrong. Texts live as long as the error. */
typedef struct attnc_error_info {
  size_t struct_size; /**< set by the caller */
  int32_t kind;       /**< an attnc_error_kind */
  int32_t line;       /**< of the spec, from 1 on; 0 where there is no place */
  int32_t column;     /**< likewise */
  int32_t reserved;
  const char *message; /**< as attnc_error_message gives it */
  const char *details; /**< as attnc_error_details gives it */
} attnc_error_info;

/** The version of the library: "0.1.0". */
ATTNC_API const char *attnc_version(void);

/** Whether the library holds the compiler: 1 or 0. */
ATTNC_API int attnc_has_compiler(void);

/** Makes a context. `options` may be null. What is wrong with the cache is a remark and no error: kernels are compiled
 * then. */
ATTNC_API attnc_error *attnc_context_create(const attnc_context_options *options, attnc_context **context);

/** Ends a context, and waits for the compilations that are under way; those that wait their turn end with an error.
 * Kernels, specs and compilations live on. Null is allowed. */
ATTNC_API void attnc_context_destroy(attnc_context *context);

/** 1 where this process may use a context; 0 in a child that was forked while a thread used it, whose locks are held
 * for good. Such a child makes a context of its own. */
ATTNC_API int attnc_context_is_usable(attnc_context *context);

/** Adds records to use before all others, a file's as `attnc records export` writes it. A kernel that is loaded stays
 * as it is; the next call of attnc_compile goes by them. A library without the compiler takes none. */
ATTNC_API attnc_error *attnc_context_add_records(attnc_context *context, const char *text, size_t text_bytes);

/** Reads a spec. A library without the compiler takes it as it is, to look for it in the cache. */
ATTNC_API attnc_error *attnc_spec_create(attnc_context *context, const attnc_spec_options *options, attnc_spec **spec);

/** Writes and reads the spec of a common variant. It is the same spec as its text (attnc_spec_get_text) by hand. */
ATTNC_API attnc_error *attnc_spec_create_variant(attnc_context *context, const attnc_variant *variant,
                                                 attnc_spec **spec);

/** The text of a spec, or its bytecode. It lives as long as the spec, and ends with a zero. */
ATTNC_API const char *attnc_spec_get_text(const attnc_spec *spec);

/** Ends a spec; kernels of it live on. Null is allowed. */
ATTNC_API void attnc_spec_destroy(attnc_spec *spec);

/** Sets `kernel` to the kernel of a spec, from the context, from the files of the cache, or compiled. It is the same
 * kernel for all that ask for the same thing: however many threads and processes do, one compiles. `options` may be
 * null. */
ATTNC_API attnc_error *attnc_compile(attnc_context *context, const attnc_spec *spec,
                                     const attnc_compile_options *options, attnc_kernel **kernel);

/** The same in the background: returns at once. The spec is not needed after the call. */
ATTNC_API attnc_error *attnc_compile_start(attnc_context *context, const attnc_spec *spec,
                                           const attnc_compile_options *options, attnc_compilation **compilation);

/** Whether a compilation has ended, well or not: 1 or 0. */
ATTNC_API int attnc_compilation_is_done(const attnc_compilation *compilation);

/** Has `callback` called when a compilation has ended. */
ATTNC_API attnc_error *attnc_compilation_on_done(attnc_compilation *compilation, attnc_callback callback, void *data);

/** Waits until a compilation has ended, and sets `kernel` to what came of it; each call gives a kernel of its own to
 * destroy. */
ATTNC_API attnc_error *attnc_compilation_get(const attnc_compilation *compilation, attnc_kernel **kernel);

/** Ends a compilation's handle; what is under way goes on, and its kernel stays with the context. Null is allowed. */
ATTNC_API void attnc_compilation_destroy(attnc_compilation *compilation);

/** Finds the fastest schedules of a spec at some sizes by trying, and keeps the record in the context and in the user's
 * files. It takes a minute or so, and wants the device for itself; the results of candidates are compared, on random
 * inputs. The next attnc_compile of the spec uses the record. Sets `tuning` to what was found, unless that is null. */
ATTNC_API attnc_error *attnc_tune(attnc_context *context, const attnc_spec *spec, const attnc_tune_options *options,
                                  attnc_tuning **tuning);

/** Tells what tuning found out. */
ATTNC_API attnc_error *attnc_tuning_get_info(const attnc_tuning *tuning, attnc_tuning_info *info);

/** Ends what tuning gave; its record stays. Null is allowed. */
ATTNC_API void attnc_tuning_destroy(attnc_tuning *tuning);

/** Tells what becomes of a spec, without compiling it: score and mask as formulas, the keys that tiles visit, the
 * schedule and where it comes from, the memory that it takes, and the file of the cache. With `shape` in the options,
 * or where the spec leaves no size open, the tiles that the mask keeps and the work that it leaves as well; captured
 * tensors are random then; for this CPU, what it can do at most is measured beside it, which keeps all cores busy for
 * some 0.2 s. A GPU that is asked for need not be here. ATTNC_POLICY_AUTOTUNE counts as ATTNC_POLICY_AUTO. */
ATTNC_API attnc_error *attnc_explain(attnc_context *context, const attnc_spec *spec,
                                     const attnc_compile_options *options, attnc_explanation **explanation);

/** Gives the texts of an explanation. */
ATTNC_API attnc_error *attnc_explanation_get_info(const attnc_explanation *explanation, attnc_explanation_info *info);

/** Ends an explanation. Null is allowed. */
ATTNC_API void attnc_explanation_destroy(attnc_explanation *explanation);

/** Loads an image, of a GPU or, with the compiler in the library, of this CPU, and sets `kernel` to it. */
ATTNC_API attnc_error *attnc_kernel_load(const attnc_load_options *options, attnc_kernel **kernel);

/** Ends a kernel, whose launches must be done. It is unloaded unless the context or others have it. Null is allowed. */
ATTNC_API void attnc_kernel_destroy(attnc_kernel *kernel);

/** Tells what a kernel is. */
ATTNC_API attnc_error *attnc_kernel_get_info(const attnc_kernel *kernel, attnc_kernel_info *info);

/** Tells what argument `index` of a kernel is. */
ATTNC_API attnc_error *attnc_kernel_get_argument(const attnc_kernel *kernel, size_t index, attnc_argument_info *info);

/** Tells what dimension `dimension` of argument `index` of a kernel is: so the sizes of results follow from those of
 * the inputs. */
ATTNC_API attnc_error *attnc_kernel_get_dimension(const attnc_kernel *kernel, size_t index, size_t dimension,
                                                  attnc_dimension_info *info);

/** Sets `bytes` to the device memory that a launch with `options` takes in addition to its arguments: for what
 * gradients keep of each row, and sums of theirs; for parts of keys that are added up; for the list of tiles where only
 * data says which keys a mask keeps; and for copies of queries, keys, values or results that lie where a GPU's copy
 * unit cannot take them: at an address or with strides that are no multiples of 16 bytes, or with strides of 0 or
 * below, on GPUs whose kernels use that unit. It is 0 for all else. */
ATTNC_API attnc_error *attnc_kernel_get_workspace(const attnc_kernel *kernel, const attnc_launch_options *options,
                                                  uint64_t *bytes);

/** On a CPU: does the kernel's work, on all cores, and returns when it is done. What tensors of lengths hold is
 * checked.
 *
 * On a GPU: gives a stream the kernel's work, and returns before it is done. Arguments that do not fit are an error,
 * and then nothing is launched. It waits for nothing and reads nothing back, so that a CUDA graph can capture it, and
 * allocates nothing unless a workspace is needed and none is given; what tensors of lengths hold is therefore not
 * looked at. */
ATTNC_API attnc_error *attnc_kernel_launch(attnc_kernel *kernel, const attnc_launch_options *options);

/** One line: starts in lower case, ends without a period. It lives as long as the error. */
ATTNC_API const char *attnc_error_message(const attnc_error *error);

/** All that there is to say, over several lines where a spec is at fault: place and message, the spec's own line, a
 * caret, notes; ends with a newline. It lives as long as the error. */
ATTNC_API const char *attnc_error_details(const attnc_error *error);

/** Tells what went wrong. */
ATTNC_API attnc_error *attnc_error_get_info(const attnc_error *error, attnc_error_info *info);

/** Ends an error. Null is allowed. */
ATTNC_API void attnc_error_destroy(attnc_error *error);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* ATTNC_ATTNC_H */
