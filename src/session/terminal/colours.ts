const MOST_KEPT = 32;
/** None that means anything is longer. */
const LONGEST = 64;

const ZERO = 0x30;
const SEMICOLON = 0x3b;

/** The colours and styles in force, as the sequences that set them since the last reset. */
export class Colours {
  // Bytes in a ring: nothing is as frequent as colours, and only the last ones are ever looked at.
  #bytes = Buffer.alloc(MOST_KEPT * LONGEST);
  #lengths = new Uint8Array(MOST_KEPT);
  #count = 0;

  reset(): void {
    this.#count = 0;
  }

  /** The parameters of one sequence. */
  push(bytes: Uint8Array, from: number, to: number): void {
    const first = from === to ? ZERO : (bytes[from] as number);
    if (to - from <= 1 && first === ZERO) {
      this.#count = 0;
      return;
    }
    if (first > SEMICOLON || to - from > LONGEST) return; // a private sequence, or none
    if (first === ZERO && bytes[from + 1] === SEMICOLON) this.#count = 0;
    const slot = this.#count++ % MOST_KEPT;
    let target = slot * LONGEST;
    for (let at = from; at < to; at++) this.#bytes[target++] = bytes[at] as number;
    this.#lengths[slot] = to - from;
  }

  sequences(): string[] {
    const count = Math.min(this.#count, MOST_KEPT);
    return Array.from({ length: count }, (_, index) => {
      const slot = (this.#count - count + index) % MOST_KEPT;
      const start = slot * LONGEST;
      return `\x1b[${this.#bytes.toString("latin1", start, start + (this.#lengths[slot] ?? 0))}m`;
    });
  }
}
