import { spawn } from "node:child_process";
import { fstatSync } from "node:fs";
import { keeperBinary } from "../../executor/native/zygote.ts";
import { BrokenPipe } from "../io.ts";

/**
 * Runs a command that follows something and may have nothing to print for a long time. The signal is aborted with
 * `BrokenPipe` when the reader of stdout goes away, such as `head` in `sallyport logs -f web | head -1`; Node alone
 * notices that at the next write.
 */
export async function whileRead<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const child = isPipe() ? spawn(keeperBinary(), ["wait-reader"], { stdio: ["ignore", "inherit", "ignore"] }) : null;
  child?.on("error", () => {}); // There is no native keeper here, so the next write finds out.
  child?.on("exit", (code) => {
    if (code === 0) gone.abort(new BrokenPipe());
  });
  try {
    const result = await run(gone.signal);
    gone.signal.throwIfAborted();
    return result;
  } finally {
    child?.kill("SIGKILL");
  }
}

function isPipe(): boolean {
  try {
    const stdout = fstatSync(1);
    return stdout.isFIFO() || stdout.isSocket();
  } catch {
    return false; // Stdout is closed.
  }
}
