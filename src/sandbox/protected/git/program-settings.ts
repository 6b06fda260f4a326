import type { GitSetting } from "./git-config.ts";

/** Settings whose value git runs as a command, or that name a file with commands. From git-config(1). */
const PROGRAMS = new RegExp(
  `^(?:${[
    "core\\.(?:hookspath|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)",
    "sequence\\.editor",
    "(?:diff\\.external|interactive\\.difffilter|imap\\.tunnel|init\\.templatedir|web\\.browser)",
    "diff\\..+\\.(?:command|textconv)",
    "(?:difftool|mergetool|browser|man|guitool)\\..+\\.(?:cmd|path)",
    "merge\\..+\\.driver",
    "filter\\..+\\.(?:clean|smudge|process)",
    "(?:gpg|gpg\\..+)\\.(?:program|defaultkeycommand)",
    "(?:credential|credential\\..+)\\.helper",
    "remote\\..+\\.(?:uploadpack|receivepack|vcs|annex-.+)",
    "(?:protocol|protocol\\..+)\\.allow",
    "(?:trailer|hook)\\..+\\.(?:command|cmd)",
    "tar\\..+\\.command",
    "(?:uploadpack\\.packobjectshook|receive\\.procreceiverefs|gc\\.recentobjectshook)",
    "sendemail\\.(?:.+\\.)?(?:.*cmd|smtpserver)",
    "(?:instaweb\\.(?:httpd|browser)|help\\.browser)",
    "lfs\\.(?:customtransfer\\..+\\.path|standalonetransferagent|extension\\..+\\.(?:clean|smudge))",
    "annex\\..*(?:command|hook|program).*",
    "(?:include|includeif\\..+)\\.path",
  ].join("|")})$`,
);

const BOOLEAN = /^(?:true|false|yes|no|on|off|[01]|)$/i;
/** URLs whose transport runs a command, and values that git passes to a program as options. */
const COMMAND_URL = /^(?:ext|fd)::|^-/;

/** Reports whether a setting makes git run a program or read further settings. */
export function runsProgram({ key, value }: GitSetting): boolean {
  if (value === null || value === "") return false;
  if (key === "core.fsmonitor" || key.startsWith("pager.")) return !BOOLEAN.test(value);
  if (key.startsWith("alias.") || /^submodule\..+\.update$/.test(key)) return value.startsWith("!");
  if (/^remote\..+\.(?:push)?url$/.test(key)) return COMMAND_URL.test(value);
  if (key.startsWith("url.")) return COMMAND_URL.test(key.slice("url.".length));
  if (/^filter\.lfs\.(?:clean|smudge|process)$/.test(key))
    return !/^git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?$/.test(value);
  return PROGRAMS.test(key);
}

/** Reports whether a setting names a folder of hooks, which is relative to the working tree. */
export function isHooksPath({ key, value }: GitSetting): boolean {
  return key === "core.hookspath" && !!value;
}

/** Reports whether a setting names another configuration file, which is relative to its own file. */
export function isInclude({ key, value }: GitSetting): boolean {
  return /^(?:include|includeif\..+)\.path$/.test(key) && !!value;
}

/** Returns the words of a command in a setting that may name a script. Shell syntax is not interpreted. */
export function scriptsOf({ value }: GitSetting): string[] {
  const words = (value ?? "").split(/[\s'"`;|&()<>=!]+/);
  return words.filter((word) => !word.startsWith("-") && /\/|\.(?:sh|bash|py|rb|pl|[cm]?[jt]s)$/.test(word));
}
