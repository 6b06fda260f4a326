import { once } from "node:events";
import { get } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const RETRY_MS = 2;

/** Returns a port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves when a GET of the URL has been answered with 200. Repeats the request while nothing listens. */
export async function answered(url: string): Promise<void> {
  for (;;) {
    const status = await statusOf(url);
    if (status === 200) return;
    if (status !== null) throw new Error(`${url} was answered with ${status}`);
    await sleep(RETRY_MS);
  }
}

/** Returns the status of the response, or null when nothing listens. */
function statusOf(url: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? null));
    });
    request.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNREFUSED" ? resolve(null) : reject(error),
    );
  });
}
