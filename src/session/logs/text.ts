import { leftoverBytes, unfinishedBytes } from "./characters.ts";

/** Bytes of a stream that a foreground run answers with. */
export const DEFAULT_TEXT_BYTES = 1024 * 1024;

/** Head and tail of a log, joined. */
export interface LogText {
  text: string;
  /** Bytes between head and tail that are not in the text. */
  omittedBytes: number;
  /** Where in the text (a string index) they are missing; null when nothing is. */
  omittedAt: number | null;
}

export const EMPTY: LogText = { text: "", omittedBytes: 0, omittedAt: null };

/** Decodes both ends of `length` bytes, cut where a character begins. */
export function joinEnds(head: Buffer, tail: Buffer, length: number): LogText {
  if (head.length + tail.length >= length) {
    return { text: Buffer.concat([head, tail]).toString("utf8"), omittedBytes: 0, omittedAt: null };
  }
  const first = head.subarray(0, head.length - unfinishedBytes(head));
  const last = tail.subarray(leftoverBytes(tail));
  const text = first.toString("utf8");
  return {
    text: text + last.toString("utf8"),
    omittedBytes: length - first.length - last.length,
    omittedAt: text.length,
  };
}
