/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it is about */
/**
 * What a terminal sends by itself, without anybody touching a key: answers to a program's questions, and whether it has
 * the focus. Pressing F3 with a modifier looks like the place of the cursor in the first row, and counts as a key; the
 * mouse is a person's doing as well.
 */
const ANSWER = new RegExp(
  [
    "\\x1b\\[[?>=][0-9;]*c", // what it is
    "\\x1b\\[[0-9]*n", // how it is
    "\\x1b\\[\\??(?!1;[2-8]R)[0-9]+;[0-9]+(?:;[0-9]+)?R", // where the cursor is
    "\\x1b\\[\\??[0-9;]*\\$y", // whether a mode is set
    "\\x1b\\[[0-9]+(?:;[0-9]+){0,2}t", // how large the window is
    "\\x1b\\[\\?[0-9;]*u", // which keyboard protocol
    "\\x1b\\[[0-9;]+x", // how fast the line is
    "\\x1b\\[[IO]", // it has the focus, or lost it
    "\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)", // colours, title, clipboard
    "\\x1b[P_^X][^\\x1b]*\\x1b\\\\", // version, settings, capabilities
  ].join("|"),
  "g",
);
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what it is about */

/**
 * Whether nothing of it was typed. Terminals send each answer by itself, so that a text with more in it is a person's:
 * they may paste what looks like one.
 */
export function isAnswer(data: string): boolean {
  return data !== "" && data.replace(ANSWER, "") === "";
}
