import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "./app.ts";
import { openLive } from "./live/open.ts";
import { operations } from "./routes/index.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static-files.ts";

/** Answers requests with the operations of the API and the files of the console. */
export interface Application {
  answer(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes everything that is open. Called after the service has stopped accepting connections. */
  close(): Promise<void>;
}

export function createApplication(service: Service, pageFolder?: string): Application {
  const live = openLive(service);
  const app = createApp(service, operations(live), new StaticFiles(service, pageFolder));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false }) as RequestListener;
  return {
    answer: (request, response) => listener(request, response as Parameters<RequestListener>[1]),
    upgrade: (request, socket, head) => {
      if (!live.upgrade(request, socket, head)) socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
    },
    close: () => live.close(),
  };
}
