/* Prints the layout of the structures of attnc.h, and the values of its enumerations. */

#include <attnc/attnc.h>
#include <stdio.h>

#define STRUCT(name) printf(#name ": %zu bytes\n", sizeof(name))
#define FIELD(name, field) printf("  " #field " at %zu, %zu bytes\n", offsetof(name, field), sizeof(((name *)0)->field))
#define VALUE(name) printf(#name " = %d\n", name)

int main(void) {
  VALUE(ATTNC_F32);
  VALUE(ATTNC_F16);
  VALUE(ATTNC_BF16);
  VALUE(ATTNC_F64);
  VALUE(ATTNC_I1);
  VALUE(ATTNC_I8);
  VALUE(ATTNC_I32);
  VALUE(ATTNC_I64);
  VALUE(ATTNC_TENSOR);
  VALUE(ATTNC_INTEGER);
  VALUE(ATTNC_REAL);
  VALUE(ATTNC_DLPACK);
  VALUE(ATTNC_ERROR_OTHER);
  VALUE(ATTNC_ERROR_SPEC);
  VALUE(ATTNC_ERROR_COMPILER);
  VALUE(ATTNC_FROM_IMAGE);
  VALUE(ATTNC_FROM_COMPILER);
  VALUE(ATTNC_FROM_DISK);
  VALUE(ATTNC_FROM_MEMORY);
  STRUCT(attnc_tensor);
  FIELD(attnc_tensor, address);
  FIELD(attnc_tensor, dtype);
  FIELD(attnc_tensor, rank);
  FIELD(attnc_tensor, sizes);
  FIELD(attnc_tensor, strides);
  STRUCT(attnc_value);
  FIELD(attnc_value, kind);
  FIELD(attnc_value, reserved);
  FIELD(attnc_value, as);
  FIELD(attnc_value, as.tensor);
  FIELD(attnc_value, as.integer);
  FIELD(attnc_value, as.real);
  FIELD(attnc_value, as.dlpack);
  STRUCT(attnc_context_options);
  FIELD(attnc_context_options, struct_size);
  FIELD(attnc_context_options, cache_directory);
  FIELD(attnc_context_options, use_cache);
  FIELD(attnc_context_options, threads);
  FIELD(attnc_context_options, cache_bytes);
  FIELD(attnc_context_options, remark);
  FIELD(attnc_context_options, remark_data);
  STRUCT(attnc_spec_options);
  FIELD(attnc_spec_options, struct_size);
  FIELD(attnc_spec_options, text);
  FIELD(attnc_spec_options, text_bytes);
  FIELD(attnc_spec_options, name);
  FIELD(attnc_spec_options, entry);
  STRUCT(attnc_variant);
  FIELD(attnc_variant, struct_size);
  FIELD(attnc_variant, dtype);
  FIELD(attnc_variant, query_heads);
  FIELD(attnc_variant, key_heads);
  FIELD(attnc_variant, head_dim);
  FIELD(attnc_variant, value_head_dim);
  FIELD(attnc_variant, causal);
  FIELD(attnc_variant, window);
  FIELD(attnc_variant, softcap);
  FIELD(attnc_variant, scale);
  FIELD(attnc_variant, lse);
  FIELD(attnc_variant, reserved);
  STRUCT(attnc_compile_options);
  FIELD(attnc_compile_options, struct_size);
  FIELD(attnc_compile_options, target);
  FIELD(attnc_compile_options, schedule);
  FIELD(attnc_compile_options, device_plus_one);
  FIELD(attnc_compile_options, backward);
  STRUCT(attnc_load_options);
  FIELD(attnc_load_options, struct_size);
  FIELD(attnc_load_options, image);
  FIELD(attnc_load_options, image_bytes);
  FIELD(attnc_load_options, device);
  STRUCT(attnc_launch_options);
  FIELD(attnc_launch_options, struct_size);
  FIELD(attnc_launch_options, values);
  FIELD(attnc_launch_options, num_values);
  FIELD(attnc_launch_options, value_size);
  FIELD(attnc_launch_options, stream);
  FIELD(attnc_launch_options, workspace);
  STRUCT(attnc_kernel_info);
  FIELD(attnc_kernel_info, struct_size);
  FIELD(attnc_kernel_info, name);
  FIELD(attnc_kernel_info, target);
  FIELD(attnc_kernel_info, num_arguments);
  FIELD(attnc_kernel_info, num_entries);
  FIELD(attnc_kernel_info, resident_bytes);
  FIELD(attnc_kernel_info, registers);
  FIELD(attnc_kernel_info, spill_bytes);
  FIELD(attnc_kernel_info, shared_bytes);
  FIELD(attnc_kernel_info, threads);
  FIELD(attnc_kernel_info, origin);
  FIELD(attnc_kernel_info, build);
  STRUCT(attnc_argument_info);
  FIELD(attnc_argument_info, struct_size);
  FIELD(attnc_argument_info, name);
  FIELD(attnc_argument_info, is_tensor);
  FIELD(attnc_argument_info, is_output);
  FIELD(attnc_argument_info, dtype);
  FIELD(attnc_argument_info, rank);
  STRUCT(attnc_error_info);
  FIELD(attnc_error_info, struct_size);
  FIELD(attnc_error_info, kind);
  FIELD(attnc_error_info, line);
  FIELD(attnc_error_info, column);
  FIELD(attnc_error_info, reserved);
  FIELD(attnc_error_info, message);
  FIELD(attnc_error_info, details);
  return 0;
}
