import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Parses text with tree-sitter-bash into a syntax tree, without checking it. */
export type BareParse = (text: string) => void;

/** The packages are installed when the benchmark runs, into `bench/out`, which is not in the repository. */
const folder = join(import.meta.dirname, "../out/tree-sitter");
const packages = ["web-tree-sitter@0.27.1", "tree-sitter-bash@0.25.1"];

/** Returns null and prints a note when the packages cannot be installed. */
export async function treeSitterBash(): Promise<BareParse | null> {
  try {
    install();
    const require = createRequire(join(folder, "package.json"));
    const { Parser, Language } = await import(require.resolve("web-tree-sitter"));
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(await Language.load(join(folder, "node_modules/tree-sitter-bash/tree-sitter-bash.wasm")));
    return (text) => parser.parse(text).delete();
  } catch (error) {
    console.error(`tree-sitter-bash is not measured: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

function install(): void {
  if (existsSync(join(folder, "node_modules/tree-sitter-bash/tree-sitter-bash.wasm"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  // Both packages contain their WebAssembly, so no install script has to run.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", ...packages];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm install failed: ${stderr.trim().split("\n").at(-1)}`);
}
