# The project's own CMake functions.
#
# Every library is a room: a folder whose headers are seen by itself and by whoever links it, and by nobody else. Headers
# are included by their path from the top (`#include "dialect/attn/AttnOps.h"`), so each room gets an include root of
# its own in the build tree that holds nothing but that folder: a forbidden include does not compile.

# attnc_room(<target>): gives the target the include root of the folder that it is declared in.
function(attnc_room target)
  file(RELATIVE_PATH room "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "-" root "${room}")
  set(root "${PROJECT_BINARY_DIR}/include/${root}")
  get_filename_component(parent "${root}/${room}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  if(NOT EXISTS "${root}/${room}")
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${room}" SYMBOLIC)
  endif()
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${root}>"
                                              "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/${target}>")
endfunction()

# attnc_library(<name> [MLIR] SOURCES ... [LINK ...])
# A static library. MLIR: it uses MLIR, and takes its headers precompiled.
function(attnc_library name)
  cmake_parse_arguments(arg "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  attnc_room(${name})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_MLIR)
    add_dependencies(${name} attnc-headers)
    target_link_libraries(${name} PUBLIC AttncLLVM)
    target_precompile_headers(${name} REUSE_FROM AttncPrecompiled)
  endif()
  set_property(GLOBAL APPEND PROPERTY ATTNC_LIBRARIES ${name})
endfunction()

# attnc_variant(<library> <suffix> <option>...)
# <library>-<suffix>: the objects of a library, of the files in its own folder, compiled with further options. A program
# that has these objects and links the library takes them in the place of the library's own.
function(attnc_variant library suffix)
  if(TARGET ${library}-${suffix})
    return()
  endif()
  get_target_property(sources ${library} SOURCES)
  get_target_property(folder ${library} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "^[^/]")
  list(TRANSFORM sources PREPEND "${folder}/")
  add_library(${library}-${suffix} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_compile_options(${library}-${suffix} PRIVATE ${ARGN})
  target_compile_definitions(${library}-${suffix} PRIVATE $<TARGET_PROPERTY:${library},COMPILE_DEFINITIONS>)
  target_link_libraries(${library}-${suffix} PRIVATE ${library})
  add_dependencies(${library}-${suffix} attnc-headers)
endfunction()

# attnc_tablegen(<library> <file.td> <output> <generator flags...>)
# Runs mlir-tblgen; <output> is included as "<folder>/<output>", beside the sources it belongs to.
function(attnc_tablegen library source output)
  file(RELATIVE_PATH room "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(out "${PROJECT_BINARY_DIR}/generated/${library}/${room}/${output}")
  get_filename_component(folder "${out}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(GLOB_RECURSE tds CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/dialect/*.td" "${PROJECT_SOURCE_DIR}/passes/*.td"
       "${PROJECT_SOURCE_DIR}/codegen/*.td")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${MLIR_TABLEGEN_EXE}" ${ARGN} -I "${PROJECT_SOURCE_DIR}" -I "${MLIR_INCLUDE_DIRS}"
            "${CMAKE_CURRENT_SOURCE_DIR}/${source}" --write-if-changed -o "${out}"
    DEPENDS ${tds} VERBATIM)
  string(REPLACE "/" "-" step "${library}-${output}")
  add_custom_target(${step} DEPENDS "${out}")
  set_property(GLOBAL APPEND PROPERTY ATTNC_TABLEGEN_${library} ${step})
  add_dependencies(attnc-headers ${step})
endfunction()
add_custom_target(attnc-headers COMMENT "Headers that TableGen writes")

# attnc_dialect_doc(<file.td> <dialect>): adds docs/dialects/<dialect>.md to the target `attnc-doc`.
function(attnc_dialect_doc source dialect)
  set(out "${PROJECT_SOURCE_DIR}/docs/dialects/${dialect}.md")
  add_custom_target(attnc-doc-${dialect}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_SOURCE_DIR}/docs/dialects"
    COMMAND "${MLIR_TABLEGEN_EXE}" -gen-dialect-doc -dialect=${dialect} -I "${PROJECT_SOURCE_DIR}"
            -I "${MLIR_INCLUDE_DIRS}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}" --write-if-changed -o "${out}"
    VERBATIM)
  add_dependencies(attnc-doc attnc-doc-${dialect})
endfunction()
add_custom_target(attnc-doc COMMENT "Reference pages that TableGen writes")

# attnc_unit_test(<name> [MLIR] SOURCES ... [LINK ...]): a GoogleTest executable, run by lit.
function(attnc_unit_test name)
  cmake_parse_arguments(arg "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/unit")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  if(arg_MLIR)
    add_dependencies(${name} attnc-headers)
    target_precompile_headers(${name} REUSE_FROM AttncPrecompiled)
  endif()
  add_dependencies(attnc-tests ${name})
endfunction()

# The one precompiled header: what nearly every file that touches IR needs.
add_library(AttncPrecompiled OBJECT "${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp")
target_link_libraries(AttncPrecompiled PUBLIC AttncLLVM)
target_precompile_headers(AttncPrecompiled PRIVATE "${PROJECT_SOURCE_DIR}/cmake/Precompiled.h")
