/* A program that is linked with the shared object of tiny.mlir, and knows it by ATTNC_DECLARE_KERNEL alone. */

#include <attnc/object.h>
#include <stdio.h>
#include <stdlib.h>

ATTNC_DECLARE_KERNEL(tiny);

enum { S = 64, H = 2, D = 8 };

static void check(attnc_error *error) {
  if (!error)
    return;
  fputs(attnc_error_details(error), stderr);
  exit(1);
}

static attnc_value make_tensor(float *data, const int64_t *sizes, int rank) {
  attnc_value value = {.kind = ATTNC_TENSOR};
  value.as.tensor =
      (attnc_tensor){.address = (uint64_t)(uintptr_t)data, .dtype = ATTNC_F32, .rank = rank, .sizes = sizes};
  return value;
}

int main(void) {
  /* Queries and keys are zeros, so that each row of the result is the mean of the values before it. */
  static float q[S * H * D], k[S * D], v[S * D], out[S * H * D], lse[H * S];
  static const int64_t queries[] = {1, S, H, D}, keys[] = {1, S, 1, D}, rows[] = {1, H, S};
  for (int i = 0; i < S * D; ++i)
    v[i] = (float)(i / D);
  attnc_value values[] = {make_tensor(q, queries, 4), make_tensor(k, keys, 4),      make_tensor(v, keys, 4),
                          {.kind = ATTNC_REAL},       make_tensor(out, queries, 4), make_tensor(lse, rows, 3)};
  values[3].as.real = 0.5;
  attnc_launch_options launch = {
      .struct_size = sizeof(launch), .values = values, .num_values = 6, .value_size = sizeof(attnc_value)};
  check(tiny_launch(&launch));
  printf("row 0: %g, row 63: %g, lse %g\n", out[0], out[63 * H * D], lse[63]);

  attnc_kernel *kernel;
  check(tiny_get_kernel(-1, &kernel));
  attnc_kernel_info info = {.struct_size = sizeof(info)};
  check(attnc_kernel_get_info(kernel, &info));
  printf("@%s with %zu arguments\n", info.name, info.num_arguments);
  attnc_kernel_destroy(kernel);

  FILE *file = fopen("image", "wb");
  if (!file || fwrite(tiny_image, 1, tiny_image_bytes, file) != tiny_image_bytes || fclose(file))
    return 1;
  values[1].as.tensor.rank = 3;
  check(tiny_launch(&launch));
  return 0;
}
