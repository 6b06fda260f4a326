const START = "\u001b[200~";
const END = "\u001b[201~";

/**
 * What a terminal sends when this text is pasted. Where the program asked for it, the text is marked as pasted, so that
 * it is not taken for keys; a mark within the text must not end that early.
 */
export function encodePaste(text: string, marked: boolean): string {
  const typed = text.replaceAll(START, "").replaceAll(END, "").replace(/\r?\n/g, "\r");
  return marked ? `${START}${typed}${END}` : typed;
}
