import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { join } from "node:path";

export interface Others {
  port: number;
  abstract: string;
  close(): void;
}

/**
 * Starts servers that a command might reach: TCP and UDP on IPv4 and IPv6 loopback, Unix sockets in several folders, an
 * abstract socket.
 */
export async function others(sockets: string, shared: string): Promise<Others> {
  const abstract = `sallyport-escape-${process.pid}`;
  const four = createServer((peer) => peer.destroy());
  const port = await new Promise<number>((resolve) =>
    four.listen(0, "127.0.0.1", () => resolve((four.address() as { port: number }).port)),
  );
  const files = ["docker.sock", "agent.sock"].map((name) => ({ path: join(sockets, name) }));
  files.push({ path: join(shared, "service.sock") });
  const places = [{ host: "::1", port }, ...files, { path: `\0${abstract}` }];
  const streams = [four, ...places.map(() => createServer())];
  await Promise.all(places.map((place, index) => listens(streams[index + 1] as typeof four, place)));
  const echoes = await Promise.all([echo("udp4", "127.0.0.1", port), echo("udp6", "::1", port)]);
  return {
    port,
    abstract,
    close: () => {
      for (const server of streams) server.close();
      for (const server of echoes) server?.close();
    },
  };
}

/** Errors are ignored: without IPv6, the attempts over it fail in the control run. */
function listens(server: ReturnType<typeof createServer>, place: object): Promise<void> {
  return new Promise((resolve) => {
    server.once("error", () => resolve());
    server.listen(place, () => resolve());
  });
}

function echo(kind: "udp4" | "udp6", host: string, port: number) {
  return new Promise<ReturnType<typeof createSocket> | null>((resolve) => {
    const socket = createSocket(kind);
    socket.on("message", (message, { address, port: back }) => socket.send(message, back, address));
    socket.once("error", () => resolve(null));
    socket.bind(port, host, () => resolve(socket));
  });
}
