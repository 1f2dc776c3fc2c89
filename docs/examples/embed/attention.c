/* From the text of a spec to a launched kernel, in C: causal attention on this CPU. docs/embedding.md goes through it.
 */

#include <attnc/attnc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 1, S = 64, H = 2, D = 32 };

static const char spec_text[] =
    "func.func @causal(%q: tensor<?x?x2x32xf32> {attn.name = \"q\"}, %k: tensor<?x?x2x32xf32> {attn.name = \"k\"},\n"
    "                  %v: tensor<?x?x2x32xf32> {attn.name = \"v\"})\n"
    "    -> (tensor<?x?x2x32xf32> {attn.name = \"out\"}) {\n"
    "  %o = attn.forward %q, %k, %v\n"
    "    mask (%b, %h, %i, %j) {\n"
    "      %keep = attn.causal %i, %j\n"
    "      attn.yield %keep : i1\n"
    "    }\n"
    "    : (tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>, tensor<?x?x2x32xf32>) -> (tensor<?x?x2x32xf32>)\n"
    "  return %o : tensor<?x?x2x32xf32>\n"
    "}\n";

/* Prints what went wrong, and ends. */
static void check(attnc_error *error) {
  if (!error)
    return;
  fputs(attnc_error_details(error), stderr);
  attnc_error_destroy(error);
  exit(1);
}

static void print_remark(void *data, const char *text) {
  (void)data;
  fprintf(stderr, "attnc: %s\n", text);
}

/* The argument of a launch that is the tensor at `data`. */
static attnc_value make_tensor(float *data) {
  static const int64_t sizes[] = {B, S, H, D};
  attnc_value value = {.kind = ATTNC_TENSOR};
  value.as.tensor.address = (uint64_t)(uintptr_t)data;
  value.as.tensor.dtype = ATTNC_F32;
  value.as.tensor.rank = 4;
  value.as.tensor.sizes = sizes;
  return value;
}

int main(void) {
  attnc_context *context;
  attnc_context_options context_options = {.struct_size = sizeof(context_options), .remark = print_remark};
  check(attnc_context_create(&context_options, &context));

  attnc_spec *spec;
  attnc_spec_options spec_options = {
      .struct_size = sizeof(spec_options), .text = spec_text, .text_bytes = strlen(spec_text), .name = "causal.mlir"};
  check(attnc_spec_create(context, &spec_options, &spec));

  attnc_kernel *kernel;
  attnc_compile_options compile_options = {.struct_size = sizeof(compile_options), .target = "cpu"};
  check(attnc_compile(context, spec, &compile_options, &kernel));
  attnc_kernel_info info = {.struct_size = sizeof(info)};
  check(attnc_kernel_get_info(kernel, &info));
  static const char *const origins[] = {"an image", "the compiler", "disk", "memory"};
  printf("kernel @%s for %s, from %s\n", info.name, info.target, origins[info.origin]);

  /* Queries and keys are zeros, so that each row of the result is the mean of the values before it. */
  static float q[B * S * H * D], k[B * S * H * D], v[B * S * H * D], out[B * S * H * D];
  for (int i = 0; i < S; ++i)
    for (int j = 0; j < H * D; ++j)
      v[i * H * D + j] = (float)i;
  attnc_value values[] = {make_tensor(q), make_tensor(k), make_tensor(v), make_tensor(out)};
  attnc_launch_options launch = {
      .struct_size = sizeof(launch), .values = values, .num_values = 4, .value_size = sizeof(attnc_value)};
  check(attnc_kernel_launch(kernel, &launch));
  printf("row 0: %g, row 63: %g\n", out[0], out[63 * H * D]);

  attnc_kernel_destroy(kernel);
  attnc_spec_destroy(spec);
  attnc_context_destroy(context);
  return 0;
}
