/** What a gateway may ask of a session here: each goes through the session's own door, with this machine's settings. */
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import type { LogChunk } from "../core/session.ts";
import type { KillRequest } from "../executor/executor.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import { signalName } from "../session/signals.ts";
import type { SessionRow } from "../storage/sessions.ts";
import type { Piece } from "./response-streams.ts";

export interface On {
  door: WorkerGateway;
  row: SessionRow;
}

const count = z.number().int().min(0);
const Stream = z.enum(["stdout", "stderr", "merged"]);
const LogArgs = z.object({
  stream: Stream.optional(),
  offset: z.number().optional(),
  limit: z.number().optional(),
  tail: z.number().optional(),
  fromLine: z.number().optional(),
  toLine: z.number().optional(),
  sinceMs: z.number().optional(),
  after: z.partialRecord(z.enum(["stdout", "stderr", "output"]), count).optional(),
});

const Size = z.object({ columns: count, rows: count });
const Kill = z.object({
  signal: count.max(64),
  scope: z.enum(["tree", "main"]),
  ends: z.boolean(),
  graceMs: z.number().nullable(),
});

const Wait = z.object({
  pattern: z.object({ source: z.string().max(10_000), flags: z.string().max(10) }).optional(),
  input: z.boolean().optional(),
  quietMs: z.number().optional(),
  timeoutMs: z.number().optional(),
  offset: z.number().optional(),
});

const Bytes = z.string().max(2 << 20);

/** Ends with one answer. */
export const ASKED: Record<string, (on: On, args: unknown) => Promise<unknown>> = {
  write: async (on, args) => {
    const bytes = Buffer.from(Bytes.parse(args), "base64");
    const execution = await on.door.execution(on.row.id);
    if (!execution) return { taken: null, hidden: false };
    try {
      await on.door.session(on.row).write(bytes);
      return { taken: bytes.length, hidden: execution.wroteHidden };
    } catch (error) {
      if (error instanceof SallyportError && error.type === "StdinClosed") return { taken: null, hidden: false };
      throw error;
    }
  },
  closeStdin: async (on) => on.door.session(on.row).closeStdin(),
  resize: async (on, args) => {
    await on.door.session(on.row).resize(Size.parse(args));
    return true;
  },
  inputState: async (on) => {
    const state = await (await on.door.execution(on.row.id))?.inputState();
    return state ? { ...state, typed: Buffer.from(state.typed).toString("base64") } : null;
  },
  kill: async (on, args) => kill(on, Kill.parse(args)),
  extend: async (on, args) => {
    await on.door.session(on.row).extend(z.number().parse(args));
    return true;
  },
  background: async (on) => {
    await on.door.session(on.row).toBackground();
    return null;
  },
};

/** Not waited for here: the gateway that asked hears of the end as of any other. */
async function kill({ door, row }: On, order: KillRequest): Promise<boolean> {
  const execution = await door.execution(row.id);
  if (!execution) return false;
  const session = door.session(row);
  const signal = signalName(order.signal) ?? String(order.signal);
  const sent = session.kill({ signal, graceMs: order.ends ? order.graceMs : null });
  return Promise.race([sent.then(() => true), execution.exited.then(() => true), sentSoon(sent)]);
}

const SENT_MS = 100;

function sentSoon(sent: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, SENT_MS, true);
    sent.catch(reject);
  });
}

/** Gives pieces as they are read. */
export const READ: Record<string, (on: On, args: unknown, signal: AbortSignal) => AsyncIterable<Piece>> = {
  logs: (on, args) =>
    once(async () => {
      const slice = await on.door.session(on.row).logs(logArgs(args));
      const chunks = slice.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes).toString("base64") }));
      return { ...slice, chunks };
    }),
  read: (on, args) => chunks(on.door.session(on.row).read(logArgs(args))),
  follow: (on, args, signal) => chunks(on.door.session(on.row).follow({ ...logArgs(args), signal })),
  recording: (on) => values(on.door.session(on.row).recording()),
  screen: (on, args) =>
    once(() =>
      on.door
        .session(on.row)
        .screen(
          z.object({ attributes: z.boolean().optional(), scrollback: z.boolean().optional() }).parse(args) as object,
        ),
    ),
  repaint: (on) =>
    once(async () => {
      const { output, ...rest } = await on.door.session(on.row).repaint();
      return { ...rest, output: Buffer.from(output).toString("base64") };
    }),
  waitFor: (on, args, signal) =>
    once(async () => {
      const { pattern, ...rest } = Wait.parse(args);
      const expression = pattern ? { pattern: new RegExp(pattern.source, pattern.flags) } : {};
      const { info, ...found } = await on.door.session(on.row).waitFor({ ...rest, ...expression, signal } as object);
      return found;
    }),
  tail: (on, args) =>
    once(async () => {
      const { maxBytes } = z.object({ maxBytes: count.max(1 << 20) }).parse(args);
      return on.door.registry.executor.data(on.row).tail(maxBytes);
    }),
  result: (on) =>
    once(async () => {
      const { registry } = on.door;
      const row = registry.reconcile(on.row);
      const ending = row.record === null ? (row.status === "lost" ? "lost" : "detached") : JSON.parse(row.record);
      return registry.executor.data(row).result(row.name, row, ending);
    }),
  glimpse: (on) =>
    once(async () => {
      const data = on.door.registry.executor.data(on.row);
      const live = on.row.status === "running" || on.row.lingering === 1;
      return {
        streams: data.streams(),
        terminal: data.terminal(),
        live: live ? data.usage(on.row.keeper_pid) : null,
      };
    }),
};

function logArgs(args: unknown): object {
  return Object.fromEntries(Object.entries(LogArgs.parse(args ?? {})).filter(([, value]) => value !== undefined));
}

async function* once(work: () => unknown): AsyncGenerator<Piece> {
  yield { value: await work() };
}

async function* values(source: AsyncIterable<unknown>): AsyncGenerator<Piece> {
  for await (const value of source) yield { value };
}

async function* chunks(source: AsyncIterable<LogChunk>): AsyncGenerator<Piece> {
  for await (const { bytes, ...head } of source) yield { head, bytes };
}
