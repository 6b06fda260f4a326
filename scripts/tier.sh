#!/bin/sh
# Runs the tests of one tier: scripts/tier.sh unit|integration|system [OPTION OF node --test]...
set -eu
cd "$(dirname "$0")/.."
tier="$1"
shift
# A unit test keeps one core busy; the others mostly wait for the processes that they start.
case "$tier" in
  unit) lanes=2 ;;
  integration | system) lanes=4 ;;
  *) echo "tier.sh: unknown tier $tier: use unit, integration or system" >&2; exit 2 ;;
esac
# Tests start hundreds of processes that load the same sources; the cache saves most of the compilation.
export NODE_COMPILE_CACHE="$PWD/node_modules/.cache/node"
if [ "$tier" != unit ]; then
  export TEST_PACKAGE="$PWD/node_modules/.cache/package"
  rm -rf "$TEST_PACKAGE"
  node_modules/.bin/node -e 'import("./test/fixtures/installed.ts").then((m) => m.install(process.argv[1]))' "$TEST_PACKAGE"
fi
exec node_modules/.bin/node --test --test-concurrency="$lanes" "$@" "test/$tier/**/*.test.ts"
