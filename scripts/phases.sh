# Sourced by the scripts beside it: timed phases, and cargo where rustup put it.

# phase NAME COMMAND...: runs the command and says how long it took. A failure ends the script with
# its exit code and names the phase. The command runs bare, not beside `||`, so that `set -e` holds
# inside a function too.
phase() {
  phase_name=$1 phase_began=$SECONDS
  shift
  printf '== %s\n' "$phase_name"
  "$@"
  printf '== %s: %d s\n' "$phase_name" "$((SECONDS - phase_began))"
  phase_name=
}

report_failed_phase() {
  local status=$?
  if [ "$status" -ne 0 ] && [ -n "${phase_name:-}" ]; then
    printf '== %s: failed after %d s\n' "$phase_name" "$((SECONDS - phase_began))" >&2
  fi
  return "$status"
}
trap report_failed_phase EXIT

# rustup installs beside PATH; a shell that never read its profile still finds cargo.
cargo_home=${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}
if ! command -v cargo >/dev/null 2>&1 && [ -x "$cargo_home/bin/cargo" ]; then
  export PATH="$cargo_home/bin:$PATH"
fi
unset cargo_home

# Every core that this process may use, for builds and tests.
jobs=$(nproc 2>/dev/null || echo 2)
