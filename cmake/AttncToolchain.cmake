# Language, warnings, ccache, lld and sanitizers: the same for every target of the project.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections
                    "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers need ccache to look at contents, not times (ccache manual, "Precompiled headers").
  set(ccache "${CMAKE_COMMAND}" -E env
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

find_program(LLD_PROGRAM NAMES ld.lld-22 ld.lld)
if(LLD_PROGRAM)
  add_link_options("-Wl,--gc-sections")
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_link_options("--ld-path=${LLD_PROGRAM}")
  else()
    add_link_options("-fuse-ld=lld")
  endif()
endif()

if(ATTNC_SANITIZE)
  add_compile_options("-fsanitize=${ATTNC_SANITIZE}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${ATTNC_SANITIZE}")
endif()
