import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Agent, CALL_LIMIT_SECONDS, type Reply } from "./agent.ts";
import { directoryOf, type Place, withArguments } from "./place.ts";

/** A task: the files it starts from, a fixed strategy, and a check of facts outside the server. */
export interface Task {
  name: string;
  /** Prepares the workspace. Returns a secret that only the right output or file contains. */
  prepare(place: Place): string;
  /** Does the task. Returns what the agent reports. */
  attempt(agent: Agent, place: Place, secret: string): Promise<string>;
  /** Returns null if the facts show that the task is done, otherwise what is wrong. */
  problem(place: Place, secret: string, report: string): string | null | Promise<string | null>;
}

const token = () => randomBytes(4).toString("hex");
const unless = (done: boolean, problem: string) => (done ? null : problem);

let lastMark = 86_400 + (process.pid % 10_000) * 100;

/** Returns a duration that no other process sleeps for, so that the processes of a task can be found. */
function mark(): string {
  return String(++lastMark);
}

async function noneLeft(text: string): Promise<string | null> {
  for (let waited = 0; waited < 3000; waited += 100) {
    if (withArguments(text).length === 0) return null;
    await pause(100);
  }
  return `${withArguments(text).length} processes are left running`;
}

/** 300 lines of progress, and the error that a C compiler prints for a missing semicolon. */
const BUILD = `for i in $(seq 1 300); do echo "  CC      src/module_$i.c -> build/module_$i.o"; done
if ! grep -q 'return 0;' src/parser.c; then
  echo "src/parser.c:3:11: error: expected ';' before '}' token" >&2
  echo "make: *** [Makefile:12: build/parser.o] Error 1" >&2
  exit 2
fi
mkdir -p build && echo linked > build/app && echo "  LINK    build/app"
`;

const failingBuild: Task = {
  name: "a failing build",
  prepare(place) {
    place.write({ "build.sh": BUILD, "src/parser.c": "int parse(void)\n{\n  return 0\n}\n" });
    return "";
  },
  async attempt(agent) {
    const { output } = await agent.complete("sh build.sh");
    const [, file, line] = /(\S+\.c):(\d+):\d+: error: expected ';'/.exec(output) ?? [];
    if (file === undefined) throw new Error("the error is not in the answer");
    await agent.complete(`sed -i '${line}s/$/;/' ${file} && sh build.sh`);
    return "";
  },
  problem: (place) => unless(place.read("build/app") !== null, "not built"),
};

const DEV_SERVER = `const { appendFileSync } = require("node:fs");
const server = require("node:http").createServer((request, response) => {
  appendFileSync("requests.log", request.url + "\\n");
  response.end("hello SECRET\\n");
});
let step = 0;
const timer = setInterval(() => {
  console.log("compiling " + ++step + "/5");
  if (step < 5) return;
  clearInterval(timer);
  server.listen(0, "127.0.0.1", () => console.log("ready on http://127.0.0.1:" + server.address().port + "/"));
}, 400);
`;

const devServer: Task = {
  name: "a dev server: start, wait, probe",
  prepare(place) {
    const secret = token();
    place.write({ "server.js": DEV_SERVER.replace("SECRET", secret) });
    return secret;
  },
  async attempt(agent) {
    const started = await agent.start("node server.js");
    const [, url] = await agent.until(/ready on (http:[\w.:/]+)/, started.handle, started);
    for (let tries = 0; tries < 3; tries++) {
      const { output } = await agent.run(`curl -s ${url}probe`, 10);
      if (output.includes("hello")) return output;
    }
    throw new Error("no answer from the dev server");
  },
  problem: (place, secret, report) =>
    unless(report.includes(secret) && place.read("requests.log") !== null, "the dev server was not probed"),
};

const CHALLENGE = `const [a, b] = [0, 0].map(() => 100 + Math.floor(Math.random() * 900));
globalThis.challenge = () => "multiply " + a + " by " + b;
globalThis.answer = (n) => {
  if (n !== a * b) return "wrong";
  require("node:fs").writeFileSync("solved", "SECRET");
  return "correct";
};
`;

const repl: Task = {
  name: "a REPL session",
  prepare(place) {
    const secret = token();
    place.write({ "challenge.cjs": CHALLENGE.replace("SECRET", secret) });
    return secret;
  },
  async attempt(agent) {
    const opened = await agent.open("node -i -r ./challenge.cjs");
    await agent.until(/(?:^|\n)>/, opened.handle, opened);
    const asked = await agent.write(opened.handle, "challenge()");
    const [, a, b] = await agent.until(/multiply (\d+) by (\d+)/, opened.handle, asked);
    const answered = await agent.write(opened.handle, `answer(${Number(a) * Number(b)})`);
    const [report] = await agent.until(/correct|wrong/, opened.handle, answered);
    return report;
  },
  problem: (place, secret) => unless(place.read("solved") === secret, "not solved"),
};

const SETUP = `printf 'Overwrite config.json? [y/N] '
read answer || { echo; echo 'setup: no answer, nothing was written' >&2; exit 1; }
[ "$answer" = y ] || exit 1
echo SECRET > config.json && echo 'config.json written'
`;

const prompt: Task = {
  name: "a y/n prompt",
  prepare(place) {
    const secret = token();
    place.write({ "setup.sh": SETUP.replace("SECRET", secret) });
    return secret;
  },
  async attempt(agent) {
    const first = await agent.run("sh setup.sh", 10);
    if (first.running && first.handle !== null && agent.tools.write) {
      await agent.write(first.handle, "y");
      return "";
    }
    if (first.running && first.handle !== null) await agent.stop(first.handle);
    await agent.run("printf 'y\\n' | sh setup.sh", 10);
    return "";
  },
  problem: (place, secret) => unless(place.read("config.json") === `${secret}\n`, "not written"),
};

/** 1.2 million lines of 44 bytes, and one in the middle that matters. */
const NOISE = `lines() { seq -f 'request %08.0f served in 12 ms by worker 03' "$1" "$2"; }
lines 1 600000; echo 'ERROR request 600001 failed: trace SECRET'; lines 600002 1200000
`;

const bigLog: Task = {
  name: "a 50 MB log searched for one line",
  prepare(place) {
    const secret = token();
    place.write({ "job.sh": NOISE.replace("SECRET", secret) });
    return secret;
  },
  async attempt(agent) {
    const found = (reply: Reply) => /ERROR .*trace \w+/.exec(reply.output)?.[0];
    const ran = await agent.complete("sh job.sh");
    let line = found(ran);
    const { search } = agent.tools;
    for (let page = 0; line === undefined && search && ran.handle !== null && page < 20; page++) {
      const reply = await agent.call("read", search(ran.handle, "ERROR"));
      line = found(reply);
      if (!/left to read|call .* again/.test(reply.text)) break;
    }
    return line ?? found(await agent.run("sh job.sh | grep ERROR")) ?? "";
  },
  problem: (_place, secret, report) => unless(report.includes(secret), "the line was not found"),
};

const hung: Task = {
  name: "a hung command",
  prepare(place) {
    const secret = mark();
    place.write({ "hang.sh": `trap '' TERM\necho connecting\nsleep ${secret} & wait\n` });
    return secret;
  },
  async attempt(agent) {
    const reply = await agent.run("sh hang.sh", 5);
    if (reply.running && reply.handle !== null) await agent.stop(reply.handle);
    // The client stopped waiting, and no answer names the command.
    if (reply.late) await agent.run("pkill -9 -f hang.sh; true", 10);
    return reply.text;
  },
  problem: (_place, secret) => noneLeft(`sleep ${secret}`),
};

const overLimit: Task = {
  name: "a command over the call limit",
  prepare(place) {
    const secret = token();
    const seconds = CALL_LIMIT_SECONDS + 5;
    place.write({ "deploy.sh": `echo run >> runs\nsleep ${seconds}\necho 'deployed as ${secret}'\n` });
    return secret;
  },
  async attempt(agent) {
    const reply = await agent.complete("sh deploy.sh", 60);
    if (!reply.late) return reply.output;
    const again = await agent.start("sh deploy.sh");
    const [report] = await agent.until(/deployed as \w+/, again.handle, again);
    return report;
  },
  problem: (place, secret, report) =>
    unless(report.includes(secret), "the result was not found") ??
    unless(place.read("runs") === "run\n", "it ran twice, as its first result was lost"),
};

const blocked: Task = {
  name: "a blocked command",
  prepare(place) {
    const secret = token();
    place.write({ "app.conf": secret });
    return secret;
  },
  async attempt(agent) {
    const reply = await agent.run("sudo cp app.conf installed.conf", 10);
    if (reply.isError || reply.exitCode !== 0) await agent.run("cp app.conf installed.conf", 10);
    return "";
  },
  problem: (place, secret) => unless(place.read("installed.conf") === secret, "not copied"),
};

const deniedWrite: Task = {
  name: "a denied write",
  prepare(place) {
    const secret = token();
    place.write({ "report.sh": `echo ${secret} > "$1"/report.txt\n` });
    return secret;
  },
  async attempt(agent) {
    // The kernel denies this to every user, with and without a sandbox.
    const reply = await agent.run("sh report.sh /sys", 10);
    if (reply.isError || reply.exitCode !== 0 || /denied|read-only/i.test(reply.text))
      await agent.run("sh report.sh .");
    return "";
  },
  problem: (place, secret) => unless(place.read("report.txt") === `${secret}\n`, "not written"),
};

function git(place: Place, ...words: string[]): string {
  const identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  return execFileSync("git", [...identity, ...words], { cwd: place.workspace, encoding: "utf8", env: place.env() });
}

const commit: Task = {
  name: "`git commit` without -m",
  prepare(place) {
    place.write({ "notes.txt": "one\n" });
    git(place, "init", "-q", "-b", "main");
    git(place, "config", "user.name", "bench");
    git(place, "config", "user.email", "bench@localhost");
    git(place, "add", ".");
    return token();
  },
  async attempt(agent, _place, secret) {
    const first = await agent.run("git commit", 10);
    if (first.running && first.handle !== null) await agent.stop(first.handle);
    const second = await agent.run(`git commit -m ${secret}`, 10);
    if (second.text.includes("index.lock")) {
      await agent.run(`rm -f .git/index.lock && git commit -m ${secret}`, 10);
    }
    return "";
  },
  problem(place, secret) {
    const editors = withArguments("COMMIT_EDITMSG").filter((pid) => directoryOf(pid) === place.workspace);
    const subjects = git(place, "log", "--all", "--format=%s");
    return (
      unless(subjects === `${secret}\n`, "not committed") ?? unless(editors.length === 0, "the editor is left running")
    );
  },
};

const exitNoticed: Task = {
  name: "a background job's exit",
  prepare(place) {
    const code = String(3 + Math.floor(Math.random() * 90));
    place.write({ "job.sh": `sleep 4\nexit ${code}\n` });
    return code;
  },
  async attempt(agent) {
    const started = await agent.start("sh job.sh");
    return String((await agent.exit(started.handle, started)).exitCode);
  },
  problem: (_place, secret, report) => unless(report === secret, `exit code ${report} instead of ${secret}`),
};

const cleanUp: Task = {
  name: "cleaning up",
  prepare(place) {
    const secret = mark();
    place.write({ "services.sh": `setsid sleep ${secret} & sleep ${secret} & sleep ${secret}\n` });
    return secret;
  },
  async attempt(agent, _place, secret) {
    const started = await agent.start("sh services.sh");
    for (let waited = 0; withArguments(`sleep ${secret}`).length < 3 && waited < 5000; waited += 50) await pause(50);
    await agent.stop(started.handle);
    const left = await agent.run(`pgrep -f 'sleep[ ]${secret}' || echo none`, 10);
    if (!/none/.test(left.output)) await agent.run(`pkill -9 -f 'sleep[ ]${secret}'`, 10);
    return "";
  },
  problem: (_place, secret) => noneLeft(`sleep ${secret}`),
};

export const TASKS: Task[] = [
  failingBuild,
  devServer,
  repl,
  prompt,
  bigLog,
  hung,
  overLimit,
  blocked,
  deniedWrite,
  commit,
  exitNoticed,
  cleanUp,
];
