/** With a full stop, unless it ends in some other mark. */
export function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]["'`)\]]?$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
