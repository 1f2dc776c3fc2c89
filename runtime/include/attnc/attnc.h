/*===- attnc.h - Kernels on GPUs, for C and all that calls it -----*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loads the kernel images that `attnc compile --target nvptx:ARCH` writes, and launches them on device tensors:
 *
 *   attnc_load_options options = {.struct_size = sizeof options, .image = bytes, .image_bytes = size, .device = -1};
 *   attnc_kernel *kernel;
 *   attnc_error *error = attnc_kernel_load(&options, &kernel);
 *   if (error) { puts(attnc_error_message(error)); attnc_error_destroy(error); }
 *
 * Functions that can fail return null where all went well, else an error that the caller destroys. NVIDIA's driver is
 * opened when it is first needed: the library loads on machines without one.
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

/** A kernel that is ready to launch on one GPU. Threads may launch it at the same time. */
typedef struct attnc_kernel attnc_kernel;

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
  ATTNC_REAL = 2     /**< accepted for scalars of floating-point type */
} attnc_value_kind;

/** A tensor in device memory. */
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
  } as;
} attnc_value;

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
  void *stream;      /**< a CUstream or cudaStream_t; null for the default stream */
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

/** The version of the library: "0.1.0". */
ATTNC_API const char *attnc_version(void);

/** Loads a kernel on a GPU, and sets `kernel` to it. */
ATTNC_API attnc_error *attnc_kernel_load(const attnc_load_options *options, attnc_kernel **kernel);

/** Unloads a kernel, whose launches must be done. Null is allowed. */
ATTNC_API void attnc_kernel_destroy(attnc_kernel *kernel);

/** Tells what a kernel is. */
ATTNC_API attnc_error *attnc_kernel_get_info(const attnc_kernel *kernel, attnc_kernel_info *info);

/** Tells what argument `index` of a kernel is. */
ATTNC_API attnc_error *attnc_kernel_get_argument(const attnc_kernel *kernel, size_t index, attnc_argument_info *info);

/** Sets `bytes` to the device memory that a launch with `options` takes in addition to its arguments. It is 0 unless
 * only data says which keys a mask keeps, which takes a list of the tiles of keys, or queries, keys, values or results
 * lie where a GPU's copy unit cannot take them, which takes room for a copy: at an address or with strides that are no
 * multiples of 16 bytes, or with strides of 0 or below, on GPUs whose kernels use that unit. */
ATTNC_API attnc_error *attnc_kernel_get_workspace(const attnc_kernel *kernel, const attnc_launch_options *options,
                                                  uint64_t *bytes);

/** Gives a stream the kernel's work, and returns before it is done. Arguments that do not fit are an error, and then
 * nothing is launched. It waits for nothing and reads nothing back, so that a CUDA graph can capture it, and allocates
 * nothing unless a workspace is needed and none is given; what tensors of lengths hold is therefore not looked at. */
ATTNC_API attnc_error *attnc_kernel_launch(attnc_kernel *kernel, const attnc_launch_options *options);

/** One line: starts in lower case, ends without a period. It lives as long as the error. */
ATTNC_API const char *attnc_error_message(const attnc_error *error);

/** Ends an error. Null is allowed. */
ATTNC_API void attnc_error_destroy(attnc_error *error);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* ATTNC_ATTNC_H */
