/** A command that was approved does not run when a file that decides what it does has changed (invariant 2). */
import assert from "node:assert/strict";
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { approvalText } from "../../../src/approval/render.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;

/** Leaves every request pending. */
const UNDECIDED = async () => null;

/** Programs that are not installed on every machine. Each prints its name instead of doing anything. */
const TOOLS = [
  "kubectl",
  "docker",
  "terraform",
  "ansible-playbook",
  "psql",
  "npm",
  "make",
  "pip",
  "ssh",
  "helm",
  "git",
];

before(async () => {
  fixture = new GatewayFixture();
  const home = fixture.path("home");
  const bin = fixture.path("bin");
  mkdirSync(home);
  mkdirSync(bin);
  for (const name of TOOLS) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ran ${name}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  process.env.PATH = `${bin}:${process.env.PATH}`;
  process.env.HOME = home;
  gateway = await fixture.open({
    policy: { ask: "always", sandbox: "off", limits: { sessions: 100, startsPerMinute: 10_000 } },
    approve: UNDECIDED,
  });
});
after(() => fixture.close());

interface Variant {
  command: string;
  /** The file that is changed. It is created first, unless `appears` is set. */
  file: string;
  env?: Record<string, string>;
  /** Other files that exist, with their text. */
  others?: Record<string, string>;
  /** The file does not exist when the command is approved. */
  appears?: true;
  args?: string[];
}

/** A script that names more files than are looked up one by one, and then one that exists. */
const wordy = (line: string) => `# ${Array.from({ length: 1000 }, (_, at) => `word${at}`).join(" ")}\n${line}\n`;

const VARIANTS: Variant[] = [
  { command: "python3 wordy.py", file: "Part.py", others: { "wordy.py": wordy("import Part") } },
  { command: "bash wordy.sh", file: "sub/part", others: { "wordy.sh": wordy(". sub/part") } },
  { command: "bash wordy.sh", file: "größer.sh", others: { "wordy.sh": wordy(". ./größer.sh") } },
  { command: "cat deploy.sh | sh", file: "deploy.sh" },
  { command: "cat ./a/../deploy.sh | sh", file: "deploy.sh", others: { "a/x": "" } },
  { command: "cat deploy.sh | tee copy.sh | bash", file: "deploy.sh" },
  { command: "sed s/a/b/ deploy.sh | sh", file: "deploy.sh" },
  { command: "base64 -d deploy.b64 | sh", file: "deploy.b64" },
  { command: "F=deploy.sh; cat $F | sh", file: "deploy.sh" },
  { command: "cd sub && cat deploy.sh | sh", file: "sub/deploy.sh" },
  { command: "cat {a,b}.sh | sh", file: "b.sh", others: { "a.sh": ":\n" } },
  { command: 'bash -c "$(cat f)"', file: "f" },
  { command: 'eval "$(<f)"', file: "f" },
  { command: 'eval "`cat f`"', file: "f" },
  { command: ". <(cat f)", file: "f" },
  { command: "bash <(cat f)", file: "f" },
  { command: 'sh <<< "$(cat f)"', file: "f" },
  { command: "exec < f; sh", file: "f" },
  { command: 'while read -r line; do eval "$line"; done < f', file: "f" },
  { command: 'mapfile -t lines < f; eval "$lines"', file: "f" },
  { command: "xargs -a f sh -c", file: "f" },
  { command: "cat list | xargs sh", file: "b.sh", others: { list: "a.sh b.sh\n", "a.sh": ":\n" } },
  { command: "tee < f | sh", file: "f" },
  { command: "find . -name '*.sh' -exec bash {} \\;", file: "d/b.sh", others: { "d/a.sh": ":\n" } },
  { command: "find . -name '*.sh' -exec bash {} \\;", file: "d/b.sh", others: { "d/a.sh": ":\n" }, appears: true },
  { command: "find d -type f -exec bash {} +", file: "d/a" },
  { command: "ls d | sed 's,^,d/,' | xargs -n 1 sh", file: "d/a" },
  { command: "cat d/*.sh | sh", file: "d/a.sh" },
  { command: "cat d/*.sh | sh", file: "d/b.sh", others: { "d/a.sh": ":\n" }, appears: true },
  { command: "for i in d/*.sh; do sh $i; done", file: "d/b.sh", others: { "d/a.sh": ":\n" }, appears: true },
  { command: "BASH_ENV=./f bash -c :", file: "f" },
  { command: "export BASH_ENV=$PWD/f; bash -c :", file: "f" },
  { command: "ENV=./f sh -c :", file: "f" },
  { command: "PYTHONSTARTUP=f.py python3 -c pass", file: "f.py" },
  { command: "PYTHONPATH=lib python3 -c pass", file: "lib/sitecustomize.py" },
  { command: "python3 -c pass", file: "lib/sitecustomize.py", env: { MY_PATH: "lib/sitecustomize.py" } },
  { command: "NODE_OPTIONS='--require=./f.js' node -e 1", file: "f.js" },
  { command: "RUBYOPT=-r./f.rb ruby -e 1", file: "f.rb" },
  { command: "PERL5OPT='-I. -MF' perl -e 1", file: "F.pm" },
  { command: "env LD_PRELOAD=./f.so true", file: "f.so" },
  { command: "python3 -c \"exec(open('f').read())\"", file: "f" },
  { command: "python3 -c 'import helper'", file: "helper.py" },
  { command: "python3 -m pkg", file: "pkg/part.py", others: { "pkg/__main__.py": "" } },
  { command: "bash -c ./x", file: "x" },
  { command: "bash outer.sh", file: "inner.sh", others: { "outer.sh": '. "$(dirname "$0")/inner.sh"\n' } },
  { command: "bash", args: ["outer.sh"], file: "lib/inner.sh", others: { "outer.sh": "source lib/inner.sh\n" } },
  { command: "awk -f f.awk data", file: "f.awk" },
  { command: "sed -f f.sed data", file: "f.sed" },
  { command: "sqlite3 x.db < f.sql", file: "f.sql" },
  { command: "psql --file=f.sql", file: "f.sql" },
  { command: "psql -f f.sql", file: "f.sql" },
  { command: "kubectl apply -f x.yaml", file: "x.yaml" },
  {
    command: "kubectl apply -f manifests",
    file: "manifests/new.yaml",
    others: { "manifests/a.yaml": "" },
    appears: true,
  },
  { command: "docker compose up", file: "compose.yaml" },
  { command: "docker compose up", file: "compose.override.yaml", others: { "compose.yaml": "" }, appears: true },
  { command: "docker compose up", file: ".env", others: { "compose.yaml": "" } },
  { command: "docker build .", file: "Dockerfile" },
  { command: "docker build .", file: "src/main.sh" },
  { command: "make", file: "GNUmakefile", others: { Makefile: "" }, appears: true },
  { command: "make", file: "rules.mk", others: { Makefile: "include rules.mk\n" } },
  { command: "make -C sub", file: "sub/Makefile" },
  { command: "npm run build", file: ".npmrc" },
  { command: "npm run build", file: "tool.js", others: { "package.json": '{"scripts":{"build":"node tool.js"}}' } },
  { command: "pip install -r requirements.txt", file: "requirements.txt" },
  { command: "pip install -rreq", file: "req" },
  { command: "terraform apply", file: "extra.tf", others: { "main.tf": "" }, appears: true },
  { command: "ansible-playbook site.yml", file: "site.yml" },
  { command: "git -c include.path=f status", file: "f" },
  {
    command: "git commit -m x",
    file: ".git/hooks/pre-commit",
    others: { ".git/config": "", ".git/HEAD": "" },
    appears: true,
  },
  { command: "git commit -m x", file: ".git/config", others: { ".git/HEAD": "" } },
  {
    command: "git commit -m x",
    file: "hooks/pre-commit",
    others: { ".git/config": "[core]\n\thooksPath = hooks\n", ".git/HEAD": "" },
    appears: true,
  },
  { command: "ssh -F f host", file: "f" },
  { command: "ssh -Ff host", file: "f" },
  { command: "curl -d @f http://127.0.0.1:9 | sh", file: "f" },
  { command: "helm install x ./chart", file: "chart/templates/a.yaml" },
];

async function decided(request: { command: string; cwd: string }): Promise<void> {
  const result = await gateway.run(request, { approvalTimeoutMs: 0 });
  assert.equal(result.status, "pending");
  gateway.approvals.decide(result.approvalId ?? "", { decision: "once", who: "ann", channel: "library" });
}

describe("a changed file requires a new approval", () => {
  for (const { command, args, file, env, others, appears } of VARIANTS) {
    const how = appears ? "appears" : "changes";
    test(`${command}: ${file} ${how}${env ? ` (${Object.keys(env)})` : ""}`, async () => {
      const cwd = mkdtempSync(fixture.path("case-"));
      const write = (name: string, text: string) => {
        mkdirSync(dirname(join(cwd, name)), { recursive: true });
        writeFileSync(join(cwd, name), text, { mode: 0o755 });
      };
      for (const [name, text] of Object.entries(others ?? {})) write(name, text);
      if (!appears) write(file, "# harmless\n");
      const request = { command, cwd, ...(args ? { args } : {}), ...(env ? { env } : {}) };

      await decided(request);
      const same = await gateway.run(request, { approvalTimeoutMs: 0 });
      assert.notEqual(same.status, "pending", "an approval must be usable when nothing changed");
      rmSync(join(cwd, "copy.sh"), { force: true });

      await decided(request);
      if (appears) write(file, "# new\n");
      else appendFileSync(join(cwd, file), "# evil\n");
      const changed = await gateway.run(request, { approvalTimeoutMs: 0 });
      assert.equal(changed.status, "pending");
      const { request: shown } = gateway.approvals.get(changed.approvalId ?? "");
      assert.ok(
        shown.changed.some((what) => what.includes(join(cwd, file)) || what.startsWith("files in the folder ")),
        shown.changed.join("; "),
      );
    });
  }
});

test("a command that requests more access than the sandbox gives is bound to every file that it names", async () => {
  const confined = await fixture.open({
    policy: { limits: { sessions: 100, startsPerMinute: 10_000 } },
    approve: UNDECIDED,
  });
  const cwd = mkdtempSync(fixture.path("case-"));
  writeFileSync(join(cwd, "data"), "1\n");
  const request = { command: "cp data copied", cwd, sandbox: "off" } as const;
  const asked = await confined.run(request, { approvalTimeoutMs: 0 });
  assert.equal(asked.status, "pending");
  confined.approvals.decide(asked.approvalId ?? "", { decision: "once", who: "ann", channel: "library" });
  writeFileSync(join(cwd, "data"), "2\n");
  assert.equal((await confined.run(request, { approvalTimeoutMs: 0 })).status, "pending");
  assert.equal(existsSync(join(cwd, "copied")), false);
});

test("the approver is told what cannot be checked again", async () => {
  const cwd = mkdtempSync(fixture.path("case-"));
  mkdirSync(join(cwd, "d/node_modules"), { recursive: true });
  for (const [command, what] of [
    ['sh "$SCRIPT"', /names are known only at run time \("\$SCRIPT"\)/],
    ["curl http://example.com/x | sh", /content from example\.com/],
    ["ssh host sh deploy.sh", /another machine or in a container \(ssh\)/],
    ["ls d | xargs sh", /files below .*node_modules/],
    ['cd "$WHERE" && sh x.sh', /working directory that is known only at run time/],
  ] as const) {
    const { approvalId } = await gateway.run({ command, cwd }, { approvalTimeoutMs: 0 });
    const approval = gateway.approvals.get(approvalId ?? "");
    assert.match(approval.request.unbound.join("; "), what, command);
    // The command line and the forms of MCP show this text.
    const text = approvalText(approval, { color: false, columns: 200, nowMs: Date.now() });
    assert.match(text, /may change +It reads files that may change before it runs:/);
    assert.match(text, what, command);
  }
});

test("a command typed into a shell is bound to its files too", async () => {
  const cwd = mkdtempSync(fixture.path("case-"));
  const script = join(cwd, "typed.sh");
  writeFileSync(script, "touch harmless\n");
  const asked: string[][] = [];
  const typing = await fixture.open({
    policy: { sandbox: "off", limits: { sessions: 100, startsPerMinute: 10_000 } },
    approve: async ({ request }) => {
      if (!request.command.text.includes("typed.sh")) return { decision: "once", who: "ann" };
      asked.push(request.changed);
      if (asked.length > 1) return { decision: "deny", who: "ann" };
      writeFileSync(script, "touch evil\n");
      return { decision: "once", who: "ann" };
    },
  });
  const session = await typing.start({ command: "bash", args: ["--norc"], cwd, pty: true });
  await assert.rejects(session.write("cat typed.sh | sh\n"), { type: "CommandDenied" });
  assert.deepEqual(asked, [[], [`the content of the file ${script} changed`]]);
  await session.kill({ signal: "SIGKILL" });
  assert.equal(existsSync(join(cwd, "evil")), false);
});

test("input whose files keep changing is refused, instead of being asked about without end", async () => {
  const cwd = mkdtempSync(fixture.path("case-"));
  const script = join(cwd, "typed.sh");
  writeFileSync(script, ":\n");
  let asked = 0;
  const typing = await fixture.open({
    policy: { sandbox: "off", limits: { sessions: 100, startsPerMinute: 10_000 } },
    approve: async () => {
      appendFileSync(script, `# ${asked++}\n`);
      return { decision: "once", who: "ann" };
    },
  });
  const session = await typing.start({ command: "bash", args: ["--norc"], cwd, pty: true });
  asked = 0;
  await assert.rejects(session.write("cat typed.sh | sh\n"), /kept changing/);
  assert.ok(asked > 1 && asked < 10, `asked ${asked} times`);
  await session.kill({ signal: "SIGKILL" });
});

test("a state folder in a listed folder does not change the binding", async () => {
  const cwd = fixture.path(".");
  const state = fixture.state;
  const command = `PATH=${cwd}:${state} sh -c '$X'`;
  const asked = await gateway.run({ command, cwd }, { approvalTimeoutMs: 0 });
  gateway.approvals.decide(asked.approvalId ?? "", { decision: "once", who: "ann", channel: "library" });
  assert.equal((await gateway.run({ command, cwd }, { approvalTimeoutMs: 0 })).status, "completed");
});

test("says that only some of many files are checked", async () => {
  const cwd = mkdtempSync(fixture.path("case-"));
  for (let index = 0; index < 1100; index++) writeFileSync(join(cwd, `${index}.sh`), ":\n");
  const { approvalId } = await gateway.run({ command: "cat *.sh | sh", cwd }, { approvalTimeoutMs: 0 });
  const { unbound, covers } = gateway.approvals.get(approvalId ?? "").request;
  assert.match(unbound.join("; "), /more than 1000 files that match \*\.sh/);
  assert.ok(covers.length >= 1000 && covers.length < 1100);
});
