import { localPlaces } from "../setup/check.ts";
import { type HostState, inspectHosts } from "../setup/inspect.ts";
import { type Finding, type Machine, ok, warn } from "./finding.ts";

/** Checks the configuration of agent hosts, without starting their servers; see `sallyport setup --check`. */
export function checkAgentHosts({ state }: Machine): Finding {
  const name = "agent hosts";
  const found = inspectHosts(localPlaces(state));
  if (found.length === 0) return ok(name, "none found");
  const message = found.map(stateText).join("; ");
  const broken = found.filter(problemOf);
  if (broken.length === 0) return ok(name, message);
  return warn(name, message, "Run `sallyport setup --check` for details, and `sallyport setup HOST` to repair a host.");
}

function stateText(found: HostState): string {
  const { host, connections, waysAround } = found;
  const problem = problemOf(found);
  if (problem) return `${host.title}: ${problem}`;
  if (connections.length === 0) return `${host.title} is not set up`;
  return waysAround.length === 0
    ? `${host.title} is set up`
    : `${host.title} is set up, but ${waysAround.join(" and ")}`;
}

/** Returns why a host that is set up does not work, or why commands bypass Sallyport although they need not. */
function problemOf({ connections, problems, avoidable }: HostState): string | null {
  const [problem] = [
    ...problems,
    ...connections.flatMap(({ path, line, refusal }) => (refusal ? `${path}:${line}: ${refusal}` : [])),
  ];
  return problem ?? avoidable[0] ?? null;
}
