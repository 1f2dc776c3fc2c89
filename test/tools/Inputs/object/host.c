/* host OBJECT cpu|cuda [leave]: opens the shared object of tiny.mlir and calls it as a host of TVM FFI does. Where it
 * is built with HOST_HAS_TVM_FFI, it is one: it has the functions that errors are raised by and streams are found by.
 * With `leave` it ends after the first call, and leaves the object open. */

#include "tvm_ffi.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { S = 64, H = 2, D = 8, numArgs = 6 };

#ifdef HOST_HAS_TVM_FFI
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message) { printf("%s: %s\n", kind, message); }

void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  return device_type == 2 && device_id == 0 ? (void *)0x77 : NULL;
}
#endif

static float q[S * H * D], k[S * D], v[S * D], out[S * H * D], lse[H * S];
static int64_t queries[] = {1, S, H, D}, keys[] = {1, S, 1, D}, rows[] = {1, H, S};
static dl_tensor tensors[numArgs];
static tensor_cell object;
static any args[numArgs + 1];
static safe_call *function;

static void set_tensor(int at, void *data, int rank, int64_t *shape, int device) {
  tensors[at] = (dl_tensor){data, device, 0, rank, 2, 32, 1, shape, NULL, 0};
  args[at] = (any){.type = tensor_pointer, .pointer = &tensors[at]};
}

/* Sets good arguments: pointers to tensors, an object that is a tensor, and a number. */
static void set_arguments(int device) {
  set_tensor(0, q, 4, queries, device);
  set_tensor(1, k, 4, keys, device);
  set_tensor(2, v, 4, keys, device);
  args[3] = (any){.type = real, .real = 0.5};
  set_tensor(4, out, 4, queries, device);
  object = (tensor_cell){1, tensor_object, 0, NULL, tensors[4]};
  args[4] = (any){.type = tensor_object, .pointer = &object};
  set_tensor(5, lse, 3, rows, device);
}

static void call(const char *what, int num_args) {
  any result = {.type = none};
  int code = function(NULL, args, num_args, &result);
  printf("%s: %d, result of type %d\n", what, code, result.type);
  fflush(stdout);
}

static void show(void) { printf("row 0: %g, row 63: %g, lse %g\n", out[0], out[63 * H * D], lse[63]); }

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const int device = strcmp(argv[2], "cuda") ? 1 : 2, other = 3 - device;
  void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  function = (safe_call *)dlsym(library, "__tvm_ffi_tiny");
  for (int i = 0; i < S * D; ++i)
    v[i] = (float)(i / D);

  set_arguments(device);
  call("tensors", numArgs);
  show();
  if (argc > 3)
    return 0;
  args[3] = (any){.type = integer, .integer = 2};
  call("an integer", numArgs);

  set_arguments(device);
  call("no arguments", 0);
  call("few arguments", numArgs - 1);
  call("many arguments", numArgs + 1);
  tensors[1].bits = 64;
  call("another type", numArgs);
  set_arguments(device);
  tensors[1].code = 9;
  call("an unknown type", numArgs);
  set_arguments(device);
  tensors[2].ndim = 3;
  call("another rank", numArgs);
  set_arguments(device);
  tensors[2].ndim = 1 << 30;
  call("no rank", numArgs);
  set_arguments(device);
  tensors[0].device_type = other;
  call("another device", numArgs);
  set_arguments(device);
  args[5] = (any){.type = none};
  call("None", numArgs);
  set_arguments(device);
  args[3] = (any){.type = small_string};
  call("a string", numArgs);
  set_arguments(device);
  args[0] = (any){.type = real, .real = 1};
  call("a number", numArgs);
  set_arguments(device);
  args[2].pointer = NULL;
  call("null", numArgs);

  if (device == 1) {
    /* A child goes on with threads of its own. */
    set_arguments(device);
    fflush(stdout);
    if (fork() == 0) {
      alarm(60);
      memset(out, 0, sizeof(out));
      for (int i = 0; i < 20; ++i)
        function(NULL, args, numArgs, &(any){.type = none});
      printf("child: ");
      show();
      dlclose(library);
      return 0;
    }
    wait(NULL);
  }
  printf("closed: %d, gone: %d\n", dlclose(library), !dlopen(argv[1], RTLD_LAZY | RTLD_NOLOAD));
  return 0;
}
