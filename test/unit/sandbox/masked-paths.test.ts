import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { SandboxPlanner } from "../../../src/sandbox/sandbox.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-denied-")));
after(() => rmSync(folder, { recursive: true }));

const home = join(folder, "home");
mkdirSync(home);

const CAPABILITIES = { landlock: 7, mounts: "root", isolation: true, networkNamespace: true, seccomp: true } as const;

/** The first home is the gateway's, the second that of the user commands run as. */
function specFor({
  homes = [""],
  keepOut = [],
  added = [],
}: {
  homes?: string[];
  keepOut?: string[];
  added?: string[];
}) {
  const [own = "", other] = homes;
  const ids = { uid: 1, gid: 1, groups: [1] };
  const planner = new SandboxPlanner({
    settings: { ...DEFAULTS, denied: added },
    workspace: folder,
    agent: "default",
    state: join(folder, "state"),
    keepOut,
    home: own,
    user: other === undefined ? null : { name: "other", home: other, ids },
    capabilities: () => CAPABILITIES,
  });
  const { spec } = planner.plan({});
  assert.ok(spec);
  return spec;
}

const deniedPaths = (input: Parameters<typeof specFor>[0]) => specFor(input).denied;

test("credentials, histories and browsers of every home are denied, there or not", () => {
  const other = join(folder, "other");
  const denied = deniedPaths({ homes: [home, other] });
  for (const name of [
    ".ssh",
    ".gnupg",
    ".aws",
    ".config/gcloud",
    ".kube",
    ".netrc",
    ".npmrc",
    ".bash_history",
    ".mozilla",
  ]) {
    assert.ok(denied.includes(join(home, name)), name);
    assert.ok(denied.includes(join(other, name)), `${name} of the other`);
  }
});

test("Sallyport's own folders and what is added are denied, nested ones named once", () => {
  const state = join(folder, "state");
  const denied = deniedPaths({ keepOut: [state], added: [join(state, "sessions"), "/srv/secrets"] });
  assert.ok(denied.includes(state));
  assert.ok(denied.includes("/srv/secrets"));
  assert.ok(!denied.includes(join(state, "sessions")));
});

test("a link is denied by its name and by where it leads", () => {
  const keys = join(folder, "keys");
  mkdirSync(keys);
  symlinkSync(keys, join(home, ".ssh"));
  const denied = deniedPaths({ homes: [home] });
  assert.ok(denied.includes(join(home, ".ssh")));
  assert.ok(denied.includes(keys));
});

test("folders on the way are followed, also where the last part does not exist", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "way"));
  const denied = deniedPaths({ added: [join(folder, "way", "a", "b")] });
  assert.ok(denied.includes(join(folder, "real", "a", "b")), denied.join("\n"));
});

test("a home that is the root, or none, denies nothing at random places", () => {
  for (const nowhere of ["/", "", "relative"]) {
    const denied = deniedPaths({ homes: [nowhere, nowhere] });
    assert.ok(!denied.includes("/.ssh"));
    assert.ok(denied.every((path) => path.startsWith("/")));
  }
});

/** The masked paths while these variables are set. */
function maskedPaths(variables: Record<string, string>): string[] {
  const names = ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GPG_AGENT_INFO", "TMUX"];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  try {
    Object.assign(process.env, variables);
    return specFor({}).masked;
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

test("sockets that would run or sign what a command tells them are masked", () => {
  const masked = maskedPaths({ SSH_AUTH_SOCK: "/no/such/agent.sock", XDG_RUNTIME_DIR: "/no/runtime" });
  const uid = process.getuid?.();
  for (const path of ["/no/such/agent.sock", "/no/runtime", `/run/user/${uid}`, `/tmp/tmux-${uid}`]) {
    assert.ok(masked.includes(path), path);
  }
  assert.ok(masked.some((path) => path.endsWith("/docker.sock")));
});

test("a variable that names no path, or a whole tree, masks nothing", () => {
  const plain = maskedPaths({});
  for (const value of ["", "agent.sock", "/", "/tmp"]) {
    assert.deepEqual(maskedPaths({ SSH_AUTH_SOCK: value, XDG_RUNTIME_DIR: value, TMUX: value }), plain, value);
  }
});
