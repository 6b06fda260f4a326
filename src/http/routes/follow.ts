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
  stream: z.enum(["stdout", "stderr", "merged"]).optional(),
  offset: count().optional().describe("Where to begin; goes before `tail`"),
  tail: count(100_000).optional().describe("Begin with the last lines"),
});

export function followOperation(context: FollowContext): Operation {
  return operation({
    method: "GET",
    path: "/v1/sessions/:id/follow",
    id: "followLogs",
    summary: "What a session wrote and what it writes, as it comes; resumes after `Last-Event-ID`",
    roles: READERS_AND_AGENT,
    query: Query,
    response: {
      media: EVENT_STREAM,
      description: "Events: chunk (a piece of the log), end (what became of the session)",
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
  if (last !== null && position === null) throw invalidInput("Last-Event-ID", "is not one of this log");
  // A browser comes back whenever a stream ends, unless it is told like this that there is nothing more.
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

/** At the reader's pace: the log is on disk, and nothing of it waits here but a piece. */
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
  // Let go of by a gateway that closes: whoever reads goes on with the next one.
  if (info.status === "running" || info.lingering) return stream.close();
  stream.push(eventText("end", { info }, logPositionText({ after, ended: true }, capture)));
  stream.close();
}

/** How far the reader of a log is, in each of its streams; `ended`: they were told of its end. */
interface LogPosition {
  after: Partial<Record<StreamName, number>>;
  ended: boolean;
}

const WRITTEN = /^(\d{1,15})(?:\.(\d{1,15}))?(-end)?$/;

/** As the `id` of an event: `120` of a terminal or merged log, `120.4` of stdout and stderr. */
function logPositionText({ after, ended }: LogPosition, capture: Capture): string {
  const offsets = capture === "merged" ? [after.output] : [after.stdout, after.stderr];
  return `${offsets.map((offset) => offset ?? 0).join(".")}${ended ? "-end" : ""}`;
}

/** Null: nobody here wrote that, or not about such a session. */
function parseLogPosition(text: string, capture: Capture): LogPosition | null {
  const [whole, first, second, end] = WRITTEN.exec(text) ?? [];
  if (whole === undefined || (second === undefined) !== (capture === "merged")) return null;
  const after = capture === "merged" ? { output: Number(first) } : { stdout: Number(first), stderr: Number(second) };
  return { after, ended: end !== undefined };
}
