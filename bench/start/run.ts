import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost, percentile, takeTurns } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Bundles and installs the CLI, and returns the path of its entry point. */
function install(folder: string): string {
  mkdirSync(join(folder, "package/bin"), { recursive: true });
  for (const file of ["package.json", "bin/sallyport.js"])
    copyFileSync(join(ROOT, file), join(folder, "package", file));
  for (const name of ["native", "node_modules"]) symlinkSync(join(ROOT, name), join(folder, "package", name));
  execFileSync(process.execPath, [join(ROOT, "scripts/bundle.ts"), join(folder, "package/dist/cli")]);
  return join(folder, "package/bin/sallyport.js");
}

/** Measures the time from process start to exit of CLI commands, which is how long a person at a shell waits. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  const state = join(folder, "state");
  mkdirSync(join(folder, "work"));
  try {
    const program = install(folder);
    const env = { PATH: process.env.PATH, HOME: folder, SALLYPORT_STATE: state };
    const node =
      (...args: string[]) =>
      () =>
        new Promise<void>((resolve, reject) => {
          const child = spawn(process.execPath, args, { cwd: join(folder, "work"), env, stdio: "ignore" });
          child.on("error", reject);
          child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(" ")}: ${code}`))));
        });
    // The first run creates the state folder and starts the keepers; the second fills the compile cache.
    for (let n = 0; n < 2; n++) await node(program, "run", "--", "true")();
    const subjects = [node("-e", "0"), node(program, "--version"), node(program, "run", "--", "true")];
    const [nothing = [], version = [], command = []] = await takeTurns(quick ? 20 : 60, subjects);
    const peer = { peer: "node -e 0", peerValue: percentile(nothing, 0.5), unit: "ms" } as const;
    return [
      atMost(1.3, { name: "cold start of `sallyport --version`, p50", ours: percentile(version, 0.5), ...peer }),
      atMost(2, { name: "cold start of `sallyport run -- true`, p50", ours: percentile(command, 0.5), ...peer }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true }); // The keepers exit when the state folder is removed.
  }
}
