import { join } from "node:path";
import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import { CONFIG_NAME, type LoadedConfig, type LoadOptions, loadConfig, operatorConfigPath } from "./load.ts";
import { stampOf } from "./read.ts";

interface ConfigLook {
  config: LoadedConfig;
  /**
   * True when a file has changed since the last check. If there is a `problem`, the previous configuration stays in
   * effect.
   */
  changed: boolean;
  problem: SallyportError | null;
}

export interface ConfigWatch {
  /** Returns the current configuration, after checking the files for changes. */
  look(): ConfigLook;
}

/** The minimum interval between two checks of the files. A check takes two `stat` calls. */
const EVERY_MS = 1000;

/**
 * Reloads the configuration when a file has changed. Changes are detected by a check on each request, not by a file
 * watcher. A file that becomes invalid is reported and otherwise ignored: stopping the gateway would let one agent stop
 * all others, and dropping the file would loosen the settings.
 */
export function watchConfig(options: LoadOptions, { everyMs = EVERY_MS }: { everyMs?: number } = {}): ConfigWatch {
  const operatorPath = options.operatorPath === undefined ? operatorConfigPath(options.env) : options.operatorPath;
  const paths = [...(operatorPath === null ? [] : [operatorPath]), join(options.workspace, CONFIG_NAME)];
  const stamps = () => paths.map(stampOf).join(" ");
  // Fingerprints are taken before the content is read, so that a change in between is found by the next check.
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
