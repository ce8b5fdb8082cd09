# Sourced by the tests that need packages of npm: installs the pinned ones into a build folder, once.

# Ends the test as not run, for ctest's SKIP_RETURN_CODE.
not_run() {
  echo "not run: $1"
  exit 77
}

# install_packages HERE WORK PACKAGE: those of HERE/package-lock.json into WORK/node_modules. PACKAGE is asked for
# where the registry does not answer a ping.
install_packages() {
  local here=$1 work=$2 package=$3
  command -v node >/dev/null && command -v npm >/dev/null || not_run 'node and npm are not installed'
  mkdir -p "$work"
  cp "$here/package.json" "$here/package-lock.json" "$work/"
  if ! cmp -s "$here/package-lock.json" "$work/installed.json"; then
    timeout 60 npm ping >/dev/null 2>&1 || timeout 60 npm view "$package" version >/dev/null 2>&1 ||
      not_run 'the npm registry cannot be reached'
    (cd "$work" && npm ci --no-audit --no-fund --omit=dev)
    cp "$here/package-lock.json" "$work/installed.json"
  fi
}
