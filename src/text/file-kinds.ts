import { Buffer } from "node:buffer";

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
export function kindOf(sample: Buffer | string): { name: string; mayBeText: boolean } | null {
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
