/**
 * Names of agents and people. A strict alphabet keeps one agent from looking like another one or like its approver, and
 * names that differ only in case are the same name (invariant 7).
 */
import { createHash } from "node:crypto";
import { SallyportError } from "./error.ts";

/** Agents are stored in lower case. `/`, `:` and `@` are for names such as `team/builder`. */
const AGENT = /^[a-z0-9](?:[a-z0-9._:@/-]{0,126}[a-z0-9])?$/;
/** System user names can contain a domain (`CORP\ann`), and other people have first and last names. */
const PERSON = /^[A-Za-z0-9_](?:[A-Za-z0-9 ._:@/\\+-]{0,254}[A-Za-z0-9_$])?$/;

const SHOWN_LENGTH = 64;

/** Returns the name under which an agent is stored. Null when the text is not a valid name. */
export function agentOrNull(text: string): string | null {
  const name = text.toLowerCase();
  // Some letters outside of ASCII become ASCII letters in lower case, such as the Kelvin sign.
  return /^[\x20-\x7e]*$/.test(text) && AGENT.test(name) ? name : null;
}

/** Returns the name under which an agent is stored. Throws `InvalidRequest` when the text is not a valid name. */
export function agentName(text: string): string {
  const name = typeof text === "string" ? agentOrNull(text) : null;
  if (name !== null) return name;
  const shown = JSON.stringify(String(text).slice(0, SHOWN_LENGTH)).replace(/[^\x20-\x7e]/g, escaped);
  throw new SallyportError("InvalidRequest", `${shown} is not a valid agent name.`, [
    {
      action: "fix_request",
      hint: "Use 1 to 128 ASCII letters, digits, `.`, `_`, `-`, `/`, `:` or `@`, with a letter or digit at both ends.",
    },
  ]);
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/**
 * Returns the name to compare stored agents with. A name that is not valid, which earlier versions accepted, is
 * returned unchanged, so that its sessions can still be listed.
 */
export function agentFilter(text: string): string {
  return agentOrNull(text) ?? text;
}

/**
 * Turns any text, such as the name of a program, into a valid agent name. Different texts have different names: a hash
 * is added when more than the case of letters has to change.
 */
export function toAgentName(text: string): string {
  const name = agentOrNull(text);
  if (name !== null) return name;
  const readable = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, SHOWN_LENGTH)
    .replace(/-$/, "");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return readable === "" ? `agent-${hash}` : `${readable}-${hash}`;
}

/** Reports whether a text is a valid name of a person. */
export function isPersonName(text: string): boolean {
  return PERSON.test(text);
}

/** Reports whether two names belong to the same agent or person. */
export function isSameName(one: string, other: string): boolean {
  return one === other || one.toLowerCase() === other.toLowerCase();
}
