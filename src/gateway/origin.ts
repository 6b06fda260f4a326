import { SallyportError } from "../core/error.ts";
import type { Origin } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import { needsFleet } from "../fleet/errors.ts";
import type { Permit } from "./permit.ts";
import type { Case } from "./record.ts";
import type { Rooms } from "./rooms.ts";
import { inForce } from "./settings.ts";

/** What an executor elsewhere needs to have a command judged and made there. */
export function originOf(
  rooms: Rooms,
  that: Case,
  { approval, grants }: Permit & { go: true },
  name: string,
): Origin | undefined {
  if (!rooms.executor.abilities.elsewhere) return undefined;
  const asked = approval || grants.length > 0;
  const approvers = approval ? (rooms.approvals.get(approval.id)?.decisions ?? []).map(({ who }) => who) : [];
  return {
    agent: rooms.agent,
    name,
    workspace: inForce(rooms).confinement.scope.root,
    request: that.request,
    approval: asked ? { approval: approval?.id ?? null, grants: [...grants], approvers } : null,
  };
}

/** Throws InvalidRequest where a place is asked for and there is only this machine. */
export function insistOnPlace({ executor }: Rooms, { host, labels, retry }: RunRequest): void {
  if (executor.abilities.elsewhere) return;
  const asked = host !== undefined ? "host" : labels ? "labels" : retry ? "retry" : null;
  if (asked) throw new SallyportError("InvalidRequest", ...needsFleet(asked));
}
