import type { RunRequest } from "../../../core/request.ts";
import { readShellArguments } from "../../../hosts/shell-arguments.ts";
import { type HostWrapper, recognizeWrapper } from "../../../hosts/wrappers/index.ts";
import { realShell, type ShellForm } from "../../../sandbox/launch-spec.ts";
import { quoteWord } from "../../../shell/quote.ts";
import { type Hello, ProtocolError } from "./frames.ts";

interface ShellRequest {
  request: Pick<RunRequest, "command" | "args">;
  /** How bash runs the command. Null when the request itself says it. */
  form: ShellForm | null;
}

/**
 * Converts the arguments of a shell that the program starts to a request. Of the text that a known program puts around a
 * command, only the command is judged and shown. Unlike `sallyport sh`, the program is not trusted: text with a file that
 * it has written and that bash would run first is judged as a whole, and this process writes no file for it. The files
 * in which it expects the final working directory or PIDs are written in the sandbox of the command, which has the same
 * /tmp.
 */
export function shellRequest({ argv, env }: Pick<Hello, "argv" | "env">, workspace: string): ShellRequest {
  const given = readShellArguments(argv.slice(1));
  if ("problem" in given) throw new ProtocolError(given.problem);
  const { kind, command, parameters, options, plain } = given;
  if (kind === "command" && plain && parameters.length === 0) {
    const wrapper = recognizeWrapper(command, { env, workspace, uid: process.getuid?.() ?? 0 });
    const text = wrapper === null || wrapper.sourced.length > 0 ? null : textWith(wrapper);
    const judged = wrapper !== null && text !== null ? wrapper.command : command;
    if (judged.trim() !== "") {
      return { request: { command: judged }, form: { options, sourced: [], text: () => text ?? command } };
    }
  }
  const rest = { command: ["-c", "--", command], script: ["--"], stdin: parameters.length > 0 ? ["-s", "--"] : [] };
  return { request: { command: realShell(), args: [...options, ...rest[kind], ...parameters] }, form: null };
}

/** Returns the text that runs the command of a wrapper and writes the files that the program expects. */
function textWith(wrapper: HostWrapper): string {
  const { directoryFile, processFile } = wrapper;
  const text = wrapper.text(directoryFile === null ? "" : `pwd -P >| ${quoteWord(directoryFile)}`);
  return processFile === null ? text : `{ : > ${quoteWord(processFile)}; } 2>/dev/null\n${text}`;
}
