import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type LoadOptions, loadConfig } from "../../src/config/load.ts";

/** An operator's folder and a workspace, both empty, gone after the test. */
export function configHouse(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-config-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "workspace");
  const operator = join(folder, "config", "sallyport", "sallyport.json");
  mkdirSync(workspace);
  mkdirSync(dirname(operator), { recursive: true });
  const env = { XDG_CONFIG_HOME: join(folder, "config"), HOME: join(folder, "home") };
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return {
    folder,
    workspace,
    operator,
    file: join(workspace, "sallyport.json"),
    options: { workspace, env } as LoadOptions,
    operatorSays: (value: unknown) => writeFileSync(operator, text(value)),
    workspaceSays: (value: unknown) => writeFileSync(join(workspace, "sallyport.json"), text(value)),
    load: (more: Partial<LoadOptions> = {}) => loadConfig({ workspace, env, ...more }),
  };
}
