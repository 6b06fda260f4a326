import { SallyportError } from "../core/error.ts";
import { nextStep } from "../core/next-step.ts";
import { compileGlob } from "../text/glob.ts";

/** A group of variables that change how programs behave or give access to something, and how they are handled. */
interface NameGroup {
  id: "shell" | "loader" | "interpreter" | "tool" | "build" | "socket" | "screen" | "secret";
  /** The reason given when a caller's variable is rejected. Completes "`NAME` …". */
  why: string;
  /** Whether commands inherit the variables from the gateway. */
  inherited: "dropped" | "kept";
  /** Whether a caller can set the variables. `harmless-only` accepts only values that run nothing, such as `cat`. */
  given: "refused" | "harmless-only" | "allowed";
  /** How `env.pass` can allow the variables: not at all, by the exact name only, or also by a pattern. */
  pass: "never" | "by-name" | "by-pattern";
  /** Names and patterns, in which `*` matches any text. */
  names: readonly string[];
}

const list = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Values for a pager or an editor that run nothing. Agents set them so that programs do not wait for input. */
const HARMLESS_VALUES: ReadonlySet<string> = new Set(["", "cat", "true", ":", "/bin/cat", "/bin/true"]);

/** The groups in order of precedence: the first group that contains a name applies. */
export const NAME_GROUPS: readonly NameGroup[] = [
  {
    id: "shell",
    why: "changes how bash interprets a command, so the command that runs could differ from the one that was checked",
    inherited: "dropped",
    given: "refused",
    pass: "never",
    names:
      list(`BASH_ENV ENV BASH_FUNC_* SHELLOPTS BASHOPTS BASH_COMPAT BASH_XTRACEFD BASH_LOADABLES_PATH POSIXLY_CORRECT
      PS0 PS4 PROMPT_COMMAND IFS CDPATH GLOBIGNORE EXECIGNORE FIGNORE FUNCNEST ZDOTDIR FPATH KSH_ENV INPUTRC
      HISTFILE MAILCHECK MAILPATH COMMAND_NOT_FOUND_HANDLE`),
  },
  {
    id: "loader",
    why: "loads code into every program",
    inherited: "dropped",
    given: "refused",
    pass: "by-name",
    names: list(`LD_* DYLD_* _RLD* LIBPATH SHLIB_PATH GCONV_PATH GETCONF_DIR GLIBC_TUNABLES MALLOC_TRACE NLSPATH LOCPATH
      HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_HOST_CONF TZDIR OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
      SSLKEYLOGFILE GIO_EXTRA_MODULES GTK_MODULES GTK_PATH QT_PLUGIN_PATH GST_PLUGIN_PATH GST_PLUGIN_SCANNER
      PKCS11_MODULE TERMINFO TERMINFO_DIRS TERMCAP`),
  },
  {
    id: "interpreter",
    why: "makes an interpreter run additional code",
    inherited: "dropped",
    given: "refused",
    pass: "by-name",
    names: list(`NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE BUN_OPTIONS DENO_NODE_OPTIONS
      PYTHON* PYTEST_PLUGINS PERL5* PERLLIB PERL_UNICODE RUBYOPT RUBYLIB RUBYSHELL JRUBY_OPTS JAVA_TOOL_OPTIONS
      _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH
      DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_* LUA_INIT* LUA_PATH* LUA_CPATH* PHPRC
      PHP_INI_SCAN_DIR R_PROFILE* R_ENVIRON* JULIA_LOAD_PATH JULIA_PROJECT ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS
      ELIXIR_ERL_OPTIONS TCLLIBPATH GUILE_LOAD_PATH CAML_LD_LIBRARY_PATH AWKPATH AWKLIBPATH EMACSLOADPATH VIMINIT
      GVIMINIT EXINIT VIMRUNTIME`),
  },
  {
    id: "tool",
    why: "names a program that another tool starts",
    inherited: "dropped",
    given: "harmless-only",
    pass: "by-name",
    names: list(`PAGER *_PAGER MANPAGER EDITOR VISUAL *_EDITOR BROWSER LESS LESSOPEN LESSCLOSE LESSKEY* LESSEDIT MANOPT
      GIT_*_COMMAND GIT_SSH* GIT_EXTERNAL_DIFF GIT_CONFIG* GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_TRACE* GIT_TRACE2*
      GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
      GIT_ALLOW_PROTOCOL GIT_ATTR_SOURCE *_ASKPASS *_ASKPASS_* RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH SVN_EDITOR
      BZR_SSH GH_BROWSER FCEDIT HGRCPATH HGEDITOR TAR_OPTIONS ZIPOPT UNZIPOPT GREP_OPTIONS FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS SYSTEMD_SSH PSQLRC
      CURL_HOME WGETRC SYSTEM_WGETRC DIRENV_CONFIG npm_config_script_shell npm_config_node_options npm_config_shell
      npm_config_git npm_config_editor npm_config_viewer npm_config_userconfig npm_config_globalconfig`),
  },
  {
    // Commands inherit the user's own build settings. A value from an agent could run a program that was not checked.
    id: "build",
    why: "changes which programs a build tool runs",
    inherited: "kept",
    given: "refused",
    pass: "by-name",
    names: list(`RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO_BUILD_RUSTC* CARGO_TARGET_*_RUNNER
      CARGO_TARGET_*_LINKER GOFLAGS MAKEFLAGS MAKEFILES GNUMAKEFLAGS MAVEN_OPTS GRADLE_OPTS ANT_OPTS SBT_OPTS
      CMAKE_TOOLCHAIN_FILE CCACHE_PREFIX CCACHE_COMPILER MAVEN_ARGS ANT_ARGS GCC_EXEC_PREFIX COMPILER_PATH`),
  },
  {
    id: "socket",
    why: "gives access to a service or terminal that acts with the user's privileges",
    inherited: "dropped",
    given: "refused",
    pass: "by-pattern",
    names: list(`SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNOME_KEYRING_* DOCKER_HOST CONTAINER_HOST PODMAN_HOST
      DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DBUS_STARTER_ADDRESS TMUX TMUX_PANE STY VSCODE_IPC_HOOK*
      VSCODE_GIT_* VSCODE_INJECTION NVIM NVIM_LISTEN_ADDRESS KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET ALACRITTY_SOCKET
      I3SOCK SWAYSOCK HYPRLAND_INSTANCE_SIGNATURE KRB5CCNAME XAUTHORITY NOTIFY_SOCKET LISTEN_FDS LISTEN_PID
      LISTEN_FDNAMES SUDO_*`),
  },
  {
    id: "screen",
    why: "gives access to the user's screen and keyboard",
    inherited: "dropped",
    given: "allowed",
    pass: "by-pattern",
    names: list("DISPLAY WAYLAND_DISPLAY"),
  },
  {
    id: "secret",
    why: "looks like a secret",
    inherited: "dropped",
    given: "refused",
    pass: "by-pattern",
    names: list(`ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY DATABASE_URL DB_PASSWORD GITHUB_TOKEN OPENAI_API_KEY
      OPENROUTER_API_KEY PASSWORD PRIVATE_KEY SECRET_KEY
      *SECRET* *PASSWORD* *PASSWD* *PASSPHRASE* *CREDENTIAL* *APIKEY* *AUTHTOKEN* *ACCESS_KEY* *PRIVATE_KEY*
      *TOKEN *_TOKENS *_TOKEN_* *_KEY *_KEYS KEY *_PASS *_PWD *_PAT *_AUTH *_COOKIE *_JWT *_BEARER *_DSN
      *CONNECTION_STRING* *WEBHOOK_URL*`),
  },
];

/** Harmless names that the patterns above would match. */
export const HARMLESS_NAMES: ReadonlySet<string> = new Set(
  list(`PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED PYTHONFAULTHANDLER
    PYTHONNOUSERSITE PYTHONSAFEPATH PYTHONOPTIMIZE PYTHONVERBOSE PYTHONDEVMODE PYTHONASYNCIODEBUG PYTHONTRACEMALLOC
    PYTHONLEGACYWINDOWSSTDIO PYTHONCOERCECLOCALE PYTHONWARNDEFAULTENCODING MAX_TOKENS`),
);

/** Variables that a caller cannot override, because the system, the policy or Sallyport relies on their values. */
export const PROTECTED_NAMES: readonly string[] = list(
  `SALLYPORT_* ENABLE_EXECUTE PATH HOME USER LOGNAME SHELL PWD OLDPWD UID EUID PPID XDG_CONFIG_HOME XDG_STATE_HOME
   XDG_CONFIG_DIRS XDG_RUNTIME_DIR`,
);

export type Environment = Record<string, string>;

/** The operator's `env` settings: `pass` allows names, and `block` takes precedence over it. `*` matches any text. */
export interface EnvironmentRules {
  pass: readonly string[];
  block: readonly string[];
}

const GROUPS = NAME_GROUPS.map((group) => ({
  group,
  names: nameMatcher(group.names, { ignoreCase: group.id === "secret" }),
}));

const PROTECTED = nameMatcher(PROTECTED_NAMES);
/** npm accepts these names in any case, with dashes or underscores. */
const NPM = /^npm_config_/i;
/** A URL with a password, such as postgres://me:secret@host. */
const URL_WITH_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:[^\s/@]+@/i;

interface NameMatcher {
  has(name: string): boolean;
  /** Reports whether the list contains the name itself, not a pattern that matches it. */
  hasExactly(name: string): boolean;
}

/** Compiles a list of variable names and patterns. Exact names are looked up in a set. */
function nameMatcher(patterns: readonly string[], { ignoreCase = false } = {}): NameMatcher {
  const fold = (name: string) => (ignoreCase ? name.toUpperCase() : name);
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")).map(fold));
  const wild = patterns
    .filter((pattern) => pattern.includes("*"))
    .map((pattern) => compileGlob(fold(pattern), { questionMark: false }));
  return {
    has: (name) => {
      const folded = fold(name);
      return exact.has(folded) || wild.some((matches) => matches(folded));
    },
    hasExactly: (name) => exact.has(fold(name)),
  };
}

/** Returns the group of a name, or null for an ordinary variable. */
function groupOf(name: string): NameGroup | null {
  if (HARMLESS_NAMES.has(name)) return null;
  const read = npmNormalized(name);
  return GROUPS.find(({ names }) => names.has(read))?.group ?? null;
}

/** Returns the spelling of an npm setting that the groups use. Other names are unchanged. */
function npmNormalized(name: string): string {
  return NPM.test(name) ? name.toLowerCase().replaceAll("-", "_") : name;
}

interface VariableFilter {
  inherits(name: string, value: string): boolean;
  /** Returns why a caller cannot set the variable, or null when it can. */
  refuses(name: string, value: string): string | null;
}

function variableFilter(rules: EnvironmentRules): VariableFilter {
  const pass = nameMatcher(rules.pass);
  const block = nameMatcher(rules.block);
  const passes = (name: string, how: NameGroup["pass"]) =>
    how !== "never" &&
    [name, npmNormalized(name)].some((each) => (how === "by-name" ? pass.hasExactly(each) : pass.has(each)));
  return {
    inherits(name, value) {
      if (block.has(name)) return false;
      const group = groupOf(name);
      if (group) return group.inherited === "kept" || passes(name, group.pass);
      return !URL_WITH_PASSWORD.test(value) || pass.has(name);
    },
    refuses(name, value) {
      if (block.has(name)) return "is blocked in the configuration";
      if (PROTECTED.has(name) && (name.startsWith("SALLYPORT_") || !pass.hasExactly(name))) {
        return "is set by the system and cannot be overridden";
      }
      const group = groupOf(name);
      if (!group || group.given === "allowed" || passes(name, group.pass)) return null;
      return group.given === "harmless-only" && HARMLESS_VALUES.has(value) ? null : group.why;
    },
  };
}

interface Prepared {
  filter: VariableFilter;
  inherited: Environment;
}

/** A cache by rules and parent environment, neither of which changes: a new configuration has new rules. */
const prepared = new WeakMap<EnvironmentRules, WeakMap<Readonly<Environment>, Prepared>>();

function prepare(parent: Readonly<Environment>, rules: EnvironmentRules): Prepared {
  let ofRules = prepared.get(rules);
  if (!ofRules) {
    ofRules = new WeakMap();
    prepared.set(rules, ofRules);
  }
  let ready = ofRules.get(parent);
  if (!ready) {
    const filter = variableFilter(rules);
    const kept = Object.entries(parent).filter(([name, value]) => filter.inherits(name, value));
    ready = { filter, inherited: Object.fromEntries(kept) };
    ofRules.set(parent, ready);
  }
  return ready;
}

/**
 * Returns the environment of a command: the parent's without secrets, loader hooks and sockets, plus the variables that
 * the caller set. If the caller set none, it returns the same object each time, which the executor encodes only once.
 */
export function sanitizeEnvironment(
  parent: Readonly<Environment>,
  given: Readonly<Environment> | undefined,
  rules: EnvironmentRules,
): Environment {
  const { filter, inherited } = prepare(parent, rules);
  if (!given) return inherited;
  const names = Object.keys(given);
  if (names.length === 0) return inherited;
  for (const name of names) {
    const why = filter.refuses(name, given[name] ?? "");
    if (why) throw refusedVariable(name, why);
  }
  const env = { ...inherited, ...given };
  return given.PATH === undefined ? env : withFixedPath(env);
}

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Removes empty and relative entries from PATH, and sets it if it is missing. Otherwise bash would search the working
 * directory, where an agent's file could run in place of the program that was checked.
 */
export function withFixedPath(env: Readonly<Environment>): Environment {
  const entries = (env.PATH ?? "").split(":").filter((entry) => entry.startsWith("/"));
  return { ...env, PATH: entries.join(":") || USUAL_PATH };
}

/** The maximum length of a variable's name in an error, which is stored with the session. */
const MAX_SHOWN_LENGTH = 200;

function refusedVariable(name: string, why: string): SallyportError {
  const variable = name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…` : name;
  return new SallyportError(
    "InvalidRequest",
    `\`env.${variable}\` is not allowed: it ${why}.`,
    [
      nextStep("remove_variable", { name: "remove-variable", variable }),
      { action: "ask_operator", hint: "The operator can allow it with `env.pass` in sallyport.json." },
    ],
    { name },
  );
}

/** Returns the variables that a caller may set, without the others. */
export function allowedVariables(given: Readonly<Environment>, rules: EnvironmentRules): Environment {
  const filter = variableFilter(rules);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => filter.refuses(name, value) === null));
}
