import { type Attempt, tool } from "./attempt.ts";

const OTHERS = { NEIGHBOR: "another agent's command", KEEPER: "a keeper", GATEWAY: "the gateway" };
const WAYS = { signal: "signal", tgkill: "signal a thread of", queue: "queue a signal for", ptrace: "trace" };
const MORE = {
  "pidfd-signal": "send a signal by pidfd to",
  "pidfd-getfd": "take a descriptor of",
  vmread: "read the memory of",
  prlimit: "set the limits of",
};

/** A feature without which signals are not restricted. */
const SIGNALS = ["scope-signals" as const];

const everyOther: Attempt[] = Object.entries(OTHERS).flatMap(([variable, whom]) =>
  Object.entries(WAYS).map(([way, what]) => ({
    name: `${what} ${whom}`,
    script: tool(way, `$${variable}`),
    ...(way === "ptrace" ? {} : { unless: SIGNALS }),
  })),
);

const neighbor: Attempt[] = Object.entries(MORE).map(([way, what]) => ({
  name: `${what} another agent's command`,
  script: tool(way, "$NEIGHBOR"),
  ...(way === "pidfd-signal" ? { unless: SIGNALS } : {}),
}));

export const PROCESSES: Attempt[] = [
  ...everyOther,
  ...neighbor,
  { name: "signal another agent's command with kill", script: "kill -CONT $NEIGHBOR", unless: SIGNALS },
  { name: "connect to an abstract socket", script: tool("connect-abstract", "$ABSTRACT") },
];
