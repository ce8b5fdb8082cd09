# The Rust shim as an imported static library, built by cargo into a folder shared by presets and clones.
#
# A cold build takes minutes, so the target folder is keyed by the lock file's digest and lives in the
# user's cache: another preset, another clone and another checkout of the same lock file find it warm.
find_program(CARGO_PROGRAM cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
if(NOT CARGO_PROGRAM)
  message(FATAL_ERROR "cargo was not found: install Rust 1.89 or newer (rustup) and put it on PATH")
endif()
set(REMIT_SHIM_DIR "${CMAKE_CURRENT_SOURCE_DIR}/shim")
file(SHA256 "${REMIT_SHIM_DIR}/Cargo.lock" remit_lock_digest)
string(SUBSTRING "${remit_lock_digest}" 0 16 remit_lock_key)
if(DEFINED ENV{REMIT_CARGO_TARGET_DIR})
  set(REMIT_CARGO_ROOT "$ENV{REMIT_CARGO_TARGET_DIR}")
else()
  set(REMIT_CARGO_ROOT "$ENV{HOME}/.cache/remit/cargo")
endif()
set(REMIT_CARGO_TARGET "${REMIT_CARGO_ROOT}/${remit_lock_key}")
file(GLOB_RECURSE remit_shim_sources CONFIGURE_DEPENDS "${REMIT_SHIM_DIR}/src/*.rs")

set(remit_shim_archive "${CMAKE_BINARY_DIR}/shim/libremit_shim.a")
add_custom_command(
  OUTPUT "${remit_shim_archive}"
  COMMAND ${CMAKE_COMMAND} "-DCARGO=${CARGO_PROGRAM}" "-DSOURCES=${REMIT_SHIM_DIR}"
          "-DTARGET=${REMIT_CARGO_TARGET}" "-DARCHIVE=${remit_shim_archive}"
          -P "${CMAKE_CURRENT_LIST_DIR}/build_shim.cmake"
  DEPENDS ${remit_shim_sources} "${REMIT_SHIM_DIR}/Cargo.toml" "${REMIT_SHIM_DIR}/Cargo.lock"
          "${CMAKE_CURRENT_LIST_DIR}/build_shim.cmake"
  COMMENT "Building the Rust shim (minutes when cold, then kept in the user's cache)"
  USES_TERMINAL VERBATIM)
add_custom_target(remit_shim_build DEPENDS "${remit_shim_archive}")
add_library(remit_shim INTERFACE)
target_include_directories(remit_shim SYSTEM INTERFACE "${REMIT_SHIM_DIR}/include")
target_link_libraries(remit_shim INTERFACE "${remit_shim_archive}" Threads::Threads dl m)
target_link_options(remit_shim INTERFACE -Wl,--gc-sections)
add_dependencies(remit_shim remit_shim_build)
