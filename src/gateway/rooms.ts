import type { DatabaseSync } from "node:sqlite";
import type { LaunchContext } from "../confine/launch-spec.ts";
import type { Retention } from "../contract/gateway.ts";
import type { Executor } from "../executor/executor.ts";
import type { Registry } from "../session/registry.ts";

/** What the gateway holds together; the steps of a request take what they need from here. */
export interface Rooms {
  state: string;
  agent: string;
  database: DatabaseSync;
  executor: Executor;
  registry: Registry;
  launch: LaunchContext;
  retention: Retention;
}
