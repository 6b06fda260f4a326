import type { Caller } from "../guard/caller.ts";
import type { Places } from "../guard/connection-limiter.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import type { Service } from "../service.ts";
import type { EventText } from "./event-format.ts";
import { parsePosition, positionText } from "./event-position.ts";
import { EventStream } from "./event-stream.ts";
import { type Feed, resetEvent } from "./feed.ts";
import { lastEventId } from "./last-event-id.ts";
import { EVENT_STREAM, eventText } from "./sse.ts";
import type { Stats } from "./stats.ts";
import type { Streams } from "./streams.ts";

export interface EventRooms {
  service: Service;
  feed: Feed;
  stats: Stats;
  places: Places;
  streams: Streams;
}

export function eventsOperation(rooms: EventRooms): Operation {
  return operation({
    method: "GET",
    path: "/v1/events",
    id: "events",
    summary: "What happens, as it happens; resumes after `Last-Event-ID`",
    roles: READERS_AND_AGENT,
    answer: { media: EVENT_STREAM, description: "Events: ready, session, removed, approval, audit, stats, reset" },
    handle: ({ caller, request }) => {
      const last = lastEventId(request);
      const giveBack = rooms.places.take(caller);
      const stops: (() => void)[] = [giveBack];
      const stream = new EventStream({
        socket: request.socket,
        isGood: caller.isGood,
        onCut: () => {
          rooms.streams.cut++;
        },
        onClose: () => {
          for (const stop of stops) stop();
        },
      });
      stops.push(rooms.streams.add(stream));
      void follow(rooms, stream, caller, last, stops).catch((error: Error) => {
        rooms.service.onfailure(error);
        stream.cut();
      });
      return stream.response;
    },
  });
}

/** What was missed, at the reader's pace; then what comes. */
async function follow(
  { feed, stats }: EventRooms,
  stream: EventStream,
  { agent }: Caller,
  last: string | null,
  stops: (() => void)[],
): Promise<void> {
  const tell = (events: readonly EventText[]) => {
    for (const event of events) {
      if (isFor(event, agent) && !stream.push(event.text)) return;
    }
  };
  for (let position = last === null ? feed.position : parsePosition(last); !position || !feed.isUpToDate(position); ) {
    const missed = position && feed.catchUp(position);
    if (missed === null) {
      tell([resetEvent(feed.position)]);
      break;
    }
    tell(missed.events);
    position = missed.position;
    await stream.room();
    if (!stream.isOpen) return;
  }
  // In one turn with the last look: nothing comes in between.
  const now = feed.position;
  stream.push(eventText("ready", agent === null ? { sequence: now.audit } : {}, positionText(now)));
  stops.push(feed.listen(tell));
  stops.push(stats.listen(agent, (text) => stream.push(text)));
}

/** Persons see everything, agents what is theirs. */
function isFor({ to }: EventText, agent: string | null): boolean {
  if (agent === null || to === "everybody") return true;
  return to !== "persons" && to.agent === agent;
}
