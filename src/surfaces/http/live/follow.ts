import * as z from "zod";
import type { SessionHandle } from "../../../contract/gateway.ts";
import type { LogChunk } from "../../../contract/session.ts";
import { wrongInput } from "../../../present/http-errors.ts";
import type { Places } from "../guard/connection-limiter.ts";
import { type Call, type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { logPiece } from "../routes/logs.ts";
import type { Service } from "../service.ts";
import { count } from "../shapes/inputs.ts";
import { EventStream } from "./event-stream.ts";
import { lastEventId } from "./last-event-id.ts";
import { type LogPosition, logPositionText, parseLogPosition } from "./log-position.ts";
import { EVENT_STREAM, eventText } from "./sse.ts";
import type { Streams } from "./streams.ts";

export interface FollowRooms {
  service: Service;
  places: Places;
  streams: Streams;
}

const Query = z.strictObject({
  stream: z.enum(["stdout", "stderr", "merged"]).optional(),
  offset: count().optional().describe("Where to begin; goes before `tail`"),
  tail: count(100_000).optional().describe("Begin with the last lines"),
});

export function followOperation(rooms: FollowRooms): Operation {
  return operation({
    method: "GET",
    path: "/v1/sessions/:id/follow",
    id: "followLogs",
    summary: "What a session wrote and what it writes, as it comes; resumes after `Last-Event-ID`",
    roles: READERS_AND_AGENT,
    query: Query,
    answer: {
      media: EVENT_STREAM,
      description: "Events: chunk (a piece of the log), end (what became of the session)",
    },
    handle: (call) => begin(rooms, call),
  });
}

async function begin(
  { service, places, streams }: FollowRooms,
  call: Call<z.infer<typeof Query>, unknown>,
): Promise<Response> {
  const { caller, request, gateway, params } = call;
  const session = await gateway.find(params.id ?? "");
  const { capture } = session.info();
  const last = lastEventId(request);
  const position = last === null ? null : parseLogPosition(last, capture);
  if (last !== null && position === null) throw wrongInput("Last-Event-ID", "is not one of this log");
  // A browser comes back whenever a stream ends, unless it is told like this that there is nothing more.
  if (position?.ended) return new Response(null, { status: 204 });
  const over = new AbortController();
  const stops = [places.take(caller), () => over.abort()];
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
