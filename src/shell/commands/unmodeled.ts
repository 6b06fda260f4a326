/**
 * Finds commands in the arguments of programs that have no model. A program that starts other programs usually takes
 * the command as its last arguments (`wrapper -x 1 -- rm -rf /`) or as the value of an option (`--exec 'rm -rf /'`). Only
 * arguments that look like a destructive command are analyzed, because for most programs arguments are data.
 */
import { type Field, tail } from "../expand/field.ts";
import { basename } from "../path.ts";
import type { Call, Runner } from "../walk/call.ts";

/** Programs whose arguments are names, text or files that they only read. */
const DATA = new Set(
  (
    "man info apropos whatis whereis which tldr cheat help gh glab hub jira hg svn bzr fossil ls dir file stat du df wc " +
    "sha1sum sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum readlink realpath basename dirname cat head tail tac " +
    "nl less more diff cmp comm ldd nm objdump readelf strings size grep egrep fgrep zgrep rg ag ack fzf jq yq column cut " +
    "paste tr uniq join echo printf cowsay figlet toilet lolcat say espeak notify-send logger wall write mail mailx sendmail " +
    "apt apt-get aptitude apt-cache dpkg dpkg-query dnf yum rpm zypper pacman yay paru apk brew port pkg nix-env " +
    "pip pip3 gem claude codex gemini llm aider ollama sgpt zenity whiptail dialog kdialog osascript-say expr test pgrep pidof " +
    "getent id groups type hash complete compgen locate mlocate plocate updatedb shellcheck shfmt bat delta vim-cat trans"
  ).split(" "),
);

/** Commands that count as a command when arguments of their own follow. */
const STARTS =
  /^(?:rm|shred|dd|chmod|chown|chgrp|find|truncate|mkfs(?:\.\w+)?|mke2fs|mkswap|wipefs|blkdiscard|unlink|mv|tee|iptables|ip6tables|nft|(?:ba|da|z|k|a)?sh|busybox|toybox)$/;
/** Commands that also count without arguments, in a position where a command is expected. */
const STANDS_ALONE =
  /^(?:sudo|doas|pkexec|su|reboot|shutdown|poweroff|halt|telinit|init|systemctl|umount|mount|env|nice|nohup|timeout|setsid|xargs|swapoff|setenforce|ufw)$/;
/** Words after which a command is expected, and options after which only a command with arguments is. */
const INTRODUCES = /^(?:--|exec|run|spawn|shell|cmd|command|--?exec|--?command|--?cmd|--?run|--?shell|--args)$/;
const SHORT = /^-[xXeca]$/;
/** Options whose value is a command as one text. */
const TEXT_OPTION =
  /^--?(?:c|e|x|a|exec\w*|command|cmd|run|shell|shell-command|eval|args?|action|script|hook|(?:pre|post|on|after|before)[-_]?\w*)$/i;

export function guessInnerCommand(call: Call, run: Runner): void {
  if (DATA.has(call.name)) return;
  const { argv } = call;
  for (let i = 1; i < argv.length; i++) {
    const field = argv[i] as Field;
    if (isText(field, argv[i - 1])) run.text(call, field);
    const equals = field.prefix.indexOf("=");
    if (equals > 0 && TEXT_OPTION.test(field.prefix.slice(0, equals)) && looksLikeText(tail(field, equals + 1)))
      run.text(call, tail(field, equals + 1));
    if (startsCommand(argv, i)) {
      run.argv(call, argv.slice(i));
      return;
    }
  }
}

function startsCommand(argv: readonly Field[], at: number): boolean {
  const name = basename(argv[at]?.value ?? "");
  const before = at > 1 ? (argv[at - 1]?.value ?? "") : "";
  if (INTRODUCES.test(before) && (STARTS.test(name) || STANDS_ALONE.test(name))) return true;
  if (!STARTS.test(name)) return false;
  if (SHORT.test(before)) return true;
  const next = argv[at + 1]?.value ?? "";
  const bare = argv[at]?.value === name;
  if (/sh$/.test(name)) return /^-[a-z]*c$/.test(next);
  return /^-\w|^--\w/.test(next) || (bare && /^(?:\/|if=|of=)/.test(next));
}

/** Reports whether the argument is shell text: an option or a subcommand that takes a command precedes it. */
function isText(field: Field, previous: Field | undefined): boolean {
  const before = previous?.value ?? "";
  return (TEXT_OPTION.test(before) || /^(?:exec|run|shell)$/.test(before)) && looksLikeText(field);
}

/** Reports whether the value is the text of a destructive command, such as `rm -rf /`. */
export function looksLikeText(field: Field): boolean {
  const [first = "", second = ""] = (field.value ?? "").trim().split(/\s+/, 2);
  const name = basename(first);
  return STARTS.test(name) ? /^[-/~$]|^[io]f=/.test(second) : STANDS_ALONE.test(name) && second !== "";
}
