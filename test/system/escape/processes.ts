import { type Attempt, tool } from "./attempt.ts";

const OTHERS = { NEIGHBOR: "another agent's command", KEEPER: "a keeper", GATEWAY: "the gateway" };
const WAYS = { signal: "signal", tgkill: "signal a thread of", queue: "queue a signal for", ptrace: "trace" };
const MORE = {
  "pidfd-signal": "send a signal by pidfd to",
  "pidfd-getfd": "take a descriptor of",
  vmread: "read the memory of",
  prlimit: "set the limits of",
};

const everyOther: Attempt[] = Object.entries(OTHERS).flatMap(([variable, whom]) =>
  Object.entries(WAYS).map(([way, what]) => ({ name: `${what} ${whom}`, script: tool(way, `$${variable}`) })),
);

const neighbor: Attempt[] = Object.entries(MORE).map(([way, what]) => ({
  name: `${what} another agent's command`,
  script: tool(way, "$NEIGHBOR"),
}));

export const PROCESSES: Attempt[] = [
  ...everyOther,
  ...neighbor,
  { name: "signal another agent's command with kill", script: "kill -CONT $NEIGHBOR" },
  { name: "connect to an abstract socket", script: tool("connect-abstract", "$ABSTRACT") },
];
