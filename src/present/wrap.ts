/** Lines of at most `room` characters, broken at spaces where there are any. Nothing is cut. */
export function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  let left = text;
  while (left.length > room) {
    const space = left.lastIndexOf(" ", room);
    const end = space > 0 ? space : room;
    lines.push(left.slice(0, end));
    left = left.slice(end).trimStart();
  }
  lines.push(left);
  return lines;
}
