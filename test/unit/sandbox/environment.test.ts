import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nameTable } from "../../../schema/name-table.ts";
import { SallyportError } from "../../../src/core/error.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { confine, createConfinement } from "../../../src/sandbox/confine.ts";

type Variables = Record<string, string>;
type Rules = { pass: readonly string[]; block: readonly string[] };

const NO_RULES = { pass: [], block: [] };
const COMMAND = { command: "true" };

function confinementFor(parentEnv: Variables, env: Rules) {
  const folders = { workspace: import.meta.dirname, agent: "default", state: "/nowhere", keepOut: [] };
  return createConfinement({ ...DEFAULTS, sandbox: "off", env }, { ...folders, parentEnv, capabilities: () => null });
}

/** Returns the environment of a command without PATH, which every command has. */
function sanitizeEnvironment(parent: Variables, given: Variables | undefined, rules: Rules): Variables {
  const { PATH, ...rest } = confine({ ...COMMAND, ...(given && { env: given }) }, confinementFor(parent, rules)).env;
  return PATH !== undefined && ("PATH" in parent || given?.PATH !== undefined) ? { ...rest, PATH } : rest;
}

/** Names, then K (kept) or D (dropped) when inherited, and A (allowed) or R (refused) when a caller sets them. */
const TABLE = `
  PATH K R | HOME K R | USER K R | LOGNAME K R | SHELL K R | PWD K R | OLDPWD K R | XDG_CONFIG_HOME K R
  XDG_STATE_HOME K R | XDG_RUNTIME_DIR K R | SALLYPORT_STATE K R | SALLYPORT_ANYTHING K R | ENABLE_EXECUTE K R
  LANG K A | LC_ALL K A | TERM K A | TZ K A | TMPDIR K A | CI K A | NODE_ENV K A | DEBUG K A | FOO K A | EDITION K A
  HTTP_PROXY K A | no_proxy K A | JAVA_HOME K A | VIRTUAL_ENV K A | GOPATH K A | CARGO_HOME K A | NVM_DIR K A
  COLUMNS K A | COLORTERM K A | NO_COLOR K A | HOSTNAME K A | SHLVL K A | XDG_DATA_HOME K A | NODE_TEST_CONTEXT K A
  CC K A | CFLAGS K A | PKG_CONFIG_PATH K A | GIT_AUTHOR_NAME K A | GIT_COMMITTER_EMAIL K A | GIT_TERMINAL_PROMPT K A
  ANTHROPIC_API_KEY D R | AWS_SECRET_ACCESS_KEY D R | DATABASE_URL D R | DB_PASSWORD D R | GITHUB_TOKEN D R
  LD_PRELOAD D R | OPENAI_API_KEY D R | OPENROUTER_API_KEY D R | PASSWORD D R | PRIVATE_KEY D R | PYTHONPATH D R
  SECRET_KEY D R | LD_LIBRARY_PATH D R | LD_AUDIT D R | LD_DEBUG_OUTPUT D R | DYLD_INSERT_LIBRARIES D R | GCONV_PATH D R
  GLIBC_TUNABLES D R | OPENSSL_CONF D R | SSLKEYLOGFILE D R | BASH_ENV D R | ENV D R | BASH_FUNC_ls%% D R
  BASH_FUNC_x() D R | SHELLOPTS D R | BASHOPTS D R | BASH_XTRACEFD D R | POSIXLY_CORRECT D R | PS4 D R
  PROMPT_COMMAND D R | IFS D R | CDPATH D R | GLOBIGNORE D R | EXECIGNORE D R | ZDOTDIR D R | INPUTRC D R
  NODE_OPTIONS D R | NODE_PATH D R | BUN_OPTIONS D R | PYTHONSTARTUP D R | PYTHONHOME D R | PYTHONINSPECT D R
  PYTHONBREAKPOINT D R | PYTHONUNBUFFERED K A | PYTHONDONTWRITEBYTECODE K A | PYTHONIOENCODING K A | PERL5OPT D R
  PERL5LIB D R | PERL5DB D R | PERLLIB D R | RUBYOPT D R | RUBYLIB D R | JAVA_TOOL_OPTIONS D R | _JAVA_OPTIONS D R
  JDK_JAVA_OPTIONS D R | CLASSPATH D R | DOTNET_STARTUP_HOOKS D R | CORECLR_PROFILER D R | LUA_INIT D R | LUA_INIT_5_4 D R
  PHPRC D R | R_PROFILE_USER D R | ERL_AFLAGS D R | AWKPATH D R | VIMINIT D R | GIT_SSH D R | GIT_SSH_COMMAND D R
  GIT_SSH_VARIANT D R | GIT_PROXY_COMMAND D R | GIT_EXTERNAL_DIFF D R | GIT_PAGER D R | GIT_EDITOR D R
  GIT_SEQUENCE_EDITOR D R | GIT_CONFIG_GLOBAL D R | GIT_CONFIG_COUNT D R | GIT_CONFIG_KEY_0 D R | GIT_CONFIG_PARAMETERS D R
  GIT_EXEC_PATH D R | GIT_TEMPLATE_DIR D R | GIT_TRACE D R | GIT_TRACE2_EVENT D R | GIT_DIR D R | GIT_ASKPASS D R
  SSH_ASKPASS D R | SUDO_ASKPASS D R | PAGER D R | MANPAGER D R | AWS_PAGER D R | EDITOR D R | VISUAL D R
  KUBE_EDITOR D R | BROWSER D R | LESSOPEN D R | LESSCLOSE D R | LESS D R | TAR_OPTIONS D R | RSYNC_RSH D R | ZIPOPT D R
  GREP_OPTIONS D R | npm_config_script_shell D R | npm_config_node_options D R | npm_config_registry K A
  NPM_CONFIG_SCRIPT_SHELL D R | Npm_Config_Script-Shell D R | NPM_CONFIG_REGISTRY K A | JRUBY_OPTS D R | GH_BROWSER D R
  CCACHE_PREFIX K R | NODE_COMPILE_CACHE D R
  RUSTC_WRAPPER K R | CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER K R | GOFLAGS K R | MAKEFLAGS K R | GRADLE_OPTS K R
  SSH_AUTH_SOCK D R | SSH_AGENT_PID D R | GPG_AGENT_INFO D R | DOCKER_HOST D R | DBUS_SESSION_BUS_ADDRESS D R | TMUX D R
  STY D R | VSCODE_IPC_HOOK_CLI D R | VSCODE_GIT_ASKPASS_NODE D R | SWAYSOCK D R | XAUTHORITY D R | LISTEN_FDS D R
  SUDO_COMMAND D R | DISPLAY D A | WAYLAND_DISPLAY D A | NPM_TOKEN D R | CI_JOB_TOKEN D R | TOKEN D R | gh_token D R
  ACTIONS_ID_TOKEN_REQUEST_URL D R | AWS_ACCESS_KEY_ID D R | AWS_SESSION_TOKEN D R | STRIPE_SECRET D R
  CLIENT_SECRET_ID D R | PGPASSWORD D R | MYSQL_PWD D R | SMTP_PASS D R | VAULT_PASSPHRASE D R | SSH_PRIVATE_KEY D R
  ENCRYPTION_KEY D R | API_KEYS D R | MAPS_APIKEY D R | GOOGLE_APPLICATION_CREDENTIALS D R | AZURE_PAT D R
  NPM_CONFIG__AUTH D R | SESSION_COOKIE D R | SENTRY_DSN D R | SLACK_WEBHOOK_URL D R | SERVICE_JWT D R
  AZURE_STORAGE_CONNECTION_STRING D R | TOKENIZERS_PARALLELISM K A | MAX_TOKENS K A | KEYBOARD K A | MONKEY K A
  COMPASS K A | AUTHOR K A | PATTERN K A | SSL_CERT_FILE K A
`;

const rows = TABLE.split(/[|\n]/)
  .map((row) => row.trim().split(/ +/))
  .filter(([name]) => name) as [string, string, string][];

test("the table of this test has more than 180 variable names", () =>
  assert.ok(rows.length > 180, String(rows.length)));

for (const [name, inherited, given] of rows) {
  test(`${name} is ${inherited === "K" ? "inherited" : "not inherited"} and ${given === "A" ? "can" : "cannot"} be set by a caller`, () => {
    const parent = { [name]: "some value" };
    assert.equal(name in sanitizeEnvironment(parent, undefined, NO_RULES), inherited === "K");
    if (given === "A") {
      assert.deepEqual(sanitizeEnvironment({}, { [name]: "v" }, NO_RULES), { [name]: "v" });
      return;
    }
    assert.throws(
      () => sanitizeEnvironment({}, { FINE: "1", [name]: "v" }, NO_RULES),
      (error) => {
        assert.ok(error instanceof SallyportError);
        assert.equal(error.type, "InvalidRequest");
        assert.match(error.message, /^`env\./);
        assert.ok(error.message.includes(name));
        assert.ok(error.recovery.length > 0);
        assert.equal(error.details.name, name);
        return true;
      },
    );
  });
}

test("a variable whose value is a URL with a password is not inherited", () => {
  const parent = {
    HTTPS_PROXY: "http://me:hunter2@proxy:3128",
    REDIS: "redis://:hunter2@localhost:6379/0",
    PLAIN: "https://example.test/a:b@c",
    PROXY: "http://proxy:3128",
    MAIL: "me@example.test",
  };
  assert.deepEqual(Object.keys(sanitizeEnvironment(parent, undefined, NO_RULES)), ["PLAIN", "PROXY", "MAIL"]);
  assert.deepEqual(
    sanitizeEnvironment(parent, undefined, { pass: ["HTTPS_PROXY"], block: [] }).HTTPS_PROXY,
    parent.HTTPS_PROXY,
  );
});

test("accepts values for pagers and editors that run nothing", () => {
  for (const value of ["cat", "", "true", ":"]) {
    assert.deepEqual(sanitizeEnvironment({}, { PAGER: value, GIT_EDITOR: value }, NO_RULES), {
      PAGER: value,
      GIT_EDITOR: value,
    });
  }
  assert.throws(() => sanitizeEnvironment({}, { PAGER: "cat; id" }, NO_RULES), { type: "InvalidRequest" });
});

test("`env.pass` allows secrets by pattern, hooks only by name, and shell variables never", () => {
  const parent = { GITHUB_TOKEN: "t", SSH_AUTH_SOCK: "/s", LD_PRELOAD: "x.so", NODE_OPTIONS: "-r x", BASH_ENV: "x" };
  const kept = (...pass: string[]) => Object.keys(sanitizeEnvironment(parent, undefined, { pass, block: [] }));
  assert.deepEqual(kept("*"), ["GITHUB_TOKEN", "SSH_AUTH_SOCK"]);
  assert.deepEqual(kept("GITHUB_*"), ["GITHUB_TOKEN"]);
  assert.deepEqual(kept("LD_*", "NODE_*"), []);
  assert.deepEqual(kept("LD_PRELOAD", "NODE_OPTIONS"), ["LD_PRELOAD", "NODE_OPTIONS"]);
  assert.deepEqual(kept("BASH_ENV"), []);
  assert.deepEqual(
    sanitizeEnvironment({}, { GITHUB_TOKEN: "x", PATH: "/x" }, { pass: ["GITHUB_TOKEN", "PATH"], block: [] }),
    {
      GITHUB_TOKEN: "x",
      PATH: "/x",
    },
  );
  for (const name of ["SALLYPORT_STATE", "BASH_ENV", "IFS"]) {
    assert.throws(() => sanitizeEnvironment({}, { [name]: "x" }, { pass: [name, "*"], block: [] }), {
      type: "InvalidRequest",
    });
  }
});

test("`env.block` takes precedence over `env.pass`", () => {
  const rules = { pass: ["GITHUB_TOKEN", "FOO"], block: ["GITHUB_*", "FOO"] };
  assert.deepEqual(sanitizeEnvironment({ GITHUB_TOKEN: "x", FOO: "1", BAR: "2" }, undefined, rules), { BAR: "2" });
  assert.throws(
    () => sanitizeEnvironment({}, { FOO: "1" }, rules),
    /`env\.FOO` is not allowed: it is blocked in the configuration/,
  );
});

test("returns the same object when a request sets no variables", () => {
  const confinement = confinementFor({ A: "1", GITHUB_TOKEN: "x" }, NO_RULES);
  const { env } = confine(COMMAND, confinement);
  assert.equal(confine(COMMAND, confinement).env, env);
  assert.equal(confine({ ...COMMAND, env: {} }, confinement).env, env);
  assert.notEqual(confine({ ...COMMAND, env: { B: "2" } }, confinement).env, env);
  assert.deepEqual(Object.keys(env), ["A", "PATH"]);
});

test("names from Object.prototype are ordinary variables", () => {
  const env = sanitizeEnvironment({ constructor: "1" }, JSON.parse('{"__proto__": "2", "toString": "3"}'), NO_RULES);
  assert.deepEqual(Object.entries(env), [
    ["constructor", "1"],
    ["__proto__", "2"],
    ["toString", "3"],
  ]);
});

test("docs/environment.md lists every variable name", () => {
  const text = readFileSync(new URL("../../../docs/environment.md", import.meta.url), "utf8");
  assert.ok(text.includes(nameTable()), "run: node schema/generate.ts && npx biome format --write schema");
});
