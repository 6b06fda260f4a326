import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pages.ts";

/** Writes samples into a folder as modules that can import "sallyport", and type-checks them. */
export function typeCheck(folder: string, samples: Map<string, string>, declarations: string): void {
  for (const [name, text] of samples) writeFileSync(join(folder, `${name}.ts`), `${text}\nexport {};\n`);
  writeFileSync(join(folder, "declarations.d.ts"), declarations);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = {
    noEmit: true,
    // Samples often declare a value without using it.
    noUnusedLocals: false,
    typeRoots: [join(ROOT, "node_modules/@types")],
    paths: { sallyport: [join(ROOT, "src/index.ts")] },
  };
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
}
