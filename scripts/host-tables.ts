/**
 * Writes the generated parts of docs/hosts.md and docs/mcp.md from what `sallyport setup` knows about each host:
 * `node scripts/host-tables.ts`. A test compares the pages with it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Host, type HostFile, SCOPES, type Scope } from "../src/setup/hosts/host.ts";
import { HOSTS } from "../src/setup/hosts/index.ts";
import { printedFiles } from "../src/setup/print.ts";

const ROOT = join(import.meta.dirname, "..");

/** The pages with generated parts. */
export const PAGES = ["docs/hosts.md", "docs/mcp.md"];

const PARTS: Record<string, () => string> = {
  hosts: () =>
    table(
      ["Host", "`HOST`", "Tried with", "Modes", "Scopes", "Own shell after setup", "Approval requests"],
      HOSTS.map((host) => [
        host.title,
        `\`${host.name}\``,
        host.tested ?? "its documentation",
        host.modes.join(", "),
        SCOPES.filter((scope) => host.files.server[scope] !== null).join(", "),
        host.remains === null ? "off" : `remains: ${host.remains}`,
        host.approvals,
      ]),
    ),
  approvals: () =>
    table(
      ["host", "approval requests", "tools by their own names"],
      HOSTS.map((host) => [
        host.title,
        host.approvals,
        host.namespaced ? "no, with the name of the server" : "yes: a built-in tool of the same name wins",
      ]),
    ),
  entries: () => HOSTS.map(entryText).join("\n\n"),
};

/** Returns a page with its generated parts replaced. */
export function hostPage(page: string): string {
  const part =
    /(<!-- generated from src\/setup\/hosts\/ by scripts\/host-tables\.ts: (\w+) -->)\n[\s\S]*?(<!-- end -->)/g;
  return page.replace(part, (_, begin: string, name: string, end: string) => {
    const text = PARTS[name];
    if (!text) throw new Error(`unknown part ${name}`);
    return `${begin}\n\n${text()}\n\n${end}`;
  });
}

function table(titles: string[], rows: string[][]): string {
  const lines = [titles, titles.map(() => "---"), ...rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function entryText(host: Host): string {
  const tools = host.toolsets === "bash" ? [] : ["--tools", host.toolsets];
  const server = { command: "sallyport", args: ["mcp", "--agent", host.name, ...tools, ...host.serverArgs], env: {} };
  const scope: Scope = host.files.server.user ? "user" : "project";
  const places = { home: "~", workspace: ".", state: "", env: {}, platform: "linux" } as const;
  const written = printedFiles(host, server, scope, places);
  const keys = Object.keys(host.files);
  const blocks = written.map(({ path, text }, index) => {
    const file = host.files[keys[index] ?? ""] ?? host.files.server;
    // Blocks of `json` are tested as configuration of a server.
    const language = file.format === "json" && index > 0 ? "jsonc" : file.format;
    return `${whereText(path, file)}:\n\n\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
  });
  return [`### ${host.title}`, ...blocks, ...(host.next ? [host.next] : [])].join("\n\n");
}

/** Names the file of the user and that of a project. */
function whereText(path: string | null, { project, user }: HostFile): string {
  const variable = user?.variable ? ` (\`$${user.variable.name}\` changes the folder)` : "";
  const inProject = project === null ? "" : `, or \`${project[0]}\` in a project`;
  return `\`${path}\`${variable}${inProject}`;
}

if (import.meta.main) {
  for (const page of PAGES) {
    const file = join(ROOT, page);
    writeFileSync(file, hostPage(readFileSync(file, "utf8")));
  }
}
