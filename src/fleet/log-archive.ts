import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type ObjectStore, Objm } from "@nats-io/obj";
import type { SessionRef } from "../executor/executor.ts";
import type { SessionData } from "../executor/session-data.ts";
import { LocalSessionReader } from "../session/session-folder.ts";
import type { FleetConnection } from "./connection.ts";
import { sessionKey } from "./subjects.ts";

/** The files of a session that are archived, in this order. */
const FILES = ["stdout", "stderr", "output", "timeline", "sizes", "exit"];

/** Object that replaces `exit`, the last file, when the keeper was killed before it wrote one. */
const NO_EXIT = "no-exit";
const COPY_BYTES = 128 * 1024;

/** Uploads the files of a session, so that they outlive their host. The last file marks the archive as complete. */
export async function archiveLogs(
  connection: FleetConnection,
  session: { id: string; agent: string },
  folder: string,
): Promise<void> {
  if (!existsSync(folder)) return;
  const store = await new Objm(connection.js).open(connection.stores.logs);
  const noExit = !existsSync(join(folder, "exit"));
  for (const name of FILES) {
    const path = join(folder, name);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) continue;
    await putFile(store, `${sessionKey(session.agent, session.id)}.${name}`, path, size);
  }
  if (noExit) await store.putBlob({ name: `${sessionKey(session.agent, session.id)}.${NO_EXIT}` }, new Uint8Array());
}

/** Reports whether the archive of a session is complete. The output of an incomplete one would appear to end early. */
async function isComplete(store: ObjectStore, key: string): Promise<boolean> {
  const exit = await store.info(`${key}.exit`);
  if (exit && !exit.deleted) return exit.metadata?.ranges !== undefined;
  return (await store.info(`${key}.${NO_EXIT}`)) !== null;
}

async function putFile(store: ObjectStore, object: string, path: string, size: number): Promise<void> {
  const file = openSync(path, "r");
  const ranges: [number, number][] = [];
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      while (at < size) {
        const length = readSync(file, buffer, 0, Math.min(COPY_BYTES, size - at), at);
        if (length === 0) break;
        const from = at;
        at += length;
        // A block of zero bytes is not uploaded. It is restored as a hole in a sparse file.
        if (buffer.subarray(0, length).every((byte) => byte === 0)) continue;
        const last = ranges.at(-1);
        if (last && last[1] === from) last[1] = at;
        else ranges.push([from, at]);
        controller.enqueue(Uint8Array.from(buffer.subarray(0, length)));
        return;
      }
      controller.close();
    },
  });
  try {
    await store.put({ name: object }, stream);
    await store.update(object, { name: object, metadata: { size: String(size), ranges: JSON.stringify(ranges) } });
  } finally {
    closeSync(file);
  }
}

/** Downloads archived logs on demand and keeps them in the state folder. */
export class LogArchive {
  readonly #state: string;
  readonly #reader = new LocalSessionReader();

  constructor(state: string) {
    this.#state = state;
  }

  /** Returns the archived data of a session, or null when there is no complete archive. */
  async fetch(connection: FleetConnection, session: SessionRef): Promise<SessionData | null> {
    const folder = this.#folder(session.id);
    if (!existsSync(folder) && !(await this.#download(connection, session, folder))) return null;
    return this.#reader.open(session, folder, () => []);
  }

  remove(id: string): void {
    rmSync(this.#folder(id), { recursive: true, force: true });
  }

  #folder(id: string): string {
    return join(this.#state, "fleet", "logs", id);
  }

  async #download(connection: FleetConnection, { id, agent }: SessionRef, folder: string): Promise<boolean> {
    const store = await new Objm(connection.js).open(connection.stores.logs);
    if (!(await isComplete(store, sessionKey(agent, id)))) return false;
    const draft = `${folder}.${process.pid}`;
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    let found = false;
    for (const name of FILES) {
      found = (await getFile(store, `${sessionKey(agent, id)}.${name}`, join(draft, name))) || found;
    }
    if (found && !existsSync(folder)) renameSync(draft, folder);
    else rmSync(draft, { recursive: true, force: true });
    return found;
  }
}

async function getFile(store: ObjectStore, object: string, path: string): Promise<boolean> {
  const found = await store.get(object);
  if (!found) return false;
  const ranges = JSON.parse(found.info.metadata?.ranges ?? "[]") as [number, number][];
  const size = Number(found.info.metadata?.size ?? 0);
  const file = openSync(path, "w", 0o600);
  try {
    let index = 0;
    let at = ranges[0]?.[0] ?? 0;
    for await (const chunk of found.data as unknown as AsyncIterable<Uint8Array>) {
      for (let rest = chunk; rest.length > 0; ) {
        const end = ranges[index]?.[1] ?? size;
        const part = rest.subarray(0, Math.max(0, end - at));
        if (part.length === 0) {
          at = ranges[++index]?.[0] ?? size;
          if (at >= size) break;
          continue;
        }
        writeSync(file, part, 0, part.length, at);
        at += part.length;
        rest = rest.subarray(part.length);
      }
    }
    if (statSync(path).size < size) writeSync(file, Buffer.alloc(1), 0, 1, size - 1);
  } finally {
    closeSync(file);
  }
  return true;
}
