import { join } from "node:path";
import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import { CONFIG_NAME, type LoadedConfig, type LoadOptions, loadConfig, operatorConfigPath } from "./load.ts";
import { stampOf } from "./read.ts";

interface ConfigLook {
  config: LoadedConfig;
  /** A file differs from the last look. With a `problem` the configuration before it still holds. */
  changed: boolean;
  problem: SallyportError | null;
}

export interface ConfigWatch {
  /** The configuration for a request of this moment. */
  look(): ConfigLook;
}

/** Two stats at most this often: a request in between costs nothing. */
const EVERY_MS = 1000;

/**
 * Follows the files without watching them: a look when a request comes is enough. A file that has become bad while we
 * run changes nothing but is told: stopping would let an agent stop everybody, and forgetting it would loosen.
 */
export function watchConfig(options: LoadOptions, { everyMs = EVERY_MS }: { everyMs?: number } = {}): ConfigWatch {
  const operatorPath = options.operatorPath === undefined ? operatorConfigPath(options.env) : options.operatorPath;
  const paths = [...(operatorPath === null ? [] : [operatorPath]), join(options.workspace, CONFIG_NAME)];
  const stamps = () => paths.map(stampOf).join(" ");
  // Stamps before content: a change in between is found by the next look.
  let seen = stamps();
  let config = loadConfig(options);
  let problem: SallyportError | null = null;
  let nextAt = uptimeMs() + everyMs;
  return {
    look() {
      const now = uptimeMs();
      if (now < nextAt) return { config, changed: false, problem };
      nextAt = now + everyMs;
      const stamp = stamps();
      if (stamp === seen) return { config, changed: false, problem };
      seen = stamp;
      try {
        config = loadConfig(options);
        problem = null;
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error;
        problem = error;
      }
      return { config, changed: true, problem };
    },
  };
}
