import { dirname, join, normalize } from "node:path";
import { callerTmpdir } from "../../core/caller.ts";
import { readLiteral } from "./literal.ts";
import { type HostWrapper, Reader, type WrapperContext } from "./wrapper.ts";

const OPTIONS = "shopt -u promptvars nullglob extglob nocaseglob dotglob;";
const END = "\n)\n__code=$?\nexit $__code";

/**
 * Takes apart the text of Gemini CLI's `run_shell_command`: a subshell with a trap that writes the PIDs of background
 * processes to a file. Returns null for any other text, which is then judged as a whole.
 *
 * The command stands in the text unquoted, so it can contain the end of the subshell. That gains nothing: only the
 * command between the first line and the last is judged, and only that runs.
 */
export function geminiWrapper(text: string, { env }: WrapperContext): HostWrapper | null {
  // The host sets this variable. In other hosts, text like this is the agent's own.
  if (env.GEMINI_CLI !== "1") return null;
  const reader = new Reader(text);
  const options = reader.skip(`${OPTIONS} `) ? OPTIONS : "";
  if (!reader.skip("_bgpids_file=")) return null;
  const file = readLiteral(text, reader.at);
  if (!file || !isProcessFile(file.value, env)) return null;
  reader.at = file.end;
  if (!reader.skip(`\n(\n  trap 'jobs -p > "$_bgpids_file"' EXIT\n`) || !text.endsWith(END)) return null;
  const command = text.slice(reader.at, -END.length);
  if (command.trim() === "" || reader.at > text.length - END.length) return null;
  return {
    host: "gemini",
    command,
    sourced: [],
    directoryFile: null,
    processFile: file.value,
    // On a line of its own, so that nothing in the command can change what the options apply to.
    text: () => (options ? `${options}\n${command}` : command),
  };
}

/** Reports whether a path is one at which Gemini CLI reads the PIDs of background processes. */
function isProcessFile(path: string, env: WrapperContext["env"]): boolean {
  const own = env.TMPDIR?.startsWith("/") ? env.TMPDIR : callerTmpdir();
  const [folder, base] = [dirname(path), normalize(own).replace(/(?<=.)\/$/, "")];
  return (
    path === join(folder, "bgpids.tmp") &&
    dirname(folder) === base &&
    /^gemini-shell-[A-Za-z0-9]{6}$/.test(folder.slice(base.length + 1))
  );
}
