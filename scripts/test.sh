#!/bin/sh
# Sets up and runs every check: lint, format, types, the strict native build, the package build and the tests.
set -eu
here="$(dirname "$0")"
"$here/setup.sh" valgrind vim less python3 gdb tmux git top=procps zsh fish curl jq man=man-db chromium nats-server openssl initdb=postgresql
cd "$here/.."
exec npm test
