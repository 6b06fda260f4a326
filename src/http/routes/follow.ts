import * as z from "zod";
import type { SessionHandle } from "../../core/gateway.ts";
import type { Capture, LogChunk, StreamName } from "../../core/session.ts";
import { invalidInput } from "../errors.ts";
import type { ConnectionLimiter } from "../guard/limiters.ts";
import { EVENT_STREAM, EventStream, eventText, lastEventId, type Streams } from "../live/event-stream.ts";
import { type Operation, type OperationCall, operation, READERS_AND_AGENT } from "../operation.ts";
import { count } from "../schemas.ts";
import type { Service } from "../service.ts";
import { logPiece } from "./logs.ts";

interface FollowContext {
  service: Service;
  limiter: ConnectionLimiter;
  streams: Streams;
}

const Query = z.strictObject({
  stream: z.enum(["stdout", "stderr", "merged"]).optional().describe("Stream to follow (default: merged)"),
  offset: count().optional().describe("Byte offset to start at; takes precedence over `tail`"),
  tail: count(100_000).optional().describe("Start with this many of the last lines"),
});

export function followOperation(context: FollowContext): Operation {
  return operation({
    method: "GET",
    path: "/v1/sessions/:id/follow",
    id: "followLogs",
    summary: "Stream the log of a session",
    roles: READERS_AND_AGENT,
    query: Query,
    response: {
      media: EVENT_STREAM,
      description:
        "Events: chunk (a part of the log), end (the final state of the session). Resumes after the event in " +
        "`Last-Event-ID`.",
    },
    handle: (call) => begin(context, call),
  });
}

async function begin(
  { service, limiter, streams }: FollowContext,
  call: OperationCall<z.infer<typeof Query>, unknown>,
): Promise<Response> {
  const { caller, request, gateway, params } = call;
  const session = await gateway.find(params.id ?? "");
  const { capture } = session.info();
  const last = lastEventId(request);
  const position = last === null ? null : parseLogPosition(last, capture);
  if (last !== null && position === null) throw invalidInput("Last-Event-ID", "does not belong to this log");
  // A browser reconnects whenever a stream ends, unless the response is 204.
  if (position?.ended) return new Response(null, { status: 204 });
  const over = new AbortController();
  const stops = [limiter.acquire(caller), () => over.abort()];
  const stream = new EventStream({
    socket: request.socket,
    isGood: caller.isGood,
    onCut: () => {
      streams.cut++;
    },
    onClose: () => {
      for (const stop of stops) stop();
    },
  });
  stops.push(streams.add(stream));
  const start = position ?? { after: {}, ended: false };
  const begins = position ? { after: position.after } : beginning(call.query);
  const query = { ...begins, ...(call.query.stream ? { stream: call.query.stream } : {}), signal: over.signal };
  void write(session, stream, start, session.follow(query), service).catch((error: Error) => {
    service.onfailure(error);
    stream.cut();
  });
  return stream.response;
}

function beginning({ offset, tail }: z.infer<typeof Query>) {
  if (offset !== undefined) return { offset };
  return tail === undefined ? {} : { tail };
}

/** Sends the log as fast as the client reads it. Only one chunk is held in memory. */
async function write(
  session: SessionHandle,
  stream: EventStream,
  { after }: LogPosition,
  chunks: AsyncIterable<LogChunk>,
  { stopping }: Service,
): Promise<void> {
  const { capture } = session.info();
  for await (const chunk of chunks) {
    after[chunk.stream] = chunk.offset + chunk.bytes.length;
    stream.push(eventText("chunk", logPiece(chunk), logPositionText({ after, ended: false }, capture)));
    await stream.room();
  }
  if (!stream.isOpen || stopping.aborted) return;
  const info = session.info();
  // The gateway is closing and the session is still running: the client resumes with the next instance.
  if (info.status === "running" || info.lingering) return stream.close();
  stream.push(eventText("end", { info }, logPositionText({ after, ended: true }, capture)));
  stream.close();
}

/** How far a client has read a log. */
interface LogPosition {
  /** Byte offset in each stream. */
  after: Partial<Record<StreamName, number>>;
  /** Whether the client has received the `end` event. */
  ended: boolean;
}

const WRITTEN = /^(\d{1,15})(?:\.(\d{1,15}))?(-end)?$/;

/** Formats a position as an event ID: `120` for a merged log, `120.4` for stdout and stderr. */
function logPositionText({ after, ended }: LogPosition, capture: Capture): string {
  const offsets = capture === "merged" ? [after.output] : [after.stdout, after.stderr];
  return `${offsets.map((offset) => offset ?? 0).join(".")}${ended ? "-end" : ""}`;
}

/** Parses an event ID; returns null when it is malformed or does not fit the session. */
function parseLogPosition(text: string, capture: Capture): LogPosition | null {
  const [whole, first, second, end] = WRITTEN.exec(text) ?? [];
  if (whole === undefined || (second === undefined) !== (capture === "merged")) return null;
  const after = capture === "merged" ? { output: Number(first) } : { stdout: Number(first), stderr: Number(second) };
  return { after, ended: end !== undefined };
}
