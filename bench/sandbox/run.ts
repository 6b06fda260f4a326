import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atLeast, atMost } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { connects } from "./connects.ts";
import { peers } from "./peers.ts";
import type { Costs } from "./profiles.ts";

const PROFILES = fileURLToPath(new URL("profiles.ts", import.meta.url));
/** Prevents new namespaces, so that only Landlock and seccomp are available. */
const NO_NAMESPACES =
  'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"';

/** Measures what each sandbox profile adds to /bin/true, compared with other sandboxes. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const rounds = String(quick ? 100 : 400);
  const all = JSON.parse(execFileSync(process.execPath, [PROFILES, rounds], { encoding: "utf8" })) as Costs;
  const row = (name: string, ours: number, peer: string, peerValue: number | null) => ({
    name,
    ours,
    peer,
    peerValue,
    unit: "ms",
  });
  const results = [
    atMost(1.25, row("/bin/true under workspace-write, p50", all["workspace-write"], "off", all.off)),
    atMost(2, row("/bin/true under isolated, p50", all.isolated, "off", all.off)),
  ];
  const bare = withoutNamespaces(rounds);
  if (bare) {
    const part = row("the same, Landlock and seccomp alone, p50", bare["workspace-write"], "off", bare.off);
    results.splice(1, 0, atMost(1.15, part));
  }
  if (all.bwrap !== null && all["bwrap by spawn"] !== null) {
    const rate = 1000 / all["isolated, no network"];
    const speed = { name: "commands per second, isolated without network", ours: rate, unit: "/s" };
    const theirs = { peer: "spawn of bwrap --unshare-all", peerValue: 1000 / all["bwrap by spawn"] };
    results.push(atLeast(3, { ...speed, ...theirs }));
    const inside = { peer: "bwrap --unshare-all started by a keeper", peerValue: 1000 / all.bwrap };
    results.push({ ...atLeast(3, { ...speed, ...inside }), target: "", pass: null });
  }
  return [...results, ...(await connects(quick)), ...(await peers(quick))];
}

function withoutNamespaces(rounds: string): Costs | null {
  const words = [
    "-U",
    "-r",
    "sh",
    "-c",
    NO_NAMESPACES,
    "sh",
    process.execPath,
    PROFILES,
    rounds,
    "off",
    "workspace-write",
  ];
  const { status, stdout } = spawnSync("unshare", words, { encoding: "utf8" });
  return status === 0 ? (JSON.parse(stdout) as Costs) : null;
}
