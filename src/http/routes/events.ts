import type { Caller } from "../guard/caller.ts";
import type { ConnectionLimiter } from "../guard/limiters.ts";
import { type ChangeFeed, type EventText, parsePosition, positionText, resetEvent } from "../live/change-feed.ts";
import { EVENT_STREAM, EventStream, eventText, lastEventId, type Streams } from "../live/event-stream.ts";
import type { Stats } from "../live/stats.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import type { Service } from "../service.ts";

interface EventsContext {
  service: Service;
  feed: ChangeFeed;
  stats: Stats;
  limiter: ConnectionLimiter;
  streams: Streams;
}

export function eventsOperation(context: EventsContext): Operation {
  return operation({
    method: "GET",
    path: "/v1/events",
    id: "events",
    summary: "Stream events",
    roles: READERS_AND_AGENT,
    response: {
      media: EVENT_STREAM,
      description:
        "Events: ready, session, removed, approval, audit, stats, reset. Resumes after the event in `Last-Event-ID`.",
    },
    handle: ({ caller, request }) => {
      const last = lastEventId(request);
      const stops: (() => void)[] = [context.limiter.acquire(caller)];
      const stream = new EventStream({
        socket: request.socket,
        isGood: caller.isGood,
        onCut: () => {
          context.streams.cut++;
        },
        onClose: () => {
          for (const stop of stops) stop();
        },
      });
      stops.push(context.streams.add(stream));
      void follow(context, stream, caller, last, stops).catch((error: Error) => {
        context.service.onfailure(error);
        stream.cut();
      });
      return stream.response;
    },
  });
}

/** Sends missed events as fast as the client reads them, then new events as they happen. */
async function follow(
  { feed, stats }: EventsContext,
  stream: EventStream,
  { agent }: Caller,
  last: string | null,
  stops: (() => void)[],
): Promise<void> {
  const send = (events: readonly EventText[]) => {
    for (const event of events) {
      if (isFor(event, agent) && !stream.push(event.text)) return;
    }
  };
  for (let position = last === null ? feed.position : parsePosition(last); !position || !feed.isUpToDate(position); ) {
    const missed = position && feed.catchUp(position);
    if (missed === null) {
      send([resetEvent(feed.position)]);
      break;
    }
    send(missed.events);
    position = missed.position;
    await stream.room();
    if (!stream.isOpen) return;
  }
  // There is no await between the last check above and `listen`, so no event is missed.
  const now = feed.position;
  stream.push(eventText("ready", agent === null ? { sequence: now.audit } : {}, positionText(now)));
  stops.push(feed.listen(send));
  stops.push(stats.listen(agent, (text) => stream.push(text)));
}

/** Reports whether a caller may receive an event. People receive all events, an agent only its own. */
function isFor({ to }: EventText, agent: string | null): boolean {
  if (agent === null || to === "everybody") return true;
  return to !== "persons" && to.agent === agent;
}
