import type { UnsupportedFeature } from "../../../src/core/sandbox-level.ts";
import { type Attempt, tool } from "./attempt.ts";

const OFF = { network: "off" } as const;
/** A network setting that allows only a port without a listener. */
const OTHER_PORT = { network: { ports: [9] } };

const off: [name: string, script: string][] = [
  ["reach a server by TCP", tool("tcp4", "$PORT")],
  ["reach a server by TCP over IPv6", tool("tcp6", "$PORT")],
  ["reach a server by UDP", tool("udp4", "$PORT")],
  ["reach a server by UDP over IPv6", tool("udp6", "$PORT")],
  ["reach a server with the shell", "exec 3<>/dev/tcp/127.0.0.1/$PORT"],
  [
    "reach a server with python",
    'python3 -c \'import os, socket; socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 2)\'',
  ],
  ["reach a Unix socket of the host", tool("connect-unix", "$SOCKETS/docker.sock")],
  ["reach an abstract socket of the host", tool("connect-abstract", "$ABSTRACT")],
  ["see the interfaces of the host", tool("netlink")],
  ["open a socket to the hypervisor", tool("vsock")],
];

const ports: [name: string, script: string, unless: UnsupportedFeature[]][] = [
  ["reach a TCP port", tool("tcp4", "$PORT"), ["ports"]],
  ["reach a TCP port over IPv6", tool("tcp6", "$PORT"), ["ports"]],
  ["reach a UDP port", tool("udp4", "$PORT"), []],
  ["listen on a TCP port", tool("bind-tcp", "0"), []],
];

export const NETWORK: Attempt[] = [
  { name: "connect to the user's key agent", script: tool("connect-unix", "$SOCKETS/agent.sock") },
  ...off.map(([name, script]) => ({ name: `${name} with the network off`, script, under: OFF })),
  ...["raw", "raw6", "packet"].map((way) => ({
    name: `open a ${way} socket with the network off`,
    script: tool(way),
    under: OFF,
    who: "root" as const,
  })),
  ...ports.map(([name, script, unless]) => ({
    name: `${name} that is not in the list of allowed ports`,
    script,
    unless,
    under: OTHER_PORT,
  })),
  {
    name: "reach a server by TCP in the profile isolated with the network off",
    script: tool("tcp4", "$PORT"),
    under: { sandbox: "isolated", network: "off" },
  },
];
