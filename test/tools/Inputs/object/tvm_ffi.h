/* What a host of TVM FFI and a function of it know of each other, as apache/tvm-ffi's c_api.h lays it out. */

#include <stdint.h>

enum { none = 0, integer = 1, boolean = 2, real = 3, tensor_pointer = 7, small_string = 11, tensor_object = 70 };

typedef struct {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void *pointer;
  };
} any;

/* dlpack.h's. */
typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct {
  uint64_t count;
  int32_t type;
  uint32_t padding;
  void (*end)(void *self, int flags);
  dl_tensor tensor;
} tensor_cell;

typedef int safe_call(void *self, const any *args, int32_t num_args, any *result);
