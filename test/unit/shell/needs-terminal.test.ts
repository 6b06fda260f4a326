import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "../../../src/gateway/check.ts";
import { needsTerminal } from "../../../src/shell/needs-terminal.ts";

const YES = [
  "bash",
  "sh -i",
  "python3",
  "python3.13",
  "python3 -i script.py",
  "vim notes",
  "cd src && nano x",
  "env FOO=1 node",
  "git log | less",
  "man ls",
  "top",
  "watch ls",
  "ssh host",
  "ssh -p 2222 host",
  "ssh -t host htop",
  "docker run -it ubuntu bash",
  "docker exec -ti web sh",
  "kubectl -n prod exec -it pod -- sh",
  "git rebase -i HEAD~2",
  "git -C there add -p",
  "git commit",
  "psql shop",
  "sqlite3 data.db",
  "redis-cli",
  "gdb ./a.out",
  "claude",
  "codex",
  "aider --model x",
  "crontab -e",
  "make menuconfig",
];
const NO = [
  "ls",
  "bash script.sh",
  "bash -c ls",
  "python3 script.py",
  "python3 -c 1",
  "python3 -m http.server",
  "echo 1 | python3",
  "python3 < script.py",
  "python3 <<< 'print(1)'",
  "node server.js",
  "vim x > log",
  "less x | cat",
  "top -bn1",
  "ssh host uptime",
  "ssh -p 2222 host uptime",
  "docker run ubuntu ls",
  "docker run -dit ubuntu",
  "kubectl get pods",
  "git commit -m done",
  "git commit -am done",
  "git rebase main",
  "psql -c 'select 1'",
  "sqlite3 data.db 'select 1'",
  "gdb -batch ./a.out",
  "claude -p hello",
  "codex exec hello",
  "npm test",
  "vim &",
];

for (const command of YES) {
  test(`\`${command}\` needs a terminal`, () => {
    assert.equal(needsTerminal(check(command, { cwd: "/" }).commands), true);
  });
}
for (const command of NO) {
  test(`\`${command}\` needs no terminal`, () => {
    assert.equal(needsTerminal(check(command, { cwd: "/" }).commands), false);
  });
}
