/** The string index where the first `bytes` of UTF-8 end; never inside a character. */
export function byteEnd(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const size = sizeAt(text, at);
    if (size > left) break;
    left -= size;
    at += size === 4 ? 2 : 1;
  }
  return at;
}

/** The string index where the last `bytes` of UTF-8 begin; never inside a character. */
export function byteStart(text: string, bytes: number): number {
  let left = bytes;
  let at = text.length;
  while (at > 0) {
    const pair = at > 1 && isPair(text, at - 2);
    const size = pair ? 4 : sizeAt(text, at - 1);
    if (size > left) break;
    left -= size;
    at -= pair ? 2 : 1;
  }
  return at;
}

function sizeAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  // Half a pair alone is encoded as U+FFFD, three bytes like any other.
  return isPair(text, at) ? 4 : 3;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
