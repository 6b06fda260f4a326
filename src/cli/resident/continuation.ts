/**
 * A native client that cannot finish a command runs `sallyport` with Node in its place: the resident gateway was killed,
 * or the output contains something that the client does not print. An environment variable names the session.
 */
import { SallyportError } from "../../core/error.ts";
import { isId } from "../../core/id.ts";
import type { StreamName } from "../../core/session.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Session } from "../../session/session.ts";

const VARIABLE = "SALLYPORT_CONTINUE";

export interface Continuation {
  id: string;
  /** The number of bytes of each stream that the client has printed. */
  after: Partial<Record<StreamName, number>>;
  /** Whether input was sent that may not have reached the command. */
  inputLost: boolean;
  inputEnded: boolean;
}

/** Takes the continuation out of the environment, which commands inherit. Returns null when there is none. */
export function takeContinuation(): Continuation | null {
  const text = process.env[VARIABLE];
  delete process.env[VARIABLE];
  const [, id = "", first, second, lost, ended] = /^(\S+) (\d{1,15}) (\d{1,15}) ([01]) ([01])$/.exec(text ?? "") ?? [];
  if (!isId(id)) return null;
  const after = { stdout: Number(first), stderr: Number(second), output: Number(first) };
  return { id, after, inputLost: lost === "1", inputEnded: ended === "1" };
}

/** Returns the session, or null when the resident gateway was killed before it recorded the command. */
export function continuedSession(gateway: Gateway, { id }: Continuation): Session | null {
  try {
    return gateway.session(id);
  } catch (error) {
    if (error instanceof SallyportError && error.type === "SessionNotFound") return null;
    throw error;
  }
}
