#!/bin/sh
# Sets up and runs every check: lint, format, types, the strict native build, the package build and the three tiers of
# tests. Each tier ends with the summary of the test runner.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh valgrind vim less python3 gdb tmux git top=procps zsh fish curl jq man=man-db chromium nats-server openssl initdb=postgresql
npm run native
npm test
npm run test:integration
npm run build
npm run test:system
