// Controls, and characters that are not seen but act on their neighbours: overrides of the writing direction, tags, zero
// widths. Without them a person reads the same text as a model. Joiners stay: emoji are made with them.
const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2500-\u25ff]*$/;

/** The text of a cell, or of many, without what is hidden in it. */
export function seen(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, "");
}
