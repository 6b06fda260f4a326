const CONTROL_P = 0x10;
const CONTROL_Q = 0x11;

/** Watches for C-p C-q among what is typed. A C-p waits for the key after it, which decides whether it was meant. */
export class DetachKeys {
  #held = false;

  /** What to pass on, and whether the two keys came. */
  take(keys: Uint8Array): { pass: Uint8Array; detach: boolean } {
    const pass: number[] = [];
    for (const key of keys) {
      if (this.#held && key === CONTROL_Q) return { pass: Uint8Array.from(pass), detach: true };
      if (this.#held) pass.push(CONTROL_P);
      this.#held = key === CONTROL_P;
      if (!this.#held) pass.push(key);
    }
    return { pass: Uint8Array.from(pass), detach: false };
  }
}
