/*===- object.h - Kernels in shared objects of their own ----------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0
 *
 * `attnc compile causal.mlir --emit shared -o causal.so` makes a shared object of a kernel. It needs libattnc-runtime,
 * and exports for a kernel @causal
 *
 *   causal_launch, causal_get_kernel, causal_image, causal_image_bytes   what ATTNC_DECLARE_KERNEL(causal) declares
 *   __tvm_ffi_causal                                                     the same for hosts of TVM FFI
 *
 * docs/embedding.md shows their use. The functions below are those that such objects call.
 *===---------------------------------------------------------------------===*/

#ifndef ATTNC_OBJECT_H
#define ATTNC_OBJECT_H

#include "attnc/attnc.h"

#ifdef __cplusplus
extern "C" {
#define ATTNC_EXTERN_C extern "C"
#else
#define ATTNC_EXTERN_C extern
#endif

/** Declares what the shared object of kernel @name exports for C:
 *
 * - `name_launch` does what attnc_kernel_launch does. The first launch loads the kernel: on the GPU of the first DLPack
 *   tensor that lies on one, else on that of the thread's current context, else on GPU 0; or on the CPU.
 * - `name_get_kernel` sets `kernel` to the kernel on GPU `device`, as attnc_load_options has it, to be asked and
 *   launched; the caller destroys it. The object must stay open as long as it is used.
 * - `name_image` is the kernel image that attnc_kernel_load takes, `name_image_bytes` its size. */
#define ATTNC_DECLARE_KERNEL(name)                                                                                     \
  ATTNC_EXTERN_C attnc_error *name##_launch(const attnc_launch_options *options);                                      \
  ATTNC_EXTERN_C attnc_error *name##_get_kernel(int32_t device, attnc_kernel **kernel);                                \
  ATTNC_EXTERN_C const unsigned char name##_image[];                                                                   \
  ATTNC_EXTERN_C const uint64_t name##_image_bytes

/* C has no other way to name a type. NOLINTBEGIN(modernize-use-using) */

/** The kernel that a shared object holds. All of it is the object's, and lives as long. */
typedef struct attnc_linked_kernel {
  size_t struct_size;
  const void *image; /**< as attnc_kernel_load takes it */
  size_t image_bytes;
  const void *const *entries; /**< on a CPU the addresses of the image's functions, in its order; null for GPUs */
  size_t num_entries;
  const char *features; /**< what its code needs of a CPU, as LLVM calls it: "+avx2,+fma"; null for GPUs */
  void *state;          /**< null at first; then the library's */
} attnc_linked_kernel;

/** What `name_launch` does. */
ATTNC_API attnc_error *attnc_linked_launch(attnc_linked_kernel *linked, const attnc_launch_options *options);

/** What `name_get_kernel` does. */
ATTNC_API attnc_error *attnc_linked_get_kernel(attnc_linked_kernel *linked, int32_t device, attnc_kernel **kernel);

/** What `__tvm_ffi_name` does: launches with `num_args` arguments at `args`, which are values of TVM FFI (TVMFFIAny),
 * and sets `result`, one of them, to None. Tensors are Tensors or pointers to DLTensors. The stream is the one that
 * TVMFFIEnvGetStream gives for the GPU. Returns 0; or -1, with an error of TVM FFI raised where the process has its
 * library. */
ATTNC_API int attnc_linked_call(attnc_linked_kernel *linked, const void *args, int32_t num_args, void *result);

/** Unloads the kernel, whose launches must be done: what an object does when it is closed. Where it is still open at
 * the end of the process, nothing is unloaded. */
ATTNC_API void attnc_linked_unload(attnc_linked_kernel *linked);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* ATTNC_OBJECT_H */
