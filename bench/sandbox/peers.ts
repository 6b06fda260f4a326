import { spawn } from "node:child_process";
import { percentile, takeTurns } from "../measure.ts";
import { peerProgram } from "../peers.ts";
import type { BenchResult } from "../result.ts";

/** Sandboxing command lines that are not ours to depend on: measured where somebody has installed them. */
const PEERS: { name: string; program: string; words: string[] }[] = [
  { name: "@anthropic-ai/sandbox-runtime", program: "srt", words: ["/bin/true"] },
  { name: "@openai/codex", program: "codex", words: ["sandbox", "--", "/bin/true"] },
];

export async function peers(ours: number, quick: boolean): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { name, program, words } of PEERS) {
    const found = peerProgram(program);
    const label = `/bin/true under workspace-write, beside ${name}`;
    const row = { name: label, ours, unit: "ms", bar: "", pass: null, ratio: null };
    if (found === null) {
      results.push({ ...row, peer: `${name} is not installed`, peerValue: null });
      continue;
    }
    const peerValue = await cost(found, words, quick ? 5 : 15);
    const failed = peerValue === null ? " (it does not run here)" : "";
    results.push({ ...row, peer: `${name}${failed}`, peerValue, ratio: peerValue === null ? null : ours / peerValue });
  }
  return results;
}

async function cost(program: string, words: string[], rounds: number): Promise<number | null> {
  const once = () =>
    new Promise<void>((resolve, reject) => {
      spawn(program, words, { stdio: "ignore" })
        .on("error", reject)
        .on("close", (code) => (code === 0 ? resolve() : reject(new Error(`it exited with ${code}`))));
    });
  try {
    return percentile((await takeTurns(rounds, [once]))[0] ?? [], 0.5);
  } catch {
    return null;
  }
}
