import type { Recovery } from "../core/error.ts";
import { NAME_LENGTH } from "../core/output-limits.ts";

type Words = [message: string, recovery: Recovery[]];

const quoted = (name: string) => JSON.stringify(name.slice(0, NAME_LENGTH));

export function badTokenName(name: string): Words {
  const rule = "1 to 63 letters, digits, `_`, `.`, `:`, `@` or `-`";
  return [
    `${quoted(name)} cannot be a token's name.`,
    [{ action: "fix_request", hint: `A name is ${rule}, and starts with a letter or digit.` }],
  ];
}

export function tokenNameTaken(name: string): Words {
  return [
    `There is a token ${quoted(name)} already, or there was.`,
    [{ action: "other_name", hint: "Choose another name: in the audit each must mean one." }],
  ];
}

export function noSuchToken(reference: string): Words {
  return [
    `There is no token ${quoted(reference)}.`,
    [{ action: "list_tokens", hint: "`sallyport token list` names them." }],
  ];
}
