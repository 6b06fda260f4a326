import type { Readable } from "node:stream";
import { SallyportError } from "../../core/error.ts";
import type { SessionHandle } from "../../core/gateway.ts";

/** Pipes stdin to the command as it arrives, until either side ends. Returns how to stop. */
export function feed(stdin: Readable, session: SessionHandle, onError: (error: unknown) => void): () => void {
  let stopped = false;
  pump(stdin, session).catch((error: unknown) => {
    if (!stopped && !commandHadEnough(error)) onError(error);
  });
  return () => {
    stopped = true;
    stdin.destroy();
  };
}

async function pump(stdin: Readable, session: SessionHandle): Promise<void> {
  for await (const chunk of stdin) await session.write(chunk as Uint8Array);
  await session.closeStdin();
}

/** `head` closes its stdin, or exits, long before we run out: as with a pipe in a shell, that is no error. */
function commandHadEnough(error: unknown): boolean {
  return error instanceof SallyportError && (error.type === "StdinClosed" || error.type === "AlreadyExited");
}
