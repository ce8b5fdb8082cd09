# Compiler settings shared by every target, and the switches that presets set.
option(REMIT_BUILD_TESTS "build the tests and the examples" ON)
option(REMIT_BUILD_BENCH "build the benchmarks" OFF)
option(REMIT_BUILD_FUZZ "build the fuzz targets (clang only)" OFF)
set(REMIT_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize takes them, or empty")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

# Debug keeps line tables only: the build is several times smaller and stacks stay readable.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # base_dir and no absolute paths in objects let another clone hit the same cache entries.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)

# Every target of ours links this; nothing of it leaks to a consumer.
add_library(remit_settings INTERFACE)
target_compile_options(
  remit_settings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
            "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=." -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The name table of events is searched for at compile time; g++ allows that by itself. clang alone
  # can prove the annotations of base/mutex.h.
  target_compile_options(remit_settings INTERFACE -fconstexpr-steps=100000000 -Wthread-safety)
endif()
target_include_directories(remit_settings INTERFACE "${CMAKE_SOURCE_DIR}/src")
if(MOLD_PROGRAM)
  target_link_options(remit_settings INTERFACE -fuse-ld=mold)
endif()
if(REMIT_SANITIZE)
  target_compile_options(remit_settings INTERFACE "-fsanitize=${REMIT_SANITIZE}")
  target_link_options(remit_settings INTERFACE "-fsanitize=${REMIT_SANITIZE}")
  if(REMIT_SANITIZE MATCHES "undefined")
    target_compile_options(remit_settings INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside libstdc++ and fmt when it inlines; clang and -O0 still check our own code.
  target_compile_options(
    remit_settings INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-stringop-overflow>)
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
