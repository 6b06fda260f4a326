import type { InputState, TerminalProcess } from "../../../src/executor/execution.ts";
import { Session, type SessionInput } from "../../../src/session/session.ts";
import type { InputText } from "../../../src/session/terminal/typed-input.ts";

/** Returns a process on a session's terminal. */
export function program(...argv: string[]): TerminalProcess {
  return { pid: 1, program: null, argv, cwd: "/" };
}

/** Creates a session on a terminal in this state, which records written input and the commands to authorize. */
export function typing(state: Partial<InputState> = {}) {
  const written: Uint8Array[] = [];
  const authorized: InputText[] = [];
  const whole: InputState = {
    reading: true,
    echo: true,
    canonical: false,
    foreground: program("bash"),
    bytes: 0,
    processes: [],
    typed: Buffer.alloc(0),
    typedOverlong: false,
    typedBefore: 0,
    modes: { applicationCursor: false, bracketedPaste: false },
    ...state,
  };
  const execution = {
    hold: () => () => {},
    onTerminal: async () => true,
    inputState: async () => whole,
    wroteHidden: false,
    write: async (bytes: Uint8Array) => {
      written.push(bytes);
      return bytes.length;
    },
  };
  const hooks = {
    audit: () => {},
    authorize: () => undefined,
    authorizeInput: async (_session: object, { typed }: SessionInput) => void authorized.push(...(typed ?? [])),
  };
  const session = new Session({ held: () => execution } as never, { id: "1", name: "one" }, hooks as never);
  return { session, authorized, written: () => Buffer.concat(written).toString("latin1") };
}
