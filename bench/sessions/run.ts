import { readFileSync } from "node:fs";
import { openGateway } from "../../src/index.ts";
import { atMost, benchGateway, percentile, procKib, UNLIMITED, zygotePid } from "../measure.ts";
import type { BenchResult } from "../result.ts";

/** Measures many concurrent background sessions: memory per keeper, and the time to re-attach to all of them. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const count = quick ? 300 : 2000;
  const { gateway, state, leave } = await benchGateway();
  const none = { peer: "", peerValue: null };
  try {
    for (let started = 0; started < count; started += 50) {
      await Promise.all(Array.from({ length: 50 }, () => gateway.start({ command: "sleep", args: ["600"] })));
    }
    const pss = keepersOf(state).map((pid) => procKib(pid, "smaps_rollup", "Pss"));

    const from = performance.now();
    const second = await openGateway({ state, ...UNLIMITED });
    const attach = performance.now() - from;
    const list: number[] = [];
    for (let round = 0; round < 30; round++) {
      const since = performance.now();
      second.list({ limit: 50 });
      list.push(performance.now() - since);
    }
    await second.close();

    const ids = gateway.list({ status: "running", limit: count }).map((info) => info.id);
    for (let at = 0; at < ids.length; at += 50) {
      await Promise.all(ids.slice(at, at + 50).map((id) => gateway.session(id).kill({ signal: "SIGKILL" })));
    }
    return [
      atMost(250, {
        name: `${count} background sessions: PSS per keeper`,
        ours: percentile(pss, 0.5),
        unit: "KiB",
        ...none,
      }),
      atMost(2000, { name: `${count} background sessions: re-attach to all`, ours: attach, unit: "ms", ...none }),
      atMost(10, { name: `${count} background sessions: list 50`, ours: percentile(list, 0.5), unit: "ms", ...none }),
    ];
  } finally {
    await leave();
  }
}

function keepersOf(state: string): number[] {
  const zygote = zygotePid(state);
  const children = readFileSync(`/proc/${zygote}/task/${zygote}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}
