import { quoted, script, single } from "./quote.ts";
import type { Writer } from "./text.ts";
import { variables, words } from "./words.ts";

/** Returns a program that runs another one. */
export function wrapped(writer: Writer, depth: number): string {
  const { random } = writer;
  const inner = (): string => `${writer.commandWord()} ${words(writer, depth)}`;
  return random.pick([
    () => `env ${inner()}`,
    () => `env A=1 -u B ${inner()}`,
    () => `env -u A B=2 ${inner()}`,
    () => `env -S ${single(`${writer.name()} a "b c" 'd'`)} e`,
    () => `env -S${single(`A=1 ${writer.name()} x`)}`,
    () => `command ${inner()}`,
    () => `command -- ${inner()}`,
    () => `builtin command ${inner()}`,
    () => `nice ${inner()}`,
    () => `nice -n 1 ${inner()}`,
    () => `timeout 5 ${inner()}`,
    () => `timeout -s KILL --foreground 5 ${inner()}`,
    () => `nohup ${inner()}`,
    () => `(exec ${inner()})`,
    () => `(exec -a zero ${inner()})`,
    () => `env nice -n 2 timeout 3 ${inner()}`,
    () => `xargs ${inner()} <<< ${quoted(random, "p q")}`,
    () => `xargs -n1 ${inner()} <<< 'p q'`,
    () => `echo p q | xargs ${inner()}`,
    () => `printf '%s\\0' p 'q r' | xargs -0 ${inner()}`,
    () => `xargs -I{} ${writer.name()} '<{}>' <<< p`,
    () => `nice bash -c ${script(random, writer.list(depth, 2))}`,
  ])();
}

/** Returns code that is passed to a shell as text. */
export function reentry(writer: Writer, depth: number): string {
  const { random } = writer;
  const code = writer.list(depth, 2);
  const mark = random.pick(["E", "EOF", "_x"]);
  const here = (tail: string): string => {
    writer.bodies.push(`${code}\n${mark}\n`);
    return `<<'${mark}'${tail}`;
  };
  return random.pick([
    () => `bash -c ${script(random, code)}`,
    () => `bash -ec ${script(random, code)} zero one`,
    () => `sh -c ${script(random, writer.list(0, 1))}`,
    () => `bash -o pipefail -c ${script(random, code)}`,
    () => `bash -c ${single(`"$0" "$@"; ${code}`)} ${writer.name()} a b`,
    () => `eval ${script(random, code)}`,
    () => `eval ${writer.name()} ${single(single("a b"))}`,
    () => `bash <<< ${script(random, code)}`,
    () => `bash -s one ${here("")}`,
    () => `cat ${here(" | bash")}`,
    () => `echo ${script(random, code)} | bash`,
    () => `printf '%s\\n' ${script(random, code)} | sh`,
    () => `source /dev/stdin ${here("")}`,
    () => `. /dev/stdin <<< ${script(random, code)}`,
    () => `bash <(echo ${script(random, code)})`,
    () => `trap ${script(random, code)} EXIT`,
    () => `(trap ${script(random, code)} ERR; false)`,
    () => `(trap ${single(writer.list(0, 1))} DEBUG; :)`,
    () =>
      `shopt -s expand_aliases${writer.lineBreak()}alias al=${script(random, `${writer.name()} z `)}\nal ${words(writer, 0)}`,
  ])();
}

/** Returns an assignment to a variable whose value is run or printed later. */
export function assigned(writer: Writer, depth: number): string {
  const { random } = writer;
  const variable = random.pick(variables);
  const name = writer.name();
  const use = random.pick([`$${variable}`, `"$${variable}"`, `\${${variable}}`, `"\${${variable}:-${writer.name()}}"`]);
  const assign = random.pick([
    () => `${variable}=${quoted(random, name)}`,
    () => `export ${variable}=${name}`,
    () => `declare ${variable}=${name}`,
    () => `readonly q${variable}=1; ${variable}=${name}`,
    () => `${variable}=${name.slice(0, 2)}; ${variable}+=${name.slice(2)}`,
    () => `${variable}=${quoted(random, `${name} s t`)}`,
    () => `: "\${${variable}:=${name}}"`,
    () => `read ${variable} <<< ${name}`,
    () => `printf -v ${variable} %s ${name}`,
    () => `${variable}=${writer.name()}; (${variable}=${writer.name()})`,
    () => `${variable}=${writer.name()}; false && ${variable}=${writer.name()}`,
    () => `${variable}=${writer.name()}; true || ${variable}=${writer.name()}`,
    () => `${variable}=${writer.name()}; ${variable}=${writer.name()} :`,
    () => `${variable}=${writer.name()}; unset ${variable}`,
    () => `${variable}=${writer.name()}; if ${writer.simple(0)}; then ${variable}=${writer.name()}; fi`,
    () => `${variable}=${writer.name()}; while ${writer.simple(0)}; do ${variable}=${writer.name()}; break; done`,
    () => `${variable}=${writer.name()}; ${variable}=${writer.name()} | cat`,
    () => `${variable}=${writer.name()}; eval ${variable}=${writer.name()}`,
    () => `${variable}=${writer.name()}; set_it() { ${variable}=${writer.name()}; }; set_it`,
    () => `${variable}=${writer.name()}; set_it() { local ${variable}=${writer.name()}; }; set_it`,
    () => `for ${variable} in ${name} ${writer.name()}; do ${use} in-loop; done`,
    () => `set -- ${name} m; "$@"; shift; ${variable}=${name}`,
    () => `IFS=,; ${variable}=${name},s,t`,
  ])();
  return `${assign}${writer.separator()}${use} ${words(writer, depth)}`;
}
