/** A character of several bytes, all there, that is not a control character in disguise. */
export function isWhole(bytes: Uint8Array, at: number, length: number): boolean {
  if (at + length > bytes.length) return false;
  for (let index = at + 1; index < at + length; index++) {
    const byte = bytes[index] as number;
    if (byte < 0x80 || byte > 0xbf) return false;
  }
  return bytes[at] !== 0xc2 || (bytes[at + 1] as number) >= 0xa0;
}
