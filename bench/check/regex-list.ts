/** The regular expressions that are commonly published as a blocklist for such tools. This peer matches text only. */
const patterns: readonly RegExp[] = [
  /rm\s+-rf\s+\/\s*$/,
  /rm\s+-rf\s+\/\*/,
  /mkfs\./,
  /dd\s+if=.*of=\/dev\/sd/,
  />\s*\/dev\/sd/,
  /chmod\s+-R\s+777\s+\/\s*$/,
  /:\(\)\{\s*:\|:&\s*\};:/,
  /\bshutdown\b/,
  /\breboot\b/,
  /\binit\s+[06]\b/,
  /systemctl\s+disable\s+firewalld/,
  /iptables\s+-F/,
];

export function regexBlocks(command: string): boolean {
  return patterns.some((pattern) => pattern.test(command));
}
