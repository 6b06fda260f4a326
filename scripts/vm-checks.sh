#!/bin/bash
# Checks limits, kills, crashes and services with the installed `sallyport`, as the user that runs this script.
#
#   scripts/vm-checks.sh PLATFORM [CHECK...]
#
# Runs the checks, by default all but `service`, which installs, restarts and removes a systemd service of this user.
# Prints lines separated by tabs: PLATFORM, user, check, `ok` or `FAILED`, and how it holds. The folder is outside /tmp,
# because commands have a private /tmp. Everything that is started is ended, and the configuration is removed.
set -u
platform=$1
shift
checks=(sandbox memory processes cpu timeout kill gateway_crash keeper_crash)
[ $# = 0 ] || checks=("$@")
user=$(id -un)
if [ -e ~/.config/sallyport/sallyport.json ]; then
  echo "vm-checks.sh: ~/.config/sallyport/sallyport.json exists; this script is for machines without a configuration" >&2
  exit 2
fi
folder=$(mktemp -d "${HOME:-/root}/vm-checks-XXXXXX")
export SALLYPORT_STATE=$folder/state NO_COLOR=1
mkdir -p "$folder/work" ~/.config/sallyport && cd "$folder/work" || exit
# The checks run without a terminal.
echo '{ "approvals": { "commandLine": "script" } }' >~/.config/sallyport/sallyport.json
failed=0

report() { # report CHECK CODE DETAIL
  local outcome=ok
  [ "$2" = 0 ] || outcome=FAILED failed=1
  printf '%s\t%s\t%s\t%s\t%s\n' "$platform" "$user" "$1" "$outcome" "$(tr '\n' ' ' <<<"$3" | cut -c1-300)"
}

field() { # field NAME: a field of `sallyport inspect`, of the latest session
  sallyport inspect "$(sallyport ps -aq | head -1)" | sed -n "s/^$1\t//p"
}

mechanism() { # mechanism ERRORS: how a limit was enforced, according to the warnings
  if grep -q 'by polling' <<<"$1"; then echo 'by the keeper, by polling'; else echo 'by the kernel'; fi
}

check_sandbox() {
  local out level
  level=$(sallyport doctor 2>/dev/null | sed -n 's/^[a-z]*\tsandbox level\t//p')
  out=$(sallyport run -c 'touch inside; touch ../outside 2>/dev/null' 2>&1)
  [ -e inside ] && [ ! -e ../outside ]
  report 'sandbox' $? "level $level"
}

check_memory() {
  local errors code
  errors=$(sallyport run --memory 128M -- python3 -c 'b = bytearray(1 << 30); print("allocated", len(b))' 2>&1 >"$folder/out")
  code=$?
  [ $code = 137 ] && [ ! -s "$folder/out" ]
  report 'memory limit' $? "$(mechanism "$errors")"
}

check_processes() {
  local errors code
  errors=$(sallyport run --processes 20 -c 'for i in $(seq 100); do sleep 30 & done; wait' 2>&1 >/dev/null)
  code=$?
  [ $code = 137 ] && ! pgrep -f 'sleep 30$' -u "$user" >/dev/null
  report 'process limit' $? "$(mechanism "$errors")"
}

check_cpu() {
  local out
  out=$(sallyport run --cpu 0.5 -c 'cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpu.max' 2>&1)
  grep -qx '50000 100000\|.*CPU limit was not enforced.*' <<<"$out"
  report 'CPU limit' $? "$(sallyport doctor 2>/dev/null | sed -n 's/^[a-z]*\tlimits\t//p')"
}

check_timeout() {
  sallyport run --timeout 2s -c '(setsid sleep 7123 &); sleep 7123' >/dev/null 2>&1
  [ $? = 124 ] && ! pgrep -f 'sleep 7123$' >/dev/null
  report 'timeout' $? 'ends the process tree'
}

check_kill() {
  local id
  id=$(sallyport run -d -c '(setsid nohup sleep 7124 >/dev/null 2>&1 &); trap "" TERM; sleep 7124 & wait; sleep 7124')
  until pgrep -f 'sleep 7124$' >/dev/null; do sleep 0.2; done
  sallyport kill --force-after 1s "$id" >/dev/null 2>&1
  sallyport wait "$id" >/dev/null 2>&1
  ! pgrep -f 'sleep 7124$' >/dev/null
  report 'kill' $? 'ends the process tree, also what left its session and ignores SIGTERM'
}

check_gateway_crash() {
  local pid id
  node /usr/local/lib/node_modules/sallyport/bin/sallyport.js run -c \
    'for i in $(seq 200); do echo line $i; done; touch began; until [ -e go ]; do sleep 0.2; done; echo end; exit 7' \
    >/dev/null 2>&1 &
  pid=$!
  until [ -e began ]; do sleep 0.2; done
  kill -9 "$pid"
  wait "$pid" 2>/dev/null
  touch go
  id=$(sallyport ps -aq | head -1)
  sallyport wait "$id" >/dev/null 2>&1
  [ $? = 7 ] && [ "$(sallyport logs "$id" | wc -l)" = 201 ] && [ "$(sallyport work list --json | grep -c "$id")" -le 1 ]
  report 'gateway killed with SIGKILL' $? 'the command, its output and its exit code remain'
}

check_keeper_crash() {
  local id keeper
  id=$(sallyport run -d -- sleep 7125)
  until pgrep -f 'sleep 7125$' >/dev/null; do sleep 0.2; done
  keeper=$(pgrep -f "^keeper: $id")
  kill -9 "$keeper"
  sallyport wait "$id" >/dev/null 2>&1
  ! pgrep -f 'sleep 7125$' >/dev/null
  report 'keeper killed with SIGKILL' $? "the session is $(field status), and its processes are ended"
}

check_service() {
  local scope=--user unit=sallyport-serve manager='systemctl --user' header=$folder/header id pid began url=http://127.0.0.1:4190
  began=$(date +%s)
  [ "$user" = root ] && scope=--system manager=systemctl
  sallyport service install "$scope" --yes -- --listen 4190 >"$folder/service" 2>&1
  report 'service install' $? "$(tail -n 3 "$folder/service")"
  sallyport token create vm-checks --role operator --header-file "$header"
  id=$(curl -s -H "@$header" -H 'content-type: application/json' "$url/v1/sessions" \
    -d '{"command":"touch started; until [ -e finish ]; do sleep 0.2; done; echo finished","background":true}' |
    sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
  pid=$($manager show -P MainPID $unit)
  $manager restart $unit && [ "$($manager show -P MainPID $unit)" != "$pid" ] && sallyport service ready "$url"
  report 'service restarted while a command runs' $? "the command is $(field status)"
  $manager kill -s KILL --kill-whom=main $unit
  sallyport service ready "$url" --wait 120s
  report 'service killed with SIGKILL' $? "restarted by systemd; the command is $(field status)"
  touch finish
  [ -n "$id" ] && sallyport wait "$id" >/dev/null 2>&1 && [ "$(sallyport logs "$id")" = finished ]
  report 'command after both restarts' $? "exit code and output are complete"
  ! journalctl $([ "$user" = root ] || echo --user) -u $unit --since "@$began" --no-pager 2>/dev/null | grep -q 'sign-in#'
  report 'journal' $? 'has no sign-in link'
  sallyport service uninstall "$scope" --yes >"$folder/service" 2>&1 && ! $manager cat $unit >/dev/null 2>&1
  report 'service uninstall' $? 'the unit is gone'
}

for check in "${checks[@]}"; do "check_$check"; done
cd / && rm -rf "$folder" ~/.config/sallyport/sallyport.json
exit "$failed"
