# Sourced by the scripts beside it: timed phases, and cargo where rustup put it.

# phase NAME COMMAND...: runs the command, says how long it took; a failure ends the script with its
# exit code and names the phase.
phase() {
  local name=$1 began=$SECONDS status=0
  shift
  printf '== %s\n' "$name"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '== %s: failed after %d s\n' "$name" "$((SECONDS - began))" >&2
    exit "$status"
  fi
  printf '== %s: %d s\n' "$name" "$((SECONDS - began))"
}

# rustup installs beside PATH; a shell that never read its profile still finds cargo.
cargo_home=${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}
if ! command -v cargo >/dev/null 2>&1 && [ -x "$cargo_home/bin/cargo" ]; then
  export PATH="$cargo_home/bin:$PATH"
fi
unset cargo_home

# Every core that this process may use, for builds and tests.
jobs=$(nproc 2>/dev/null || echo 2)
