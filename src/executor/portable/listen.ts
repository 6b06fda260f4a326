import { closeSync, openSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { basename, dirname } from "node:path";

/** A socket's address holds 107 bytes (103 on macOS); through a descriptor of its folder any path is near enough. */
const LONGEST_PATH = 100;

export interface Listening {
  close(): void;
}

/** Rejects with the system's error. */
export function listenAt(path: string, welcome: (socket: Socket) => void): Promise<Listening> {
  const isLong = process.platform === "linux" && Buffer.byteLength(path) > LONGEST_PATH;
  // Kept while it listens: the address is used once more when it is closed.
  const folder = isLong ? openSync(dirname(path), "r") : null;
  const near = folder === null ? path : `/proc/self/fd/${folder}/${basename(path)}`;
  const server = createServer(welcome);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      if (folder !== null) closeSync(folder);
      reject(error);
    });
    server.listen(near, () => resolve({ close }));
  });

  function close(): void {
    server.close();
    if (process.platform !== "win32") rmSync(path, { force: true });
    if (folder !== null) closeSync(folder);
  }
}
