/** Returns the anchor that GitHub gives to a heading: lower case, no punctuation, hyphens for spaces. */
export function slug(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
  return plain
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** Gives each heading of a page its anchor; the second of two equal headings gets the suffix `-1`. */
export function slugger(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const base = slug(heading);
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

/** Returns a page without its fenced blocks and inline code, where brackets are not links. */
export function withoutCode(page: string): string {
  return page.replace(/^(`{3,})[\s\S]*?^\1$/gm, "").replace(/`[^`\n]*`/g, "");
}

/** Returns the anchors of all headings on a page. */
export function anchors(page: string): string[] {
  const anchor = slugger();
  const body = page.replace(/^(`{3,})[\s\S]*?^\1$/gm, "");
  return [...body.matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = ""]) => anchor(heading));
}
