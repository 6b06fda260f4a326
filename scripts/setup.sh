#!/bin/sh
# Installs everything the project needs: a C compiler, the commands named as arguments (setup.sh COMMAND[=PACKAGE]...), and
# the npm packages, which include the right version of Node and build the keeper. Safe to run again.
set -eu
cd "$(dirname "$0")/.."

# Debian installs servers such as PostgreSQL in folders that may not be on the PATH.
search="$PATH:/usr/sbin"
for folder in /usr/lib/postgresql/*/bin; do search="$search:$folder"; done

need() { # need COMMAND PACKAGES...
  (PATH="$search" && command -v "$1") >/dev/null 2>&1 && return 0
  shift
  missing="${missing:-} $*"
}

missing=""
need npm npm
need bash bash
need cc gcc libc6-dev
for tool in "$@"; do need "${tool%%=*}" "${tool##*=}"; done # COMMAND, or COMMAND=PACKAGE

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: installing$missing" >&2
    apt-get update -qq >&2
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
  else
    echo "setup: missing packages:$missing. Install them and try again (Debian, Ubuntu: sudo apt-get install$missing)" >&2
    exit 1
  fi
fi

stamp=node_modules/.sallyport-setup
if [ ! -e "$stamp" ] || [ package-lock.json -nt "$stamp" ]; then
  npm ci --no-audit --no-fund --loglevel=error >&2
  touch "$stamp"
fi
# Rebuild the keeper when its sources have changed. This takes less than two seconds.
if [ ! -e native/build/keeper ] || [ -n "$(find native -newer native/build/keeper -name '*.[ch]' -o -newer native/build/keeper -name install.js)" ]; then
  npm run --silent install >&2
fi
