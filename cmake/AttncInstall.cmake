# Installation: bin/ with the names that are links, the libraries and headers of the runtime, and a package file, so that
# `find_package(Attnc)` and pkg-config give the C libraries, with the compiler (Attnc::Api, attnc) and without it
# (Attnc::RuntimeApi, attnc-runtime); find_package also Attnc::Runtime and Attnc::Cuda for C++. Nothing holds an absolute
# path: the prefix may be moved.

include(CMakePackageConfigHelpers)
set(ATTNC_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Attnc")

install(TARGETS attnc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Tools)
foreach(link ${ATTNC_TOOL_LINKS})
  install(FILES "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${link}" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Tools)
endforeach()

# The runtime sees no MLIR, and so needs none where it is used.
set_target_properties(AttncImage PROPERTIES EXPORT_NAME Image)
set_target_properties(AttncRuntime PROPERTIES EXPORT_NAME Runtime)
set_target_properties(AttncCuda PROPERTIES EXPORT_NAME Cuda)
target_include_directories(AttncImage INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/attnc>")
install(TARGETS AttncImage AttncRuntime AttncCuda EXPORT AttncTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/attnc/runtime"
        COMPONENT Development FILES_MATCHING PATTERN "*.h" PATTERN "jit" EXCLUDE PATTERN "python" EXCLUDE
        PATTERN "capi" EXCLUDE
        PATTERN "engine" EXCLUDE PATTERN "tune" EXCLUDE PATTERN "cache" EXCLUDE PATTERN "include" EXCLUDE)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/codegen/image/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/attnc/codegen/image"
        COMPONENT Development FILES_MATCHING PATTERN "*.h")

# What tuning found out, where records of devices are shipped: programs and libraries look for it beside themselves.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/tune/records/" DESTINATION "${CMAKE_INSTALL_DATADIR}/attnc/records"
        COMPONENT Tools FILES_MATCHING PATTERN "*.json")

# The C API: two shared libraries and their headers. The one with the compiler is as large as the program.
set_target_properties(AttncShared PROPERTIES EXPORT_NAME Api)
set_target_properties(AttncRuntimeShared PROPERTIES EXPORT_NAME RuntimeApi)
foreach(library AttncShared AttncRuntimeShared)
  target_include_directories(${library} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
install(TARGETS AttncShared EXPORT AttncTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development)
install(TARGETS AttncRuntimeShared EXPORT AttncTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Tools)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Tools)

# What only a machine with a GPU can tell: checks that run from an archive, without anything to build.
if(ATTNC_BUILD_TESTS)
  set(checks "${CMAKE_INSTALL_DATADIR}/attnc/gpu-checks")
  install(TARGETS attnc-conformance-tests RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/attnc" COMPONENT Checks)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/test/conformance/gpu-checks.sh" DESTINATION "${checks}" RENAME run.sh
          COMPONENT Checks)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/test/conformance/grid.py"
                   "${PROJECT_SOURCE_DIR}/test/conformance/graph_replay.py" "${PROJECT_SOURCE_DIR}/test/bench/peers.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_bench.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_cases.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_compiler.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_cycles.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_data.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_data_report.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/peers_report.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/attnc_runtime.py"
                   "${PROJECT_SOURCE_DIR}/test/bench/tuning.py"
          DESTINATION "${checks}" COMPONENT Checks)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/test/fuzz/specs" "${PROJECT_SOURCE_DIR}/test/python"
          DESTINATION "${checks}" COMPONENT Checks
          FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
endif()

# pkg-config finds the prefix by where the file lies.
set(ATTNC_PC_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH ATTNC_PC_PREFIX "/${ATTNC_PC_DIR}" "/")
function(attnc_pkg_config suffix description)
  set(ATTNC_PC_SUFFIX "${suffix}")
  set(ATTNC_PC_DESCRIPTION "${description}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/attnc.pc.in" "${PROJECT_BINARY_DIR}/attnc${suffix}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/attnc${suffix}.pc" DESTINATION "${ATTNC_PC_DIR}" COMPONENT Development)
endfunction()
attnc_pkg_config("" "Attention kernels, compiled and launched")
attnc_pkg_config("-runtime" "Attention kernels that were compiled elsewhere, launched")

install(EXPORT AttncTargets NAMESPACE Attnc:: DESTINATION "${ATTNC_CMAKE_DIR}" COMPONENT Development)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/AttncConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/AttncConfig.cmake" INSTALL_DESTINATION "${ATTNC_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/AttncConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/AttncConfig.cmake" "${PROJECT_BINARY_DIR}/AttncConfigVersion.cmake"
        DESTINATION "${ATTNC_CMAKE_DIR}" COMPONENT Development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT Tools)
