import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Mode } from "../../../src/setup/hosts/host.ts";

/** What a trial gives to a host. */
export interface Surroundings {
  /** The home directory of this trial. */
  home: string;
  /** Base URL of the stand-in model. */
  model: string;
  prompt: string;
  mode: Mode;
}

/** How to start a host. */
export interface Launch {
  args: string[];
  env: Record<string, string>;
}

/** How to run one host without a person, against the stand-in model. */
export interface Headless {
  /** The name in `sallyport setup`. */
  name: string;
  package: string;
  /** The program in `node_modules/.bin`. */
  program: string;
  /** Writes the configuration of the model and returns how to start the host. */
  launch: (surroundings: Surroundings) => Launch;
  /** A call of the host's own shell. */
  ownShell: (command: string) => { name: string; input: Record<string, unknown> };
  /** Further calls that could run a command, each with its own description. */
  otherCalls?: Record<string, (command: string) => { name: string; input: Record<string, unknown> }>;
  /** The host itself passes results of MCP tools to the model as JSON. */
  sendsJson?: boolean;
}

/** The key of the stand-in model, which accepts any. */
export const KEY = "stand-in-key";
export const MODEL = "stand-in";

/** Writes a file below the home directory of a trial: text, or data as JSON. */
export function write(home: string, path: string, content: string | object): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
}
