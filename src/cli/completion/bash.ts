import { type CompletedCommand, type CompletedOption, type Completions, LIVE } from "./model.ts";

/**
 * Returns the completion script for bash. The script compares words itself, because `compgen -W` expands its argument
 * and agents choose the names of sessions (invariant 7).
 */
export function bashCompletion({ options, commands }: Completions): string {
  return `# sallyport completion for bash. To install it:
#   sallyport completion bash > ~/.local/share/bash-completion/completions/sallyport
_sallyport_offer() {
  local word
  for word in "$@"; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
}

_sallyport_live() {
  local lines
  mapfile -t lines < <("\${@:2}" 2>/dev/null </dev/null | cut -f"$1" | tr '\\t' '\\n' | grep -E '^[A-Za-z0-9._:@-]+$')
  _sallyport_offer "\${lines[@]}"
}

_sallyport_value() {
  case "$1" in
${lines(valueCases(options, commands), 4)}
    *) compopt -o default 2>/dev/null ;;
  esac
}

# After \`--\` or the first positional argument, uses the completion of the command to run.
_sallyport_other() {
  local at
  for ((at = i + 1; at < COMP_CWORD; at++)); do
    case "|$1|" in *"|\${COMP_WORDS[at]}|"*) ((at++)); continue ;; esac
    case "\${COMP_WORDS[at]}" in --) ((at++)) ;; -*) continue ;; esac
    if declare -F _command_offset >/dev/null; then _command_offset $at
    elif ((at == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else compopt -o default 2>/dev/null; fi
    return 0
  done
  return 1
}

_sallyport() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${withValues(options)}) ((i++)) ;;
      -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  if [[ -z $command ]]; then
    case "$previous" in ${withValues(options)}) _sallyport_value " $previous"; return ;; esac
    if [[ $cur == -* ]]; then _sallyport_offer ${flags(options)}
    else _sallyport_offer ${commands.map(({ name }) => name).join(" ")} help; fi
    return
  fi
  case "$command" in
    help) _sallyport_offer ${commands.map(({ name }) => name).join(" ")} ;;
${lines(commands.flatMap(commandCase), 4)}
  esac
}
complete -F _sallyport sallyport
`;
}

function lines(all: string[], indent: number): string {
  return all.map((line) => " ".repeat(indent) + line).join("\n");
}

function flags(options: CompletedOption[]): string {
  return options.map(({ long }) => `--${long}`).join(" ");
}

function withValues(options: CompletedOption[]): string {
  const names = options.filter(({ choices }) => choices !== null);
  return names.flatMap(({ long, short }) => [`--${long}`, ...(short ? [`-${short}`] : [])]).join("|");
}

function valueCases(options: CompletedOption[], commands: CompletedCommand[]): string[] {
  return [{ name: "", options }, ...commands].flatMap(({ name, options: own }) =>
    own.flatMap(({ long, short, choices }) => {
      if (!choices?.length) return [];
      const named = [`"${name} --${long}"`, ...(short ? [`"${name} -${short}"`] : [])];
      return [`${named.join("|")}) _sallyport_offer ${choices.join(" ")} ;;`];
    }),
  );
}

function commandCase({ name, options, words, live, takesCommandLine }: CompletedCommand): string[] {
  const valued = withValues(options);
  return [
    `${name})`,
    ...(takesCommandLine && !live ? [`  _sallyport_other '${valued}' && return`] : []),
    `  case "$previous" in ${valued}) _sallyport_value "${name} $previous"; return ;; esac`,
    `  if [[ $cur == -* ]]; then _sallyport_offer ${flags(options)}; return; fi`,
    ...(words.length > 0 ? [`  _sallyport_offer ${words.join(" ")}`] : []),
    ...(live ? [`  _sallyport_live ${LIVE[live].columns} ${LIVE[live].command}`] : []),
    ...(takesCommandLine && !live ? ['  mapfile -t COMPREPLY < <(compgen -c -- "$cur")'] : []),
    "  ;;",
  ];
}
