import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface Pipe {
  read: number;
  write: number;
}

const AT_ONCE = 16;
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/**
 * Real pipes. What Node gives a child are sockets, which programs cannot open again by name (`echo x > /dev/stderr`
 * fails), and never one for both stdout and stderr, whose order would be lost. A named pipe that is open at both ends
 * and has lost its name serves like one of pipe(2); they are made many at a time, since that takes a program. Not for stdin:
 * who opens that again by name after its writer has left would wait for ever.
 */
export class PipeStore {
  readonly #state: string;
  #ready: Pipe[] = [];
  #available: boolean;

  constructor(state: string, platform: NodeJS.Platform = process.platform) {
    this.#state = state;
    this.#available = platform !== "win32";
  }

  /** Null: there are none here, and Node's own must do. Throws when there is no descriptor left. */
  take(): Pipe | null {
    if (this.#ready.length === 0 && this.#available) this.#make();
    return this.#ready.pop() ?? null;
  }

  #make(): void {
    const folder = mkdtempSync(join(this.#state, "pipes-"));
    try {
      const paths = Array.from({ length: AT_ONCE }, (_, i) => join(folder, String(i)));
      const { status, error } = spawnSync("mkfifo", ["-m", "600", ...paths], {
        stdio: "ignore",
        env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin" },
      });
      if (status === 0) for (const path of paths) this.#ready.push(openBothEnds(path));
      else if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") this.#available = false;
    } catch (error) {
      if (this.#ready.length === 0) throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function openBothEnds(path: string): Pipe {
  const read = openSync(path, O_RDONLY | O_NONBLOCK); // the first end would otherwise wait for the second
  try {
    return { read, write: openSync(path, O_WRONLY) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}
