import { type CompletedCommand, type CompletedOption, type Completions, LIVE, type Live } from "./model.ts";

/**
 * Returns the completion script for zsh. `_arguments` evaluates its specifications, so these contain only fixed words.
 * Looked-up names go through compadd.
 */
export function zshCompletion({ options, commands }: Completions): string {
  return `#compdef sallyport
# sallyport completion for zsh. To install it, in a folder of your $fpath:
#   sallyport completion zsh > ~/.zfunc/_sallyport

${(Object.keys(LIVE) as Live[]).map(liveFunction).join("\n")}
_sallyport() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${options.map(option).join(" ")} '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(
${commands.map(({ name, summary }) => `        ${quoted(`${name}:${summary}`)}`).join("\n")}
      )
      _describe command commands
      ;;
    rest)
      case $line[1] in
${commands.map((command) => `        ${command.name}) _arguments ${argumentsOf(command)} ;;`).join("\n")}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _sallyport ]]; then _sallyport "$@"; else compdef _sallyport sallyport; fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function functionOf(live: Live): string {
  return `_sallyport_${live.replace(" ", "_")}`;
}

function liveFunction(live: Live): string {
  const { command, columns } = LIVE[live];
  return `${functionOf(live)}() {
  local -a words=(\${(f)"$(${command} 2>/dev/null </dev/null | cut -f${columns} | tr '\\t' '\\n' | grep -E '^[A-Za-z0-9._:@-]+$')"})
  compadd -a words
}
`;
}

function option({ long, short, meaning, choices }: CompletedOption): string {
  const text = meaning.replaceAll(/[[\]:\\]/g, "\\$&");
  const value = choices === null ? "" : choices.length > 0 ? `:value:(${choices.join(" ")})` : ":value:_files";
  const names = short ? `{-${short},--${long}}` : `--${long}`;
  return `${names}${quoted(`[${text}]${value}`)}`;
}

function argumentsOf({ options, words, live, takesCommandLine }: CompletedCommand): string {
  const rest = live ? [`'*:session:${functionOf(live)}'`] : takesCommandLine ? ["'*::command:_normal'"] : [];
  const first = words.length > 0 ? [`'1:action:(${words.join(" ")})'`] : [];
  return [...options.map(option), ...first, ...rest].join(" ");
}
