const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Cuts a stream of bytes into lines. Holds no more than one line of the largest size (promise 6). */
export class Lines {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #skipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this piece. One that is too long is told once, when that is known, and then skipped. */
  *take(chunk: Buffer): Generator<Buffer | "too long"> {
    let at = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, at)) {
      const fits = this.#keep(chunk.subarray(at, end));
      at = end + 1;
      const told = this.#skipping;
      const line = this.#whole();
      if (!fits) yield "too long";
      else if (!told) yield line;
    }
    if (at < chunk.length && !this.#keep(chunk.subarray(at))) yield "too long";
  }

  /** False: with this piece the line has become too long. */
  #keep(piece: Buffer): boolean {
    if (this.#skipping) return true;
    this.#bytes += piece.length;
    if (this.#bytes <= this.#maxBytes) {
      if (piece.length > 0) this.#parts.push(piece);
      return true;
    }
    this.#parts = [];
    this.#skipping = true;
    return false;
  }

  #whole(): Buffer {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#skipping = false;
    return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
  }
}
