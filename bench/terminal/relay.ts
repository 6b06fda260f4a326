import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A terminal in another process that only forwards bytes (relay.c). */
export interface Relay {
  write(data: string): void;
  onData(listener: (data: Buffer) => void): void;
  stop(): void;
}

export async function openRelay(command: string): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-relay-"));
  const program = join(folder, "relay");
  const source = fileURLToPath(new URL("relay.c", import.meta.url));
  execFileSync("cc", ["-std=c99", "-D_GNU_SOURCE", "-O2", source, "-o", program]);
  const path = join(folder, "socket");
  const process = spawn(program, [path, join(folder, "output"), command], { stdio: ["ignore", "pipe", "inherit"] });
  await once(process.stdout, "data");
  const socket = connect(path);
  await once(socket, "connect");
  return {
    write: (data) => socket.write(data),
    onData: (listener) => socket.on("data", listener),
    stop() {
      socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
