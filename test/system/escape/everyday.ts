/**
 * `node everyday.ts FOLDER`: runs commands that coding agents use all day with the default settings, and prints for each
 * whether it required approval and how it ended. The sandbox must not get in their way.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openGateway } from "../../../src/gateway/open.ts";
import { freePort } from "../../fixtures/free-port.ts";

export interface EverydayOutcome {
  command: string;
  asked: boolean;
  exitCode: number | null;
  output: string;
}

const PORT = await freePort();
const GIT = "git -c user.name=Ann -c user.email=ann@example.com";
/** Each command uses what the ones before it have created. */
const COMMANDS = [
  "git init -q repo && cd repo && echo one > a && git add a",
  `cd repo && ${GIT} commit -qm first && git log --oneline`,
  `cd repo && git checkout -qb topic && echo two >> a && git diff --stat && ${GIT} commit -qam second`,
  `cd repo && echo three >> a && ${GIT} stash -q && ${GIT} stash pop -q && git status --short`,
  "git clone -q repo copy && git -C copy branch -a",
  "cd repo && git worktree add -q ../tree -b other && git worktree list",
  "make && make test",
  "gcc -O1 -o main main.c && ./main",
  "python3 hello.py Ann",
  "python3 -m venv --without-pip .venv && .venv/bin/python --version",
  "echo '[1, 2]' | python3 -m json.tool",
  'f=$(mktemp) && echo text > "$f" && cat "$f" && rm "$f"',
  "mkdir -p /tmp/build && cp main.c /tmp/build/ && ls /tmp/build",
  "tar czf archive.tgz main.c hello.py && mkdir -p out && tar xzf archive.tgz -C out && ls out",
  "grep -rn main --include=*.c . | head -5",
  "find . -name '*.py' -not -path './.venv/*' | sort | xargs wc -l",
  "sed -i s/Hello/Hi/ hello.py && python3 hello.py Ann | grep Hi",
  "chmod +x script.sh && ./script.sh",
  "sleep 100 & kill $! && wait $!; test $? = 143",
  `python3 server.py & curl -sS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${PORT}/hello.py | grep Hi && kill $!`,
  "timeout 60 sh -c 'echo within time'",
  "awk 'END { print NR }' main.c; sort main.c | uniq -c | tail -1; ps -e | tail -1; df -h . | tail -1",
];

const FILES = {
  Makefile: "all: main\nmain: main.c\n\tgcc -o main main.c\ntest: main\n\t./main\n",
  "main.c": '#include <stdio.h>\nint main(void) { return puts("main") < 0; }\n',
  "hello.py": 'import sys\nprint("Hello", sys.argv[1])\n',
  "script.sh": "#!/bin/sh\necho script\n",
  "server.py": `from http.server import *\nHTTPServer(("127.0.0.1", ${PORT}), SimpleHTTPRequestHandler).serve_forever()\n`,
};

const [folder = ""] = process.argv.slice(2);
const workspace = join(folder, "everyday");
mkdirSync(workspace, { recursive: true });
mkdirSync(join(folder, "home"), { recursive: true });
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text);
let asked = false;
const gateway = await openGateway({
  state: join(folder, "state"),
  workspace,
  configuration: null,
  approve: async () => {
    asked = true;
    return { decision: "once", who: "tester" };
  },
});
for (const command of COMMANDS) {
  asked = false;
  const { exitCode, output, error } = await gateway.run({ command, timeoutMs: 300_000 });
  const outcome: EverydayOutcome = { command, asked, exitCode, output: `${output} ${error?.message ?? ""}` };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
await gateway.close();
