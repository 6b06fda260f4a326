import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Recorded, writeShim } from "./shim.ts";

/** Records what passes between a host and Sallyport during one trial. */
export class Recorder {
  readonly #root: string;
  readonly #shim: string;
  readonly #log: string;

  constructor(root: string) {
    this.#root = root;
    this.#shim = join(root, "shim.ts");
    this.#log = join(root, "recorded.jsonl");
  }

  /** Replaces the entry script in every file of the trial. */
  install(entry: string): void {
    for (const item of readdirSync(this.#root, { recursive: true, withFileTypes: true })) {
      if (!item.isFile()) continue;
      const file = join(item.parentPath, item.name);
      const text = readFileSync(file, "utf8");
      if (text.includes(entry)) writeFileSync(file, text.replaceAll(entry, this.#shim));
    }
    writeShim(this.#shim, entry, this.#log);
  }

  /**
   * Writes the processes that matter to `file`: the arguments, and the lines that the host sent. Folders of this trial
   * and values that differ between runs are replaced, so that a new recording differs only where the host does.
   */
  save(file: string): void {
    if (!existsSync(this.#log)) return;
    const lines = readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
    const all = lines.map((line) => JSON.parse(line) as Recorded);
    const pids = [...new Set(all.map(({ pid }) => pid))];
    // A host may start the server more than once, for example to list its tools. The last process has the calls.
    const kept = pids
      .map((pid) => all.filter((one) => one.pid === pid))
      .filter((process) => process.some(({ args, host }) => JSON.stringify([args, host]).includes("ran-")));
    const text = kept
      .flat()
      .filter(({ sallyport }) => sallyport === undefined)
      .map(({ args, env, host }) => this.#normalized(args ? { args, env } : { host: parsed(host ?? "") }));
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text.map((line) => `${line}\n`).join(""));
  }

  #normalized(line: object): string {
    return JSON.stringify(line)
      .replaceAll(this.#root, "/trial")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, ID)
      .replaceAll(/\b17\d{11}\b/g, "1767225600000")
      .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, "2026-01-01T00:00:00.000Z");
  }
}

const ID = "00000000-0000-4000-8000-000000000000";

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
