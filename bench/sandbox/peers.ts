import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { installed } from "../console/installed.ts";
import { percentile, takeTurns } from "../measure.ts";
import { peerProgram } from "../peers.ts";
import type { BenchResult } from "../result.ts";

/** Other command-line sandboxes, measured if they are installed. */
const PEERS: { name: string; program: string; words: string[] }[] = [
  { name: "@anthropic-ai/sandbox-runtime", program: "srt", words: ["/bin/true"] },
  { name: "@openai/codex", program: "codex", words: ["sandbox", "--", "/bin/true"] },
];
const OURS = "`sallyport run -- true`, sandboxed, from a shell, p50";

/** Compares whole command lines from process start to exit, including the time to load each program. */
export async function peers(quick: boolean): Promise<BenchResult[]> {
  const row = { name: OURS, unit: "ms", target: "", pass: null };
  const there = PEERS.flatMap((peer) => {
    const file = peerProgram(peer.program);
    return file === null ? [] : [{ ...peer, file }];
  });
  const absent = PEERS.filter(({ name }) => !there.some((peer) => peer.name === name));
  const { ours, theirs } = await costs(there, quick ? 5 : 20);
  return [
    ...there.map(({ name }, index) => {
      const peerValue = theirs[index] ?? null;
      const peer = peerValue === null ? `${name} (does not work on this machine)` : name;
      return { ...row, ours, peer, peerValue, ratio: peerValue === null ? null : ours / peerValue };
    }),
    ...absent.map(({ name }) => ({ ...row, ours, peer: `${name} is not installed`, peerValue: null, ratio: null })),
  ];
}

async function costs(peersHere: { file: string; words: string[] }[], rounds: number) {
  const program = installed();
  // codex does not work in folders below /tmp.
  const folder = mkdtempSync("/var/tmp/sallyport-bench-");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const env = { PATH: process.env.PATH, HOME: folder, SALLYPORT_STATE: join(folder, "state") };
  const once = (file: string, words: string[]) => () =>
    new Promise<void>((resolve, reject) => {
      spawn(file, words, { cwd, env, stdio: "ignore" })
        .on("error", reject)
        .on("close", (code) => (code === 0 ? resolve() : reject(new Error(`\`${file}\` exited with code ${code}`))));
    });
  const runs = async (subject: () => Promise<void>) =>
    subject().then(
      () => true,
      () => false,
    );
  try {
    const ours = once(process.execPath, [program.entry, "run", "--", "true"]);
    // The first run creates the state folder and starts the keepers; the second fills the compile cache.
    for (let n = 0; n < 2; n++) await ours();
    const theirs = peersHere.map(({ file, words }) => once(file, words));
    const able = await Promise.all(theirs.map(runs));
    const [first = [], ...others] = await takeTurns(rounds, [ours, ...theirs.filter((_, index) => able[index])]);
    const medians = others.map((samples) => percentile(samples, 0.5));
    return { ours: percentile(first, 0.5), theirs: able.map((can) => (can ? (medians.shift() ?? null) : null)) };
  } finally {
    program.remove();
    rmSync(folder, { recursive: true, force: true }); // The keepers exit when the state folder is removed.
  }
}
