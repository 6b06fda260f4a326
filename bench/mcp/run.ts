import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atLeast, atMost, benchGateway, percentile, takeTurns, UNLIMITED } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { desktopCommander } from "./peer-server.ts";
import { StdioServer } from "./server.ts";

const ENTRY = fileURLToPath(new URL("../../bin/sallyport.js", import.meta.url));
const ALL = "runner,process,exec,shell,bash";
const TRUE = { command: "true", description: "nothing" };
const CONCURRENT = 200;

/** Measures what the protocol adds to a library call. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const { gateway, state, leave } = await benchGateway();
  const config = mkdtempSync(join(tmpdir(), "sallyport-bench-config-"));
  mkdirSync(join(config, "sallyport"));
  const settings = { ...UNLIMITED.policy, toolsets: { exec: true } };
  writeFileSync(join(config, "sallyport", "sallyport.json"), JSON.stringify(settings));
  const env = { ...process.env, SALLYPORT_STATE: state, XDG_CONFIG_HOME: config };
  const server = new StdioServer(process.execPath, [ENTRY, "mcp", "--tools", ALL], { env });
  const peer = await desktopCommander();
  try {
    await server.initialize();
    const library = () => gateway.run({ command: "true", capture: "merged", graceMs: 0 });
    const ours = () => server.call("Bash", TRUE);
    const theirs = () => peer?.call("start_process", { command: "true", timeout_ms: 5000 }) ?? Promise.resolve();
    const rounds = quick ? 200 : 1000;
    const [overProtocol = [], direct = []] = await takeTurns(rounds, [ours, library]);
    const [commander = []] = peer ? await takeTurns(quick ? 20 : 100, [theirs]) : [];

    const from = performance.now();
    await Promise.all(Array.from({ length: CONCURRENT }, ours));
    const together = performance.now() - from;
    const { tools } = await server.request("tools/list", {});

    return [
      atMost(1.5, {
        name: "MCP over stdio: Bash true, p50",
        ours: percentile(overProtocol, 0.5),
        peer: "the library's run",
        peerValue: percentile(direct, 0.5),
        unit: "ms",
      }),
      versusCommander(percentile(overProtocol, 0.5), peer ? percentile(commander, 0.5) : null),
      {
        name: `MCP over stdio: ${CONCURRENT} calls at once, all answered`,
        ours: together,
        peer: "",
        peerValue: null,
        unit: "ms",
        ratio: null,
        target: "no error",
        pass: true,
      },
      atMost(64, {
        name: "tools/list of all toolsets",
        ours: Buffer.byteLength(JSON.stringify({ tools })) / 1024,
        peer: "",
        peerValue: null,
        unit: "KiB",
      }),
    ];
  } finally {
    await server.leave();
    await peer?.leave();
    await leave();
    rmSync(config, { recursive: true, force: true });
  }
}

function versusCommander(ours: number, theirs: number | null): BenchResult {
  const row = { name: "MCP over stdio: a command, p50", unit: "ms" };
  if (theirs !== null) {
    // The arguments are swapped, because the target says how many times faster Sallyport is.
    const result = atLeast(3, { ...row, ours: theirs, peer: "ours", peerValue: ours });
    return { ...result, ours, peer: "desktop-commander start_process", peerValue: theirs };
  }
  const peer = "desktop-commander is not installed: skipped";
  return { ...row, ours, peer, peerValue: null, ratio: null, target: ">= 3 x faster", pass: null };
}
