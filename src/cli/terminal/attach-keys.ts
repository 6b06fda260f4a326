/** What the keys after C-p do: C-q detaches, and C-r shows the pending approvals. */
export type AttachAction = "detach" | "review";

interface Taken {
  /** The input to send to the session. */
  pass: Uint8Array;
  /** The action that was requested. Input after its keys is dropped. */
  action: AttachAction | null;
}

const CONTROL_P = 0x10;
const ACTIONS: ReadonlyMap<number, AttachAction> = new Map([
  [0x11, "detach"],
  [0x12, "review"],
]);

const PASTE_END = "\x1b[201~";

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: keys send escape sequences */
const PASTE_START = /^\x1b\[200~/;
/** Mouse and focus events, which can arrive between two keys. */
const EVENT = /^\x1b\[(?:[IO]|<[0-9;]*[mM])/;
/** A key in the protocol of kitty, which programs can enable: its code, its modifiers and the type of the event. */
const KITTY_KEY = /^\x1b\[(\d+)(?::\d*)*(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u/;
/** A key in the protocol of xterm (modifyOtherKeys): its modifiers and its code. */
const XTERM_KEY = /^\x1b\[27;(\d+);(\d+)~/;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: keys send escape sequences */

/** Codes of modifier keys in the protocol of kitty. */
const isModifierKey = (code: number) => (code >= 57441 && code <= 57454) || code === 57358 || code === 57360;
const CONTROL = 4;
/** Caps Lock and Num Lock. */
const LOCKS = 64 | 128;
const RELEASE = 3;

/**
 * Detects C-p C-q and C-p C-r in the input, however the terminal encodes them. A C-p is held back until the next key
 * arrives or `flush` is called. Pasted text never acts: a program can put any text on the clipboard (invariant 7).
 */
export class AttachKeys {
  #held: number[] = [];
  #pasting = false;
  /** The last bytes of pasted text, which may be the beginning of its end mark. */
  #tail = "";

  /** Whether a C-p is held back. */
  get holds(): boolean {
    return this.#held.length > 0;
  }

  take(data: Uint8Array): Taken {
    const text = Buffer.from(data).toString("latin1");
    const pass: number[] = [];
    for (let at = 0; at < text.length; ) {
      if (this.#pasting) {
        at += this.#paste(text.slice(at), pass);
        continue;
      }
      const { length, control, silent } = keyAt(text.slice(at, at + 64));
      const bytes = data.subarray(at, at + length);
      at += length;
      if (silent) {
        (this.holds ? this.#held : pass).push(...bytes);
        continue;
      }
      const action = this.holds ? ACTIONS.get(control) : undefined;
      if (action) {
        this.#held = [];
        return { pass: Uint8Array.from(pass), action };
      }
      pass.push(...this.flush());
      if (control === CONTROL_P) this.#held = [...bytes];
      else pass.push(...bytes);
      this.#pasting = PASTE_START.test(bytes.length > 1 ? Buffer.from(bytes).toString("latin1") : "");
    }
    return { pass: Uint8Array.from(pass), action: null };
  }

  /** Returns the input that is held back, and holds it no longer. */
  flush(): Uint8Array {
    const held = Uint8Array.from(this.#held);
    this.#held = [];
    return held;
  }

  /** Passes on pasted text up to its end. Returns its length. */
  #paste(text: string, pass: number[]): number {
    const searched = this.#tail + text;
    const end = searched.indexOf(PASTE_END);
    const length = end < 0 ? text.length : end + PASTE_END.length - this.#tail.length;
    pass.push(...Buffer.from(text.slice(0, length), "latin1"));
    this.#pasting = end < 0;
    this.#tail = end < 0 ? searched.slice(1 - PASTE_END.length) : "";
    return length;
  }
}

interface EncodedKey {
  /** The number of bytes. */
  length: number;
  /** The control character that the key stands for, or -1. */
  control: number;
  /** Whether it is not a key press: an event of the mouse, the release of a key, or a modifier alone. */
  silent: boolean;
}

/** Decodes the key at the start of a text. */
function keyAt(text: string): EncodedKey {
  const other = (length: number, silent = false) => ({ length, control: -1, silent });
  if (!text.startsWith("\x1b[")) return { length: 1, control: text.charCodeAt(0), silent: false };
  const simple = PASTE_START.exec(text);
  if (simple) return other(simple[0].length);
  const event = EVENT.exec(text);
  if (event) return other(event[0].length, true);
  const kitty = KITTY_KEY.exec(text);
  if (kitty) {
    const [all, code, modifiers, type] = kitty;
    if (isModifierKey(Number(code)) || Number(type) === RELEASE) return other(all.length, true);
    return { length: all.length, control: controlOf(Number(code), Number(modifiers || 1)), silent: false };
  }
  const xterm = XTERM_KEY.exec(text);
  if (xterm) {
    return { length: xterm[0].length, control: controlOf(Number(xterm[2]), Number(xterm[1])), silent: false };
  }
  return other(1);
}

/** Returns the control character of a letter with Ctrl, or -1. */
function controlOf(code: number, modifiers: number): number {
  const isControl = ((modifiers - 1) & ~LOCKS) === CONTROL;
  return isControl && code >= 0x61 && code <= 0x7a ? code - 0x60 : -1;
}
