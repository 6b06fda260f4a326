import { type Command, UsageError } from "../command.ts";

const SHELLS = ["bash", "zsh", "fish"];

/** Takes the loader of all commands as a parameter, because the catalog imports this file. */
export const completionCommand = (loadAll: () => Promise<Command[]>): Command => ({
  name: "completion",
  summary: "Print a shell completion script",
  usage: "sallyport completion bash|zsh|fish",
  description:
    "Completes commands and options, and the current names and IDs of sessions, approval requests and tokens.",
  actions: { bash: "Print the script for bash", zsh: "Print the script for zsh", fish: "Print the script for fish" },
  options: {},
  examples: [
    ["Enable completion in the current shell (bash)", 'eval "$(sallyport completion bash)"'],
    ["Install completion for zsh, in a folder of $fpath", "sallyport completion zsh > ~/.zfunc/_sallyport"],
    ["Install completion for fish", "sallyport completion fish > ~/.config/fish/completions/sallyport.fish"],
  ],
  run: async ({ positionals, rest, io }) => {
    const [shell, unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined)
      throw new UsageError(`unexpected argument \`${unexpected}\`; \`completion\` takes one shell`);
    const { completions } = await import("../completion/model.ts");
    io.out((await scriptOf(shell))(completions(await loadAll())));
    return 0;
  },
});

async function scriptOf(shell: string | undefined) {
  if (shell === "bash") return (await import("../completion/bash.ts")).bashCompletion;
  if (shell === "zsh") return (await import("../completion/zsh.ts")).zshCompletion;
  if (shell === "fish") return (await import("../completion/fish.ts")).fishCompletion;
  const problem = shell === undefined ? "no shell given" : `unknown shell \`${shell}\``;
  throw new UsageError(`${problem}; use ${SHELLS.join(", ")}`);
}
