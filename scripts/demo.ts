/** Generates docs/demo.svg from a recording of a few commands on a terminal. Usage: `node scripts/demo.ts FILE` */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openGateway } from "../src/index.ts";
import { replay } from "../src/session/terminal/render/replay.ts";
import { movieSvg } from "../src/session/terminal/render/svg.ts";

const COMMANDS = [
  `sallyport run -c 'echo "hello from $(uname -s)"'`,
  `sallyport check -c 'X=rm; $X -rf "$HOME"'`,
  `sallyport run -- python3 -c 'open("/etc/motd", "w")'`,
  "sallyport run -d --name web -- sleep 60",
  "sallyport ps",
  "sallyport kill web",
  "sallyport run -c 'sleep 60 & echo nothing is left behind'",
];

const [, , file] = process.argv;
if (file === undefined) throw new Error("usage: node scripts/demo.ts FILE");
const folder = mkdtempSync(join(tmpdir(), "sallyport-demo-"));
const bin = join(folder, "bin");
const project = join(folder, "project");
for (const each of [bin, project]) mkdirSync(each);
const entry = fileURLToPath(new URL("../bin/sallyport.js", import.meta.url));
writeFileSync(join(bin, "sallyport"), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
chmodSync(join(bin, "sallyport"), 0o755);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const script = [
  `export PATH=${bin}:$PATH SALLYPORT_STATE=${join(folder, "inner")} HOME=${folder} FORCE_COLOR=1`,
  `type() { printf '\\033[32m$\\033[0m '; for ((i = 0; i < \${#1}; i++)); do printf '%s' "\${1:i:1}"; sleep 0.02; done; sleep 0.5; echo; }`,
  ...COMMANDS.flatMap((command) => [`type ${quoted(command)}`, command, "sleep 1; echo"]),
].join("\n");
writeFileSync(join(project, "demo.sh"), script);

const gateway = await openGateway({
  workspace: project,
  state: join(folder, "outer"),
  configuration: null,
  policy: { sandbox: "off" },
  approve: async () => ({ decision: "once", who: "demo" }),
});
const session = await gateway.start({ command: "bash", args: ["demo.sh"], pty: true, size: { columns: 92, rows: 34 } });
const { status, error } = await session.wait();
if (status !== "completed") throw new Error(error?.message ?? status);
writeFileSync(file, movieSvg(await replay(session.recording())));
await gateway.close();
rmSync(folder, { recursive: true, force: true });
