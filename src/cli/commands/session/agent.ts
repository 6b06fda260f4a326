import { resolve } from "node:path";
import { toAgentName } from "../../../core/names.ts";
import { type Command, UsageError } from "../../command.ts";
import { stateFolder } from "../../open.ts";
import { choiceOption, terminalSizeOption, textOption } from "../../options.ts";

export const agent: Command = {
  name: "agent",
  summary: "Run an agent in a sandbox, and guard each of its commands",
  usage: "sallyport agent [OPTIONS] HOST [-- ARG...]",
  description: `
    Starts the program of an agent, such as Claude Code, in the current directory, which is its workspace. The program
    runs in a sandbox with the profile HOST: it can write to the workspace and to its own configuration, it can read its
    own credentials and no others, and it can use the network as configured.

    For this run, each command that the program starts goes to Sallyport: it is checked, approved where policy requires
    it, sandboxed as the agent's commands are, and recorded as a session of its own. The program cannot decide on
    approvals. Press C-p C-r to decide on this terminal, or use \`sallyport approvals\` in another one, or the console.

    On a terminal, the program is a session: C-p C-q detaches, and \`sallyport attach\` attaches again. Without one, stdin and output
    are passed on, and a command that requires approval fails at once, so that it can be run again when it is approved.`,
  options: {
    profile: { type: "string" },
    name: { type: "string" },
    size: { type: "string" },
    network: { type: "string" },
    print: { type: "boolean" },
  },
  help: {
    profile: "FILE: Use this profile instead of the one named HOST",
    agent: "NAME: Agent that the program and its commands belong to (default: HOST)",
    name: "NAME: Session name (default: a random two-word name)",
    size: "COLSxROWS: Terminal size (default: the size of this terminal)",
    network: "on: Start the program with the network, which requires approval if it is not configured",
    json: "With --print, print JSON",
    print: "Print what the profile means on this machine, and start nothing",
  },
  choices: { network: ["on"] },
  sections: {
    "Exit status": "That of the program. 125 to 127 have the same meaning as for `sallyport run`.",
  },
  examples: [
    ["Run Claude Code", "sallyport agent claude-code"],
    ["Give Codex a task without a terminal", "sallyport agent codex -- exec 'fix the failing test'"],
    ["Show what the program will be able to access", "sallyport agent gemini --print"],
    ["Use your own profile", "sallyport agent claude-code --profile ~/claude-with-docker.json"],
  ],
  run: async (invocation) => {
    const { values, positionals, rest, io } = invocation;
    const [host, unexpected] = positionals;
    const { loadProfile, profileNames } = await import("../../agent/profile.ts");
    if (host === undefined) throw new UsageError(`no profile given; the profiles are ${profileNames().join(", ")}`);
    if (unexpected !== undefined) {
      throw new UsageError(`unexpected argument \`${unexpected}\`; put the program's arguments after \`--\``);
    }
    const file = textOption(values, "profile");
    const profile = loadProfile(host, file === undefined ? null : resolve(file));
    const started = {
      profile,
      agent: toAgentName(textOption(values, "agent") ?? host),
      arguments: rest ?? [],
      name: textOption(values, "name"),
      size: terminalSizeOption(values, "size"),
      network: choiceOption(values, "network", ["on"]) === "on",
      state: stateFolder(values),
    };
    if (values.print === true) {
      const { printProfile } = await import("../../agent/print-profile.ts");
      return printProfile(started, { json: values.json === true, io });
    }
    const { startProgram } = await import("../../agent/start-program.ts");
    return startProgram(started, io);
  },
};
