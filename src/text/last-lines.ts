/** The last `count` lines, each as it is. What follows the last line feed is a line too. */
export function lastLines(text: string, count: number): string {
  if (count <= 0) return "";
  // The line feed that ends the last line does not begin another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < count; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed === -1) return text;
    at = feed;
  }
  return text.slice(at + 1);
}
