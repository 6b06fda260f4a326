#!/bin/sh
# Sets up and runs a first command through the gateway.
set -eu
here="$(dirname "$0")"
"$here/setup.sh"
cd "$here/.."
exec npm run --silent demo
