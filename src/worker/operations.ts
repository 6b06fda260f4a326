/** The operations that gateways request on sessions of this worker. This machine's own policy applies to each. */
import * as z from "zod";
import { SallyportError } from "../core/error.ts";
import type { LogChunk } from "../core/session.ts";
import type { KillRequest } from "../executor/execution.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import { signalName } from "../session/signals.ts";
import type { SessionRow } from "../storage/sessions.ts";
import type { ResponseItem } from "./response-streams.ts";

export interface Target {
  gateway: WorkerGateway;
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
  readTo: z.number().optional(),
});

const Bytes = z.string().max(2 << 20);

/** Operations with a single response. */
export const REQUESTS: Record<string, (target: Target, args: unknown) => Promise<unknown>> = {
  write: async (target, args) => {
    const bytes = Buffer.from(Bytes.parse(args), "base64");
    const execution = await target.gateway.execution(target.row.id);
    if (!execution) return { taken: null, hidden: false };
    try {
      await target.gateway.session(target.row).write(bytes);
      return { taken: bytes.length, hidden: execution.wroteHidden };
    } catch (error) {
      if (error instanceof SallyportError && error.type === "StdinClosed") return { taken: null, hidden: false };
      throw error;
    }
  },
  closeStdin: async (target) => target.gateway.session(target.row).closeStdin(),
  resize: async (target, args) => {
    await target.gateway.session(target.row).resize(Size.parse(args));
    return true;
  },
  inputState: async (target) => {
    const state = await (await target.gateway.execution(target.row.id))?.inputState();
    return state ? { ...state, typed: Buffer.from(state.typed).toString("base64") } : null;
  },
  kill: async (target, args) => kill(target, Kill.parse(args)),
  extend: async (target, args) => {
    await target.gateway.session(target.row).extend(z.number().parse(args));
    return true;
  },
  background: async (target) => {
    await target.gateway.session(target.row).toBackground();
    return null;
  },
};

/** Sends a signal. Does not wait until the command exits, because the gateway receives an event for that. */
async function kill({ gateway, row }: Target, request: KillRequest): Promise<boolean> {
  const execution = await gateway.execution(row.id);
  if (!execution) return false;
  const session = gateway.session(row);
  const signal = signalName(request.signal) ?? String(request.signal);
  const sent = session.kill({ signal, graceMs: request.ends ? request.graceMs : null });
  return Promise.race([sent.then(() => true), execution.exited.then(() => true), afterDelay(sent)]);
}

const KILL_RESPONSE_MS = 100;

function afterDelay(sent: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, KILL_RESPONSE_MS, true);
    sent.catch(reject);
  });
}

/** Operations with a streamed response. */
export const STREAMS: Record<
  string,
  (target: Target, args: unknown, signal: AbortSignal) => AsyncIterable<ResponseItem>
> = {
  logs: (target, args) =>
    single(async () => {
      const slice = await target.gateway.session(target.row).logs(logArgs(args));
      const chunks = slice.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes).toString("base64") }));
      return { ...slice, chunks };
    }),
  read: (target, args) => chunks(target.gateway.session(target.row).read(logArgs(args))),
  follow: (target, args, signal) => chunks(target.gateway.session(target.row).follow({ ...logArgs(args), signal })),
  recording: (target) => values(target.gateway.session(target.row).recording()),
  screen: (target, args) =>
    single(() =>
      target.gateway
        .session(target.row)
        .screen(
          z.object({ attributes: z.boolean().optional(), scrollback: z.boolean().optional() }).parse(args) as object,
        ),
    ),
  repaint: (target) =>
    single(async () => {
      const { output, ...rest } = await target.gateway.session(target.row).repaint();
      return { ...rest, output: Buffer.from(output).toString("base64") };
    }),
  waitFor: (target, args, signal) =>
    single(async () => {
      const { pattern, ...rest } = Wait.parse(args);
      const expression = pattern ? { pattern: new RegExp(pattern.source, pattern.flags) } : {};
      const { info, ...found } = await target.gateway
        .session(target.row)
        .waitFor({ ...rest, ...expression, signal } as object);
      return found;
    }),
  tail: (target, args) =>
    single(async () => {
      const { maxBytes } = z.object({ maxBytes: count.max(1 << 20) }).parse(args);
      return target.gateway.registry.executor.data(target.row).tail(maxBytes);
    }),
  result: (target) =>
    single(async () => {
      const { registry } = target.gateway;
      const row = registry.reconcile(target.row);
      const ending = row.record === null ? (row.status === "lost" ? "lost" : "detached") : JSON.parse(row.record);
      return registry.executor.data(row).result(row.name, row, ending);
    }),
  glimpse: (target) =>
    single(async () => {
      const data = target.gateway.registry.executor.data(target.row);
      const live = target.row.status === "running" || target.row.lingering === 1;
      return {
        streams: data.streams(),
        terminal: data.terminal(),
        live: live ? data.usage(target.row.keeper_pid) : null,
      };
    }),
};

function logArgs(args: unknown): object {
  return Object.fromEntries(Object.entries(LogArgs.parse(args ?? {})).filter(([, value]) => value !== undefined));
}

async function* single(work: () => unknown): AsyncGenerator<ResponseItem> {
  yield { value: await work() };
}

async function* values(source: AsyncIterable<unknown>): AsyncGenerator<ResponseItem> {
  for await (const value of source) yield { value };
}

async function* chunks(source: AsyncIterable<LogChunk>): AsyncGenerator<ResponseItem> {
  for await (const { bytes, ...head } of source) yield { head, bytes };
}
