#!/bin/sh
# Sets up and runs first commands through the gateway.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
PATH="$PWD/node_modules/.bin:$PATH"

show() { # show WORDS... : runs sallyport with them and says what it answered
  printf '$ sallyport'
  for word in "$@"; do
    case "$word" in *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
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
