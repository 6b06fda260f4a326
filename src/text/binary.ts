import { Buffer } from "node:buffer";
import { counted } from "./counted.ts";
import { kindOf } from "./file-kinds.ts";

/** How much of an output is looked at; what is binary is so from the start. */
const SAMPLE_LENGTH = 8192;
/** Of the characters, that no text holds: invalid UTF-8 and control characters. */
const MOST_FOREIGN = 0.1;
/** Names ended by NUL (`find -print0`, /proc/self/environ) are text; UTF-16 and machine words are not. */
const MOST_NUL = 0.2;
/** Where there are NULs, little else may be foreign. */
const MOST_FOREIGN_WITH_NUL = 0.01;

interface BinaryKind {
  /** As a person would say it, such as `PNG image`; null when it is not known. */
  name: string | null;
}

/** What kind of binary data this is; null: it is text. A string is taken as bytes decoded as UTF-8. */
export function binaryKind(output: string | Uint8Array): BinaryKind | null {
  const sample = output.slice(0, SAMPLE_LENGTH);
  if (sample.length === 0) return null;
  const text = typeof sample === "string" ? sample : decoded(sample);
  const { nul, foreign } = shares(text);
  const isBinary = nul > 0 ? nul > MOST_NUL || foreign > MOST_FOREIGN_WITH_NUL : foreign > MOST_FOREIGN;
  const known = kindOf(typeof sample === "string" ? sample : Buffer.from(sample));
  // Some kinds begin like text (a PDF, a font in XML), and their beginning may be all that looks like it.
  if (known !== null && (isBinary || foreign > 0 || nul > 0 || !known.mayBeText)) return { name: known.name };
  return isBinary ? { name: null } : null;
}

/** One line instead of bytes that nobody can read; never longer than its hint and some 100 characters. */
export function binarySummary(kind: BinaryKind, bytes: number | null, hint?: string): string {
  const facts = [kind.name, bytes === null ? null : counted(bytes, "byte")].filter((fact) => fact !== null).join(", ");
  return `[binary output${facts === "" ? "" : `: ${facts}`}${hint === undefined ? "" : `; read it with ${hint}`}]`;
}

function decoded(sample: Uint8Array): string {
  return Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength).toString("utf8");
}

function shares(text: string): { nul: number; foreign: number } {
  let nul = 0;
  let foreign = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) nul++;
    else if (code === 0xfffd || isForeign(code)) foreign++;
  }
  return { nul: nul / text.length, foreign: foreign / text.length };
}

/** Bell, backspace, tab to carriage return, shifts of the character set and escape are what terminals are told. */
function isForeign(code: number): boolean {
  if (code > 0x9f) return false;
  return code < 0x20 ? (code < 7 || code > 0x0f) && code !== 0x1b && code !== 0x18 && code !== 0x1a : code >= 0x7f;
}
