# Finds LLVM and MLIR 22 and makes `AttncLLVM`, an interface target that links every archive of both.
#
# The package's own MLIR targets name the LLVM shared library in their link interface; mixed with LLVM archives that
# registers every option twice and aborts at start. So all archives are linked by path, in one group, and the linker
# drops what is not used: one self-contained binary that runs where no LLVM is installed.

if(LLVM_DIR AND NOT MLIR_DIR)
  get_filename_component(MLIR_DIR "${LLVM_DIR}/../mlir" ABSOLUTE)
endif()
find_package(MLIR REQUIRED CONFIG HINTS "${MLIR_DIR}" /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "attnc needs LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; set LLVM_DIR to an LLVM 22")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION}: ${LLVM_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

if(NOT LLVM_ENABLE_RTTI)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>")
endif()

file(GLOB attnc_mlir_archives "${LLVM_LIBRARY_DIR}/libMLIR*.a")
list(FILTER attnc_mlir_archives EXCLUDE REGEX "libMLIR[A-Za-z0-9]*Test|libMLIRTest|Python|CAPI")
file(GLOB attnc_llvm_archives "${LLVM_LIBRARY_DIR}/libLLVM*.a")

add_library(AttncLLVM INTERFACE)
target_include_directories(AttncLLVM SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(AttncLLVM INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(AttncLLVM INTERFACE
  -Wl,--start-group ${attnc_mlir_archives} ${attnc_llvm_archives} -Wl,--end-group
  z zstd m ${CMAKE_DL_LIBS} pthread)
