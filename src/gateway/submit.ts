import { launchSpec } from "../confine/launch-spec.ts";
import { SallyportError } from "../contract/error.ts";
import type { Execution } from "../executor/executor.ts";
import { newId } from "../session/id.ts";
import type { NewSession } from "../store/sessions.ts";
import type { Rooms } from "./rooms.ts";
import { validate } from "./validate.ts";

export interface Submission {
  id: string;
  name: string;
  session: Omit<NewSession, "name">;
  execution: Execution;
}

/**
 * The one way in (promise 1): every command of every surface passes here, and nothing is spawned anywhere else.
 * A command is validated, given a place to run, recorded, and only then launched: no run without its row.
 */
export async function submit(rooms: Rooms, request: unknown, background: boolean): Promise<Submission> {
  const asked = validate(request);
  const slot = await rooms.executor.prepare();
  try {
    const id = newId();
    const plan = launchSpec(asked, rooms.launch, id, "", background);
    const session: Omit<NewSession, "name"> = {
      id,
      agent: rooms.agent,
      command: asked.command,
      args: asked.args ? JSON.stringify(asked.args) : null,
      cwd: plan.cwd,
      env_names: asked.env ? JSON.stringify(Object.keys(asked.env)) : "[]",
      background: background ? 1 : 0,
      capture: plan.capture,
      intent: asked.intent ?? null,
      log_file: plan.logFile,
      timeout_ms: plan.timeoutMs,
      keeper_pid: slot.keeperPid,
      created_ms: Date.now(),
      warnings: "[]",
    };
    const name = rooms.registry.record(session, asked.name);
    if (name === null) throw nameInUse(asked.name ?? "");
    const moved = (keeperPid: number) => rooms.registry.store.setKeeper(id, keeperPid);
    const execution = slot.launch({ ...plan, title: `${name}${plan.title}` }, moved);
    rooms.registry.track(execution, session);
    return { id, name, session, execution };
  } catch (error) {
    slot.cancel();
    throw error;
  }
}

function nameInUse(name: string): SallyportError {
  return new SallyportError("NameInUse", `There is a session named ${JSON.stringify(name)} already.`, [
    { action: "choose_name", hint: "Choose another name, or leave it out." },
    { action: "remove_session", hint: `Or remove the old one: sallyport rm ${name}` },
  ]);
}
