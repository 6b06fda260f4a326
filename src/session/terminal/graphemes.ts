import { createRequire } from "node:module";
import type { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import type { IUnicodeVersionProvider, Terminal } from "@xterm/headless";

const graphemesAddon = loadAddon();

/**
 * The addon decodes its tables as it is loaded, and takes the buffer they come in for one of its own: out of Node's pool
 * of small buffers they would be read from the wrong place, depending on what was in use before.
 */
function loadAddon(): { UnicodeGraphemesAddon: typeof UnicodeGraphemesAddon } {
  const size = Buffer.poolSize;
  Buffer.poolSize = 0;
  try {
    return createRequire(import.meta.url)("@xterm/addon-unicode-graphemes");
  } finally {
    Buffer.poolSize = size;
  }
}

/** Characters that join the one before them, in one cell; no script needs so many, and a cell has no end otherwise. */
const MOST_JOINED = 32;
const JOINS = 1;

/** Lets a terminal put what a reader sees as one character (an emoji family, a letter with accents) into one cell. */
export function useGraphemes(terminal: Terminal): void {
  const inner = providerOf(new graphemesAddon.UnicodeGraphemesAddon());
  let joined = 0;
  terminal.unicode.register({
    version: "bounded-graphemes",
    wcwidth: (codepoint) => inner.wcwidth(codepoint),
    charProperties: (codepoint, preceding) => {
      const properties = inner.charProperties(codepoint, preceding);
      if ((properties & JOINS) === 0) {
        joined = 0;
        return properties;
      }
      if (++joined <= MOST_JOINED) return properties;
      joined = 0;
      return properties & ~JOINS;
    },
  });
  terminal.unicode.activeVersion = "bounded-graphemes";
}

/** The addon offers its provider to the terminal it is loaded into, and to nobody else. */
function providerOf(addon: { activate(terminal: never): void }): IUnicodeVersionProvider {
  const offered: IUnicodeVersionProvider[] = [];
  const unicode = { activeVersion: "", register: (provider: IUnicodeVersionProvider) => offered.push(provider) };
  addon.activate({ unicode } as never);
  const provider = offered.find(({ version }) => version === unicode.activeVersion);
  if (!provider) throw new Error("the graphemes addon offers no provider");
  return provider;
}
