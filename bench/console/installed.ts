import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Installs the package as published, with compiled code instead of its sources. */
export function installed(): { entry: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-package-"));
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  execFileSync(tsc, ["-p", join(ROOT, "tsconfig.build.json"), "--outDir", join(folder, "dist")], { cwd: ROOT });
  execFileSync(process.execPath, [join(ROOT, "scripts", "bundle.ts"), join(folder, "dist", "cli")], { cwd: ROOT });
  for (const name of ["node_modules", "native"]) symlinkSync(join(ROOT, name), join(folder, name));
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  mkdirSync(join(folder, "bin"));
  cpSync(join(ROOT, "bin", "sallyport.js"), join(folder, "bin", "sallyport.js"));
  return {
    entry: join(folder, "bin", "sallyport.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
