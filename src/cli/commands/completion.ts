import { type Command, UsageError } from "../command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** The catalog passes the loader of all commands, because this file cannot import the catalog that loads it. */
export const completionCommand = (loadAll: () => Promise<Command[]>): Command => ({
  name: "completion",
  summary: "Print a script that lets your shell complete commands and ids",
  usage: "sallyport completion bash | zsh | fish",
  options: {},
  actions: SHELLS,
  examples: [
    'eval "$(sallyport completion bash)"',
    "sallyport completion zsh > ~/.zfunc/_sallyport",
    "sallyport completion fish > ~/.config/fish/completions/sallyport.fish",
  ],
  notes: "Sessions, approvals and tokens are completed by their names and ids, as they are at that moment.",
  run: async ({ positionals, rest, io }) => {
    const [shell, unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined)
      throw new UsageError(`\`completion\` takes one shell; received \`${unexpected}\` too`);
    const { completions } = await import("../completion/model.ts");
    io.out((await scriptOf(shell))(completions(await loadAll())));
    return 0;
  },
});

async function scriptOf(shell: string | undefined) {
  if (shell === "bash") return (await import("../completion/bash.ts")).bashCompletion;
  if (shell === "zsh") return (await import("../completion/zsh.ts")).zshCompletion;
  if (shell === "fish") return (await import("../completion/fish.ts")).fishCompletion;
  const received = shell === undefined ? "" : `; received \`${shell}\``;
  throw new UsageError(`for which shell? One of ${SHELLS.join(", ")}${received}`);
}
