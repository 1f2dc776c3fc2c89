/* embed SPEC TARGET: compiles a spec and launches it on tensors without elements. */

#include <attnc/attnc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(attnc_error *error) {
  if (!error)
    return;
  fputs(attnc_error_details(error), stderr);
  exit(1);
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 2;
  attnc_spec_options source = {.struct_size = sizeof(source), .text = text, .name = "tiny"};
  source.text_bytes = fread(text, 1, sizeof(text), file);
  fclose(file);
  attnc_context *context;
  attnc_spec *spec;
  attnc_kernel *kernel;
  check(attnc_context_create(NULL, &context));
  check(attnc_spec_create(context, &source, &spec));
  attnc_compile_options wish = {.struct_size = sizeof(wish), .target = argv[2]};
  check(attnc_compile(context, spec, &wish, &kernel));

  static const int64_t queries[] = {1, 0, 2, 8}, keys[] = {1, 0, 1, 8}, lse[] = {1, 2, 0};
  const int64_t *const sizes[] = {queries, keys, keys, NULL, queries, lse};
  attnc_value values[6] = {{0}};
  for (int i = 0; i < 6; ++i)
    if (sizes[i])
      values[i].as.tensor =
          (attnc_tensor){.address = 0x10000, .dtype = ATTNC_F32, .rank = i == 5 ? 3 : 4, .sizes = sizes[i]};
  values[3].kind = ATTNC_REAL;
  attnc_launch_options launch = {
      .struct_size = sizeof(launch), .values = values, .num_values = 6, .value_size = sizeof(attnc_value)};
  check(attnc_kernel_launch(kernel, &launch));
  attnc_kernel_info info = {.struct_size = sizeof(info)};
  check(attnc_kernel_get_info(kernel, &info));
  printf("compiler %d: @%s for %s, origin %d, launched\n", attnc_has_compiler(), info.name, info.target, info.origin);
  attnc_kernel_destroy(kernel);
  attnc_spec_destroy(spec);
  attnc_context_destroy(context);
  return 0;
}
