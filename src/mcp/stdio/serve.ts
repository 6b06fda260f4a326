import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import { Connection } from "../connection.ts";
import type { Door } from "../door.ts";
import { leave } from "../leave.ts";
import { keepInformed, makeServer } from "../server.ts";
import { LineTransport } from "./line-transport.ts";

/** A client sends its greeting at once; what takes time waits for that to be answered, but not for a silent client. */
const GREETING_MS = 100;

export interface StdioOptions {
  input: Readable;
  output: Writable;
  /** Ends serving, as the client's leaving does. */
  signal: AbortSignal;
  /** As whom the host's user decides; null: decisions are not taken from the client. */
  hostUser: string | null;
  onerror: (error: Error) => void;
}

/** Serves one client until it leaves. Rejects when the agent's gateway cannot be opened. */
export async function serveStdio(door: Door, options: StdioOptions): Promise<void> {
  const { input, output, signal, hostUser, onerror } = options;
  const connection = new Connection(hostUser);
  const transport = new LineTransport(input, output);
  const closed = new Promise<void>((resolve) => {
    const handle = serve(
      () => {
        const server = makeServer(door, connection);
        transport.onlisten = keepInformed(server, door, connection).watchAll;
        return server;
      },
      { transport, onerror },
    );
    // The entry has taken the transport's callbacks by now; it hears of the end first.
    const entryClosed = transport.onclose;
    transport.onclose = () => {
      entryClosed?.();
      resolve();
    };
    const stop = () => void handle.close();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([transport.greeted, closed, sleep(GREETING_MS, undefined, { ref: false })]);
  // Not only the gateway: toolsets that clash are refused at the start, too.
  await Promise.race([door.shelf.listed(), closed]);
  await closed;
  await leave(door, connection);
}
