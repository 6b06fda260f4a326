/** What a list may lack, where it lacks something. */
export function noteOf(warnings: readonly string[]): { note?: string } {
  return warnings.length > 0 ? { note: warnings.join(" ") } : {};
}
