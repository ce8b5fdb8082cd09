# Builds the shim and copies its archive out of the cargo folder:
#   cmake -DCARGO=... -DSOURCES=... -DTARGET=... -DARCHIVE=... -P build_shim.cmake
#
# Clones with different shim sources share the cargo folder, and cargo puts the archive of each under the
# same name. Its own lock ends with the build, so ours is held until the copy is made: each clone links
# what it built.
file(MAKE_DIRECTORY "${TARGET}")
file(LOCK "${TARGET}/archive.lock" GUARD PROCESS)
execute_process(
  COMMAND "${CARGO}" build --release --locked --quiet --manifest-path "${SOURCES}/Cargo.toml"
          --target-dir "${TARGET}"
  COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(folder "${ARCHIVE}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
file(COPY_FILE "${TARGET}/release/libremit_shim.a" "${ARCHIVE}")
# Cargo may have had nothing to do, and what is older than its sources is built again and again.
file(TOUCH_NOCREATE "${ARCHIVE}")
