/** No line a terminal takes is longer. */
const MOST = 4096;

/** What was typed into a terminal since the last end of a line, by whomever: who judges the next key must know it. */
export class Typed {
  #bytes: number[] = [];
  #group = 0;
  overlong = false;
  #before = 0;

  /** `group`: who was in front when these came. */
  note(bytes: Uint8Array, group: number): void {
    if (group !== this.#group) this.#before = this.#bytes.length;
    this.#group = group;
    for (const byte of bytes) {
      if (byte === 10 || byte === 13) this.clear();
      else if (this.#bytes.length < MOST) this.#bytes.push(byte);
      else this.overlong = true;
    }
  }

  clear(): void {
    this.#bytes = [];
    this.overlong = false;
    this.#before = 0;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get hex(): string {
    return Buffer.from(this.#bytes).toString("hex");
  }

  /** So much of it was typed while another program was in front than is now. */
  before(group: number): number {
    return group === this.#group ? this.#before : this.#bytes.length;
  }
}
