#!/bin/sh
# Sets up the project and runs a few commands through the gateway.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
PATH="$PWD/node_modules/.bin:$PATH"

show() { # show ARGUMENT...: prints the command line, runs sallyport with these arguments and prints its exit code
  printf '$ sallyport'
  for argument in "$@"; do
    case "$argument" in *[!A-Za-z0-9_./=-]*) printf " '%s'" "$argument" ;; *) printf ' %s' "$argument" ;; esac
  done
  printf '\n'
  code=0
  node bin/sallyport.js "$@" || code=$?
  [ "$code" = 0 ] || printf '(exit code %s)\n' "$code"
  printf '\n'
}

show run -c 'echo "hello from $(uname -s)"; ls /no/such/place'
show run -d --name napper -- sleep 30
show ps
show kill napper
show check -c 'echo done; r\m -rf "$HOME"'
show run -c 'sleep 60 & echo "nothing is left behind"'
show rm napper
