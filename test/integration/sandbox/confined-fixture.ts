import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/schema.ts";
import { newId } from "../../../src/core/id.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import type { ExitRecord } from "../../../src/executor/execution.ts";
import { NativeExecutor } from "../../../src/executor/native/executor.ts";
import { type Confined, type Confinement, confine, createConfinement } from "../../../src/sandbox/confine.ts";
import { launchSpec } from "../../../src/sandbox/launch-spec.ts";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";
import { openStateFolder } from "../../../src/storage/state-folder.ts";
import { GatewayFixture, MARK } from "../../fixtures/gateway.ts";
import { launchError } from "../../fixtures/session-rows.ts";

export interface Ran {
  stdout: string;
  stderr: string;
  record: ExitRecord;
  /** The type of the error if the command could not be started. */
  error: string | null;
}

/** Runs commands with a given `Confinement` on real keepers, without a gateway. */
export class ConfinedFixture extends GatewayFixture {
  readonly executor = new NativeExecutor(openStateFolder(this.state), new LocalSessionReader());
  readonly outside = join(this.folder, "outside");

  constructor() {
    super();
    mkdirSync(this.outside);
  }

  confinement(config: Config = {}, parentEnv: Record<string, string> = {}): Confinement {
    const env = { PATH: "/usr/bin:/bin", [MARK]: this.mark, ...parentEnv };
    const { settings } = loadConfig({ workspace: this.workspace, operatorPath: null, given: config });
    return createConfinement(settings, {
      workspace: this.workspace,
      agent: "default",
      state: this.state,
      keepOut: [this.state],
      capabilities: () => null,
      parentEnv: env,
    });
  }

  async run(request: RunRequest, confinement = this.confinement()): Promise<Ran> {
    return this.launch(request, confine(request, confinement));
  }

  /** Launches a resolved request. Only the keeper checks it from here on. */
  async launch(request: RunRequest, confined: Confined): Promise<Ran> {
    const spec = launchSpec(request, confined, DEFAULTS, newId(), false);
    const execution = (await this.executor.prepare()).launch(spec, () => {});
    const release = execution.hold();
    const ending = await execution.exited;
    release();
    if (typeof ending === "string") throw new Error(ending);
    const stream = (name: string) => {
      try {
        return readFileSync(join(this.executor.folder(spec.id), name), "utf8");
      } catch {
        return "";
      }
    };
    const error = ending.reason === "failed" ? launchError(ending, spec.file, spec.cwd).type : null;
    return { stdout: stream("stdout"), stderr: stream("stderr"), record: ending, error };
  }

  override async close(): Promise<void> {
    await this.executor.close();
    await super.close();
  }
}
