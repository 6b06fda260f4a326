import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
const BUILT = join(ROOT, "dist/web");

/** Returns the built console. Builds it when dist/web is missing or older than its sources. */
export function builtPage(): { folder: string; dispose: () => void } {
  if (isCurrent()) return { folder: BUILT, dispose: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "sallyport-page-"));
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "-c", "web/vite.config.ts", "--outDir", folder, "--emptyOutDir"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 120_000,
  });
  return { folder, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}

function isCurrent(): boolean {
  const index = join(BUILT, "index.html");
  if (!existsSync(index)) return false;
  const builtMs = statSync(index).mtimeMs;
  return sources().every((path) => statSync(path).mtimeMs <= builtMs);
}

/** Returns the source files of the console, including those that it imports from src/. */
function sources(): string[] {
  const folders = ["web", "src/core", "src/text", "src/shell", "src/session/terminal", "src/policy"];
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
}
