import { type Attempt, tool } from "./attempt.ts";

/** Ways to name a socket of another program of the same user, from the workspace. */
const names: [name: string, script: string][] = [
  ["by its path", tool("connect-unix", "$SOCKETS/docker.sock")],
  ["in /tmp", tool("connect-unix", "$SHARED_TMP/service.sock")],
  ["by a relative path", `cd "$SOCKETS" && ${tool("connect-unix", "docker.sock")}`],
  [
    "by a path with dots",
    `mkdir a && cd a && ${tool("connect-unix", '"$(realpath --relative-to=. "$SOCKETS")/docker.sock"')}`,
  ],
  ["through a link", `ln -s "$SOCKETS/docker.sock" link && ${tool("connect-unix", "link")}`],
  ["through a linked folder", `ln -s "$SOCKETS" links && ${tool("connect-unix", "links/docker.sock")}`],
  ["through a hard link", `ln "$SOCKETS/docker.sock" "$SOCKETS/../workspace/hard" && ${tool("connect-unix", "hard")}`],
  ["through /proc/self/root", `cd / && ${tool("connect-unix", "/proc/self/root$SOCKETS/docker.sock")}`],
  ["through /proc/self/cwd", `cd "$SOCKETS" && ${tool("connect-unix", "/proc/self/cwd/docker.sock")}`],
  ["through a descriptor", `exec 9< "$SOCKETS" && ${tool("connect-unix", "/proc/self/fd/9/docker.sock")}`],
];

const datagrams: [name: string, script: string][] = [
  ["open a Unix datagram socket", tool("unix-socket", "2")],
  ["open a Unix datagram socket as a raw one", tool("unix-socket", "3")],
  ["open a pair of Unix datagram sockets", tool("unix-pair", "2")],
];

const priorities: Attempt[] = ["NEIGHBOR", "KEEPER"].flatMap((variable) =>
  [
    ["lower the priority of", `renice -n 19 -p $${variable}`],
    ["choose the CPU of", `taskset -c -p 0 $${variable}`],
    ["lower the disk priority of", `ionice -c 3 -p $${variable}`],
    ["change the scheduling of", `chrt -b -p 0 $${variable}`],
  ].map(([what, script]) => ({
    name: `${what} ${variable === "KEEPER" ? "a keeper" : "another agent's command"}`,
    script: script as string,
  })),
);

export const SOCKETS: Attempt[] = [
  ...names.map(([name, script]) => ({ name: `connect to a socket of another program ${name}`, script })),
  {
    name: "connect to a socket of another program in the profile isolated",
    script: tool("connect-unix", "$SOCKETS/docker.sock"),
    under: { sandbox: "isolated" },
  },
  {
    name: "connect to a socket of another program in the profile read-only",
    script: tool("connect-unix", "$SOCKETS/docker.sock"),
    under: { sandbox: "read-only" },
  },
  ...datagrams.map(([name, script]) => ({ name, script })),
  ...priorities,
  {
    name: "listen on a port that the kernel chooses with listed ports",
    script: tool("listen-unbound"),
    under: { network: { ports: [9] } },
  },
];
