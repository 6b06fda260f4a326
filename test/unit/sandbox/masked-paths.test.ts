import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { SandboxPlanner } from "../../../src/sandbox/sandbox.ts";
import { CAPABILITIES } from "../../fixtures/capabilities.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-denied-")));
after(() => rmSync(folder, { recursive: true }));

const home = join(folder, "home");
mkdirSync(home);
mkdirSync(join(folder, "state")); // remembers the folder of temporary directories

/** Plans a sandbox. `homes` has the home directories of the gateway's user and of the user that commands run as. */
function specFor({
  homes = [""],
  keepOut = [],
  added = [],
  uid = 1,
  others = [],
  readable = [],
}: {
  homes?: string[];
  others?: string[];
  readable?: string[];
  keepOut?: string[];
  added?: string[];
  uid?: number;
}) {
  const [own = "", other] = homes;
  const ids = { uid, gid: uid, groups: [uid] };
  const planner = new SandboxPlanner({
    settings: { ...DEFAULTS, denied: added, readable },
    workspace: folder,
    agent: "default",
    state: join(folder, "state"),
    keepOut,
    home: own,
    homes: { own: homes, others },
    user: other === undefined ? null : { name: "other", home: other, ids },
    path: "/usr/bin:/bin",
    capabilities: () => CAPABILITIES,
  });
  const { spec } = planner.plan({});
  assert.ok(spec);
  return spec;
}

const deniedPaths = (input: Parameters<typeof specFor>[0]) => specFor(input).denied;

test("masks credentials, histories and browser profiles in every home directory, even if they do not exist", () => {
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
    assert.ok(denied.includes(join(other, name)), `${name} in the other home directory`);
  }
});

test("masks credentials of coding agents, clouds, package registries and password managers", () => {
  const denied = deniedPaths({ homes: [home] });
  const names = `.claude.json .config/github-copilot .cache/huggingface/token .m2/settings.xml .local/share/atuin
    .Xauthority .oci .terraformrc .config/sops .config/age .mylogin.cnf .databrickscfg .config/rbw .config/hcloud`;
  for (const name of names.split(/\s+/)) assert.ok(denied.includes(join(home, name)), name);
});

test("masks only existing credentials in the homes of other users", () => {
  const other = join(folder, "third");
  mkdirSync(join(other, ".ssh"), { recursive: true });
  mkdirSync(join(other, ".config", "gh"), { recursive: true });
  const denied = deniedPaths({ homes: [home], others: [other, join(folder, "missing")] });
  const found = denied.filter((path) => path.startsWith(other) || path.includes("missing"));
  assert.deepEqual(found.sort(), [join(other, ".config/gh"), join(other, ".ssh")]);
});

test("does not mask built-in paths that the operator made readable", () => {
  const settings = { homes: [home], readable: ["~/.m2", join(home, ".config/gh")], added: [join(home, ".m2/other")] };
  const denied = deniedPaths(settings);
  assert.ok(!denied.includes(join(home, ".m2/settings.xml")));
  assert.ok(!denied.includes(join(home, ".config/gh")));
  assert.ok(denied.includes(join(home, ".m2/other")), "a path in `denied` stays denied");
  assert.ok(denied.includes(join(home, ".ssh")));
});

test("masks Sallyport's folders and configured paths, and omits paths inside other masked paths", () => {
  const state = join(folder, "state");
  const denied = deniedPaths({ keepOut: [state], added: [join(state, "sessions"), "/srv/secrets"] });
  assert.ok(denied.includes(state));
  assert.ok(denied.includes("/srv/secrets"));
  assert.ok(!denied.includes(join(state, "sessions")));
});

test("masks both a link and its target", () => {
  const keys = join(folder, "keys");
  mkdirSync(keys);
  symlinkSync(keys, join(home, ".ssh"));
  const denied = deniedPaths({ homes: [home] });
  assert.ok(denied.includes(join(home, ".ssh")));
  assert.ok(denied.includes(keys));
});

test("resolves parent folders, even if the path does not exist", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "way"));
  const denied = deniedPaths({ added: [join(folder, "way", "a", "b")] });
  assert.ok(denied.includes(join(folder, "real", "a", "b")), denied.join("\n"));
});

test("ignores a home directory that is empty or the root directory", () => {
  for (const nowhere of ["/", "", "relative"]) {
    const denied = deniedPaths({ homes: [nowhere, nowhere] });
    assert.ok(!denied.includes("/.ssh"));
    assert.ok(denied.every((path) => path.startsWith("/")));
  }
});

/** Returns the masked paths while these variables are set. */
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

test("masks sockets of programs that run or sign for their clients", () => {
  const masked = maskedPaths({ SSH_AUTH_SOCK: "/no/such/agent.sock", XDG_RUNTIME_DIR: "/no/runtime" });
  const uid = process.getuid?.();
  for (const path of ["/no/such/agent.sock", "/no/runtime", "/run/user", "/run/dbus", `/tmp/tmux-${uid}`]) {
    assert.ok(masked.includes(path), path);
  }
  assert.ok(masked.some((path) => path.endsWith("/docker.sock")));
});

test("masks terminal multiplexers of the user that commands run as", () => {
  const { masked } = specFor({ homes: [home, join(folder, "other")], uid: 4242 });
  for (const uid of [process.getuid?.(), 4242]) assert.ok(masked.includes(`/tmp/tmux-${uid}`), String(uid));
});

test("denies the system's secrets to commands of root, so that they stay unreadable when they are replaced", () => {
  const homes = [home, join(folder, "other")];
  assert.ok(specFor({ homes, uid: 4242 }).masked.includes("/etc/shadow"));
  assert.ok(!deniedPaths({ homes, uid: 4242 }).includes("/etc/shadow"));
  for (const path of [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/shadow+",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
  ]) {
    assert.ok(deniedPaths({ homes, uid: 0 }).includes(path), path);
  }
});

test("ignores a variable that is not an absolute path or names a top-level folder", () => {
  const plain = maskedPaths({});
  for (const value of ["", "agent.sock", "/", "/tmp"]) {
    assert.deepEqual(maskedPaths({ SSH_AUTH_SOCK: value, XDG_RUNTIME_DIR: value, TMUX: value }), plain, value);
  }
});
