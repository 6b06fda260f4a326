import { Buffer } from "node:buffer";
import { counted } from "./format.ts";

interface Kind {
  name: string;
  at: number;
  bytes: Buffer;
  /** The same where each byte that is not UTF-8 became U+FFFD; null: too little is left to tell. */
  text: string | null;
  /** A text may begin like this, too. */
  mayBeText: boolean;
}

function kind(name: string, magic: string, at = 0): Kind {
  const bytes = Buffer.from(magic, "latin1");
  const text = bytes.toString("utf8");
  const told = [...text].filter((character) => character !== "\ufffd").length;
  return { name, at, bytes, text: told >= 2 ? text : null, mayBeText: /^[\n -~]*$/.test(magic) };
}

/** What files begin with; the more telling first. */
const KINDS: readonly Kind[] = [
  kind("PNG image", "\x89PNG\r\n\x1a\n"),
  kind("JPEG image", "JFIF\0", 6),
  kind("JPEG image", "Exif\0", 6),
  kind("JPEG image", "\xff\xd8\xff"),
  kind("GIF image", "GIF87a"),
  kind("GIF image", "GIF89a"),
  kind("WebP image", "WEBP", 8),
  kind("WAV audio", "WAVE", 8),
  kind("AVI video", "AVI ", 8),
  kind("AVIF image", "ftypavif", 4),
  kind("HEIC image", "ftypheic", 4),
  kind("QuickTime video", "ftypqt", 4),
  kind("MP4 video", "ftyp", 4),
  kind("TIFF image", "II*\0"),
  kind("TIFF image", "MM\0*"),
  kind("icon", "\0\0\x01\0"),
  kind("Matroska video", "\x1aE\xdf\xa3"),
  kind("Ogg media", "OggS\0"),
  kind("FLAC audio", "fLaC\0"),
  kind("MP3 audio", "ID3\x03"),
  kind("MP3 audio", "ID3\x04"),
  kind("PDF document", "%PDF-"),
  kind("zip archive", "PK\x03\x04"),
  kind("zip archive", "PK\x05\x06"),
  kind("gzip data", "\x1f\x8b\x08"),
  kind("bzip2 data", "BZh"),
  kind("xz data", "\xfd7zXZ\0"),
  kind("zstd data", "(\xb5/\xfd"),
  kind("LZ4 data", '\x04"M\x18'),
  kind("7z archive", "7z\xbc\xaf'\x1c"),
  kind("RAR archive", "Rar!\x1a\x07"),
  kind("tar archive", "ustar", 257),
  kind("Debian package", "!<arch>\ndebian-binary"),
  kind("ar archive", "!<arch>\n"),
  kind("RPM package", "\xed\xab\xee\xdb"),
  kind("ELF program or library", "\x7fELF"),
  kind("Mach-O program or library", "\xcf\xfa\xed\xfe"),
  kind("Windows program or library", "MZ\x90\0"),
  kind("Windows program or library", "MZ"),
  kind("WebAssembly module", "\0asm"),
  kind("Java class", "\xca\xfe\xba\xbe"),
  kind("SQLite database", "SQLite format 3\0"),
  kind("Parquet data", "PAR1"),
  kind("HDF5 data", "\x89HDF\r\n\x1a\n"),
  kind("NumPy array", "\x93NUMPY"),
  kind("WOFF font", "wOFF"),
  kind("WOFF2 font", "wOF2"),
  kind("OpenType font", "OTTO\0"),
  kind("Git pack", "PACK\0"),
  kind("Git index", "DIRC\0"),
  kind("UTF-16 text", "\xff\xfe"),
  kind("UTF-16 text", "\xfe\xff"),
];

/**
 * What kind of file a sample is the beginning of. A string is one decoded as UTF-8, in which some magic numbers can
 * still be told, at the very beginning or after bytes that are all ASCII.
 */
function fileKindOf(sample: Buffer | string): { name: string; mayBeText: boolean } | null {
  for (const known of KINDS) {
    const { at, bytes, text } = known;
    const matches =
      typeof sample === "string"
        ? text !== null && sample.startsWith(text, at)
        : sample.subarray(at, at + bytes.length).equals(bytes);
    if (matches) return known;
  }
  return null;
}

/** How much of an output is looked at; what is binary is so from the start. */
const SAMPLE_LENGTH = 8192;
/** Of the characters, that no text holds: invalid UTF-8 and control characters. */
const NON_TEXT_MAX = 0.1;
/** Names ended by NUL (`find -print0`, /proc/self/environ) are text; UTF-16 and machine words are not. */
const NUL_MAX = 0.2;
/** Where there are NULs, little else may be foreign. */
const NON_TEXT_WITH_NUL_MAX = 0.01;

interface BinaryKind {
  /** As a person would say it, such as `PNG image`; null when it is not known. */
  name: string | null;
}

/** What kind of binary data this is; null: it is text. A string is taken as bytes decoded as UTF-8. */
export function binaryKind(output: string | Uint8Array): BinaryKind | null {
  const sample = output.slice(0, SAMPLE_LENGTH);
  if (sample.length === 0) return null;
  const text = typeof sample === "string" ? sample : decoded(sample);
  const { nul, foreign } = nonTextShares(text);
  const isBinary = nul > 0 ? nul > NUL_MAX || foreign > NON_TEXT_WITH_NUL_MAX : foreign > NON_TEXT_MAX;
  const known = fileKindOf(typeof sample === "string" ? sample : Buffer.from(sample));
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

function nonTextShares(text: string): { nul: number; foreign: number } {
  let nul = 0;
  let foreign = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) nul++;
    else if (code === 0xfffd || isNonText(code)) foreign++;
  }
  return { nul: nul / text.length, foreign: foreign / text.length };
}

/** Bell, backspace, tab to carriage return, shifts of the character set and escape are what terminals are told. */
function isNonText(code: number): boolean {
  if (code > 0x9f) return false;
  return code < 0x20 ? (code < 7 || code > 0x0f) && code !== 0x1b && code !== 0x18 && code !== 0x1a : code >= 0x7f;
}
