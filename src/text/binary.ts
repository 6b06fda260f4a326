import { Buffer } from "node:buffer";

interface Kind {
  name: string;
  at: number;
  bytes: Buffer;
  /** The magic number decoded as UTF-8, with U+FFFD for invalid bytes; null when too little of it remains. */
  text: string | null;
  /** True when a text file may start with the same bytes. */
  mayBeText: boolean;
}

function kind(name: string, magic: string, at = 0): Kind {
  const bytes = Buffer.from(magic, "latin1");
  const text = bytes.toString("utf8");
  const told = [...text].filter((character) => character !== "\ufffd").length;
  return { name, at, bytes, text: told >= 2 ? text : null, mayBeText: /^[\n -~]*$/.test(magic) };
}

/** Magic numbers of file formats, the more specific first. */
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
 * Returns the file format of a sample of its first bytes. A string is the sample decoded as UTF-8, in which a magic
 * number can be recognized only at the start or after ASCII bytes.
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

/** The length of the sample that is examined. */
const SAMPLE_LENGTH = 8192;
/** The largest share of non-text characters (invalid UTF-8 and control characters) in text. */
const NON_TEXT_MAX = 0.1;
/**
 * The largest share of NULs in text: NUL-terminated names (`find -print0`, /proc/self/environ) are text, UTF-16 is not.
 */
const NUL_MAX = 0.2;
/** The largest share of other non-text characters in text that contains NULs. */
const NON_TEXT_WITH_NUL_MAX = 0.01;

interface BinaryKind {
  /** The name of the format, such as `PNG image`; null when unknown. */
  name: string | null;
}

/** Returns the kind of binary data; null for text. A string is treated as bytes decoded as UTF-8. */
export function binaryKind(output: string | Uint8Array): BinaryKind | null {
  const sample = output.slice(0, SAMPLE_LENGTH);
  if (sample.length === 0) return null;
  const text = typeof sample === "string" ? sample : decoded(sample);
  const { nul, foreign } = nonTextShares(text);
  const isBinary = nul > 0 ? nul > NUL_MAX || foreign > NON_TEXT_WITH_NUL_MAX : foreign > NON_TEXT_MAX;
  const known = fileKindOf(typeof sample === "string" ? sample : Buffer.from(sample));
  // Some formats start like text, such as PDF; they are binary only if non-text characters follow.
  if (known !== null && (isBinary || foreign > 0 || nul > 0 || !known.mayBeText)) return { name: known.name };
  return isBinary ? { name: null } : null;
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

/**
 * Reports whether a character does not occur in text. Control characters that terminals interpret (bell, backspace, tab
 * to carriage return, shifts, escape) count as text.
 */
function isNonText(code: number): boolean {
  if (code > 0x9f) return false;
  return code < 0x20 ? (code < 7 || code > 0x0f) && code !== 0x1b && code !== 0x18 && code !== 0x1a : code >= 0x7f;
}
