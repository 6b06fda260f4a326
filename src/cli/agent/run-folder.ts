import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";
import { BUILD_COMMAND, KEEPER_FOLDERS } from "../../executor/native/zygote.ts";

const PREFIX = "sallyport-agent-";

/**
 * The folder of one run of an agent's program. Only the sandbox of that session shows it, read-only:
 *
 *     channel                 the socket of the gateway
 *     bin/bash                the relay, as a shell
 *     bin/sallyport-relay     the relay, for the MCP server
 *     ...                     the generated configuration files
 */
export async function createRunFolder(): Promise<string> {
  // Commands have a private /tmp, so that they do not see this folder.
  const parent = realpathSync.native(existsSync("/tmp") ? "/tmp" : tmpdir());
  await removeAbandoned(parent);
  const folder = mkdtempSync(join(parent, PREFIX));
  mkdirSync(join(folder, "bin"), { mode: 0o700 });
  return folder;
}

/** Removes the folders of this user whose gateway was killed: nothing listens on their socket any more. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (!name.startsWith(PREFIX) || lstatSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    if (await isAbandoned(channelOf(folder))) rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder without a socket may be one that another process is filling. */
function isAbandoned(channel: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(channel, () => {
    socket.destroy();
    resolve(false);
  });
  socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  return promise;
}

/** Copies the relay and writes the generated files. A copy, because the relay finds the channel beside itself. */
export function fillRunFolder(folder: string, files: Readonly<Record<string, string>>): void {
  const relay = KEEPER_FOLDERS.map((built) => join(built, "relay")).find((path) => existsSync(path));
  if (relay === undefined) {
    throw new SallyportError("KeeperUnavailable", "The program that connects the agent to its gateway is missing.", [
      operatorStep("rebuild", `Build it with \`${BUILD_COMMAND}\`.`),
    ]);
  }
  const copy = join(folder, "bin/sallyport-relay");
  copyFileSync(relay, copy);
  linkSync(copy, join(folder, "bin/bash"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
}

export function channelOf(folder: string): string {
  return join(folder, "channel");
}
