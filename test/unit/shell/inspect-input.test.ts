import assert from "node:assert/strict";
import { test } from "node:test";
import { inputUse, inspectInput } from "../../../src/shell/inspect-input.ts";

const lookup = { which: (name: string) => `/usr/bin/${name}`, realpath: (path: string) => path };
const context = { cwd: "/ws", home: "/home/user", workspace: "/ws", lookup };

/** Returns the commands that a command would run if this text were written to it. */
function runs(command: string, text: string): string[] {
  const { commands } = inspectInput({ command }, text, context);
  return commands.map(({ argv }) => argv.map(({ value, likely }) => value ?? likely).join(" "));
}

for (const command of [
  "bash",
  "sh -s",
  "bash -i",
  "zsh",
  "env bash",
  "nohup bash",
  "nice -n 5 bash",
  "timeout 60 sh",
  "busybox sh",
  "script -c bash /dev/null",
  "script /dev/null",
  "setsid bash",
  "stdbuf -oL bash",
  "exec bash",
  "cd /tmp && bash",
  "(bash)",
  "bash -c bash",
  "bash -c 'echo ready; exec sh'",
  "if true; then sh; fi",
  "f() { sh; }; f",
  "bash 2>&1 | tee log",
  "cat | sh",
  "cat - | bash",
  "tee log | sh",
  "bash /dev/stdin",
  ". /dev/stdin",
  "bash <(cat)",
  'eval "$(cat)"',
  'bash -c "$(cat)"',
  'x=$(cat); eval "$x"',
  "while read -r line; do $line; done",
  'while read -r line; do bash -c "$line"; done',
  "xargs -I{} sh -c {}",
  "ssh host",
  "ssh host bash -s",
  "docker exec -i box sh",
  "docker run -i image bash",
  "kubectl exec -i pod -- sh",
  "sudo -s",
  "su",
  "su - bob",
  "chroot /mnt",
  "unshare -r",
  "tmux",
  "screen",
  "at now",
]) {
  test(`input of \`${command}\` is code`, () => {
    assert.notEqual(inputUse({ command }, context).language, null);
    assert.ok(runs(command, "reboot now\n").includes("reboot now"), runs(command, "reboot now\n").join(", "));
    assert.ok(!runs(command, "").some((run) => run.includes("reboot")));
  });
}

for (const [command, text] of [
  ["sqlite3 x.db", ".shell reboot now"],
  ["sqlite3 x.db", "  .system reboot now"],
  ["sqlite3 x.db", ".once |reboot now"],
  ["gdb -q ./a.out", "shell reboot now"],
  ["gdb", "!reboot now"],
  ["lldb", "platform shell reboot now"],
  ["psql -h db", "\\! reboot now"],
  ["psql", "copy t to program 'reboot now'"],
  ["mysql -u root", "\\! reboot now"],
  ["mysql", "system reboot now"],
  ["vim x", ":!reboot now"],
  ["vim x", "text\u001b:%!reboot now"],
  ["less x", "!reboot now"],
  ["man ls", "!reboot now"],
  ["ed x", "!reboot now"],
  ["ftp host", "!reboot now"],
  ["mail bob", "~!reboot now"],
  ["python3 -i", 'os.system("reboot now")'],
  ["python3", "subprocess.run(['reboot', 'now'])"],
  ["node -i", "require('child_process').execSync('reboot now')"],
  ["ruby", "system('reboot now')"],
  ["perl", "system('reboot now');"],
  ["bash", "python3\nimport os\nos.system('reboot now')"],
  ["bash", "sqlite3 x\n.shell reboot now"],
] as const) {
  test(`\`${text.replaceAll("\n", "; ")}\` in \`${command}\` runs a command`, () => {
    assert.ok(runs(command, `${text}\n`).includes("reboot now"), runs(command, `${text}\n`).join(", "));
  });
}

for (const command of [
  "cat",
  "grep x",
  "node server.js",
  "python3 app.py",
  "bash build.sh",
  "npm start",
  "tee x",
  "sort",
]) {
  test(`input of \`${command}\` is data`, () => {
    assert.equal(inputUse({ command }, context).language, null);
    const { commands, analyzable } = inspectInput({ command }, "reboot now\n", context);
    assert.deepEqual([commands, analyzable], [[], true]);
  });
}

test("input of a database client is data except for its escapes", () => {
  for (const command of ["sqlite3 x", "psql", "mysql"]) {
    const { commands, analyzable } = inspectInput({ command }, "select 'rm -rf /';\n", context);
    assert.deepEqual([commands, analyzable], [[], true], command);
  }
});

test("code for other interpreters is unanalyzable", () => {
  for (const command of ["python3", "python3 -i", "node", "perl", "ruby"])
    assert.equal(inspectInput({ command }, "1 + 1\n", context).analyzable, false, command);
});

test("spans are positions in the input", () => {
  const text = "true; reboot now\n";
  const [, fact] = inspectInput({ command: "env bash" }, text, context).commands;
  assert.equal(text.slice(fact?.span.start, fact?.span.end), "reboot now");
});
