import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { configFile } from "../../../src/config/schema.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { pages, samples } from "./pages.ts";
import { typeCheck } from "./type-check.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-docs-"));
after(() => rmSync(folder, { recursive: true }));

/** Declarations of the names that the samples use but do not define. */
const DECLARATIONS = `
import type { ApprovalRequest, Gateway, openGateway as open } from "sallyport";
declare global {
  const gateway: Gateway;
  const openGateway: typeof open;
  const id: string;
  const signal: AbortSignal;
  function askMyUser(request: ApprovalRequest): Promise<"once" | "always" | "deny">;
  function tell(payload: object): Promise<void>;
}
`;

test("the TypeScript samples pass the type check", () => {
  const found = pages()
    .flatMap(samples)
    .filter(({ language }) => language === "ts");
  assert.ok(found.length > 0);
  const named = found.map(({ page, line, text }) => [`${page.replace(/\W/g, "-")}-${line}`, text] as const);
  typeCheck(folder, new Map(named), DECLARATIONS);
});

test("the configuration samples are valid", () => {
  for (const { language, page, line, text } of pages().flatMap(samples)) {
    if (language !== "json") continue;
    const value = JSON.parse(text) as object;
    if ("payload" in value || hostServers(value)) continue;
    const { error } = configFile().safeParse("pattern" in value ? { allowlist: [value] } : value);
    assert.equal(error, undefined, `${page}:${line}: ${error?.message}`);
  }
});

/** Returns the servers in a sample of an MCP host's configuration, or undefined when the sample is not one. */
function hostServers(value: object): Record<string, { command: string; args: string[] }> | undefined {
  const { mcpServers, servers, context_servers, mcp } = value as Record<string, ReturnType<typeof hostServers>>;
  return mcpServers ?? servers ?? context_servers ?? (mcp && splitCommands(mcp));
}

/** Converts the servers of an opencode configuration, which has the program and its arguments in one array. */
function splitCommands(entries: object): ReturnType<typeof hostServers> {
  const commands = Object.entries(entries as Record<string, { command: string[] }>);
  return Object.fromEntries(
    commands.map(
      ([
        name,
        {
          command: [command = "", ...args],
        },
      ]) => [name, { command, args }],
    ),
  );
}

test("the samples for MCP hosts use a valid `sallyport mcp` command line", async () => {
  const box = new Sandbox();
  after(() => box.remove());
  const named = pages()
    .flatMap(samples)
    .filter(({ language }) => language === "json")
    .flatMap(({ text }) => Object.values(hostServers(JSON.parse(text) as object) ?? {}));
  assert.ok(named.length > 2);
  for (const { command, args } of named) {
    assert.match(command, /(^|\/)sallyport$/);
    // An unknown option is an error even together with `--help`.
    const { stdout, stderr } = await box.run([...args, "--help"]);
    assert.match(stdout, /^Usage: sallyport mcp /m, stderr);
  }
});
