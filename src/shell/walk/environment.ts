/** Finds code in environment variables: programs run the value of some variables as a command. */
import { looksLikeText } from "../commands/unmodeled.ts";
import type { Assigned } from "./call.ts";
import type { Origin } from "./state.ts";
import type { Walk } from "./walk.ts";
import { isolated, markUnknown } from "./walk.ts";

/** Variables whose value is a shell command. */
const COMMANDS = new Set(
  (
    "PROMPT_COMMAND PAGER MANPAGER GIT_PAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER PSQL_PAGER AWS_PAGER GH_PAGER EDITOR " +
    "VISUAL FCEDIT GIT_EDITOR GIT_SEQUENCE_EDITOR SUDO_EDITOR KUBE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS " +
    "SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND RSYNC_RSH CVS_RSH SVN_SSH BROWSER LESSOPEN LESSCLOSE MAILCAP " +
    "RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER npm_config_script_shell npm_config_git npm_config_editor GREP_COMMAND FZF_DEFAULT_COMMAND"
  ).split(" "),
);

/** Variables that are expanded as a prompt, including command substitutions. */
const PROMPTS = new Set(["PS0", "PS1", "PS2", "PS4"]);

/** Variables that make programs load code or configuration from another location. */
const LOADERS =
  /^(?:LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|ZDOTDIR|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5DB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_CONFIG.*|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_DIR|TAR_OPTIONS|RIPGREP_CONFIG_PATH|GCONV_PATH|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|MAKEFLAGS|CURL_HOME|WGETRC|INPUTRC|LUA_INIT.*|PHP_INI_SCAN_DIR|PHPRC|VIMINIT|EXINIT|OPENSSL_CONF|SHELL|NODE_PATH|PYTHONPATH|PERL5LIB|RUBYLIB|CLASSPATH|DOCKER_HOST|KUBECONFIG|LESSKEY)$/;

/** Names of other variables whose value is usually a command, such as `CC` or `DEPLOY_CMD`. */
const NAMES_COMMAND =
  /(?:^|_)(?:CC|CXX|LD|AR|MAKE|RUSTC|CMD|COMMAND|EXEC|HOOK|RUNNER|LINKER|WRAPPER|OPENER|VIEWER|DIFF|RSH|SSH)(?:_|$)/i;

/** `starts` says that the assignments precede a command, which receives them. */
export function environmentCode(walk: Walk, assignments: readonly Assigned[], origin: Origin, starts = false): void {
  for (const { name, value } of assignments) {
    const prompt = PROMPTS.has(name);
    if (COMMANDS.has(name) || prompt) {
      if (value.value === null) {
        markUnknown(walk, {
          span: value.span,
          why: `\`${name}\` is run as a command, and its value is known only at run time`,
        });
        continue;
      }
      const code = prompt
        ? /\$\(|`/.test(value.value)
          ? `: "${value.value}"`
          : ""
        : value.value.replace(/^[|!-]+/, "");
      if (code.trim() === "" || code === "cat") continue;
      runValue(walk, name, code, value, origin);
    } else if (LOADERS.test(name)) {
      markUnknown(walk, { span: value.span, why: `\`${name}\` makes programs load or run other code` });
      // `TAR_OPTIONS=--to-command=cmd`, `GIT_CONFIG_PARAMETERS="'core.pager=cmd'"`
      const code = (value.value ?? "").replace(/^['"]?[\w.-]*=(?:exec=)?/, "").replace(/['"]$/, "");
      if (looksLikeText({ ...value, value: code }) || /^(?:reboot|halt|poweroff)$/.test(code))
        runValue(walk, name, code, value, origin);
    } else if (starts && NAMES_COMMAND.test(name) && looksLikeText(value)) {
      runValue(walk, name, value.value ?? "", value, origin);
    } else if (
      name === "NODE_OPTIONS" &&
      !/^(?:--max-[a-z-]+=\d+|--(?:no-)?(?:deprecation|warnings)|--enable-source-maps| )*$/.test(value.value ?? "?")
    ) {
      markUnknown(walk, { span: value.span, why: "`NODE_OPTIONS` makes Node.js load or run other code" });
    }
  }
}

function runValue(walk: Walk, name: string, code: string, value: Assigned["value"], origin: Origin): void {
  const inner = {
    ...origin,
    source: code,
    base: null,
    span: value.span,
    via: [...origin.via, `$${name}`],
    reentry: origin.reentry + 1,
  };
  isolated(walk, () => {
    walk.state.functions.clear();
    walk.visitor.text(walk, code, inner);
  });
}
