import { type CompletedOption, type Completions, LIVE } from "./model.ts";

export function fishCompletion({ options, commands }: Completions): string {
  const names = commands.map(({ name }) => name).join(" ");
  const out = [
    "# sallyport completion for fish. To install it:",
    "#   sallyport completion fish > ~/.config/fish/completions/sallyport.fish",
    "complete -c sallyport -f",
    ...options.map((each) => `complete -c sallyport ${option(each)}`),
  ];
  for (const { name, summary, options: own, words, live, takesCommandLine } of commands) {
    const before = `-n ${quoted(`not __fish_seen_subcommand_from ${names}`)}`;
    const within = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    out.push(`complete -c sallyport ${before} -a ${name} -d ${quoted(summary)}`);
    for (const each of own)
      if (!options.some(({ long }) => long === each.long)) out.push(`complete -c sallyport ${within} ${option(each)}`);
    if (words.length > 0) out.push(`complete -c sallyport ${within} -a ${quoted(words.join(" "))}`);
    if (live) {
      const { command, columns } = LIVE[live];
      // Fish takes each line of a command substitution as one word and does not expand it. The command is not run when
      // the word to complete is an option.
      const ask = `${command} 2>/dev/null </dev/null | cut -f${columns} | string split \\t`;
      const words = `(string match -q -- '-*' (commandline -ct); or ${ask})`;
      out.push(`complete -c sallyport ${within} -a ${quoted(words)}`);
    } else if (takesCommandLine) {
      out.push(`complete -c sallyport ${within} -a '(__fish_complete_subcommand --fcs-skip=2)'`);
    }
  }
  return `${out.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function option({ long, short, meaning, choices }: CompletedOption): string {
  const value = choices === null ? "" : choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : " -r";
  return `${short ? `-s ${short} ` : ""}-l ${long}${value} -d ${quoted(meaning)}`;
}
