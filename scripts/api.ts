/** Writes docs/library-api.md from the types that the package is published with: `node scripts/api.ts`. A test compares. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunRequest } from "../src/core/request.ts";
import { type Declaration, Declarations } from "./declarations.ts";

const ROOT = join(import.meta.dirname, "..");
const FILE = join(ROOT, "docs/library-api.md");
/** Where another page says it better. */
const ELSEWHERE: Record<string, string> = {
  ConfigFile: "The keys of `sallyport.json`: [configuration.md](configuration.md).",
};
/** A type that is computed shows its fields when the compiler is made to write out a value of it. */
const WRITTEN_OUT = `import type { RunRequest } from "${join(ROOT, "src/index.ts")}";
export const request = (given: RunRequest) => ({ ...given });
`;

const HEAD = `# The library's types

Made from the declarations of the package by \`node scripts/api.ts\`; [library.md](library.md) tells how they are used. What
\`import … from "sallyport"\` gives comes first, then what that names.
`;

/** The page, from the sources as they are. */
export function apiPage(): string {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-types-"));
  try {
    const scratch = join(folder, "scratch.ts");
    writeFileSync(scratch, WRITTEN_OUT);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const compilerOptions = {
      noEmit: false,
      rewriteRelativeImportExtensions: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: "/",
      outDir: join(folder, "out"),
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    const files = [join(ROOT, "src/index.ts"), scratch];
    const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: [], files };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    execFileSync(process.execPath, [join(ROOT, "node_modules/.bin/tsc"), "--singleThreaded", "-p", folder], {
      stdio: "inherit",
    });
    return page(
      new Declarations(join(folder, "out", ROOT, "src/index.d.ts")),
      join(folder, "out", folder, "scratch.d.ts"),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function page(all: Declarations, scratch: string): string {
  const sections = ({ name, doc, text }: Declaration): string => {
    const elsewhere = ELSEWHERE[name];
    const body = name === "RunRequest" ? requestText(all.textOf(scratch)) : text;
    const code = elsewhere ?? `\`\`\`typescript\n${body}\n\`\`\``;
    return [`### ${name}`, doc, code].filter(Boolean).join("\n\n");
  };
  const [exported, named] = [all.exported(), all.named(Object.keys(ELSEWHERE))];
  return [
    HEAD.trimEnd(),
    `## Exported\n\n${exported.map(sections).join("\n\n")}`,
    `## Named by these\n\n${named.map(sections).join("\n\n")}`,
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

/** The fields as the compiler knows them, with what the schema says about each. */
function requestText(declared: string): string {
  const fields = /=> \{\n([\s\S]*)\n\};/.exec(declared)?.[1] ?? "";
  const told = fields.replaceAll(/^ {4}(\w+)\??:/gm, (start, name: string) => {
    const description = RunRequest.shape[name as keyof typeof RunRequest.shape]?.description;
    return description ? `    /** ${description}. */\n${start}` : start;
  });
  return `interface RunRequest {\n${told.replaceAll(" | undefined;", ";").replaceAll("    ", "  ")}\n}`;
}

if (import.meta.main) writeFileSync(FILE, apiPage());
