/** Splits a line into arguments at blanks. Quotes and backslashes keep blanks, as in a shell. */
export function splitArguments(line: string): string[] {
  const args: string[] = [];
  let arg: string | null = null;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string;
    if (quote !== "") {
      if (character === quote) quote = "";
      else arg = (arg ?? "") + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      arg ??= "";
    } else if (character === "\\" && at + 1 < line.length) {
      at += 1;
      arg = (arg ?? "") + line[at];
    } else if (/\s/.test(character)) {
      if (arg !== null) args.push(arg);
      arg = null;
    } else arg = (arg ?? "") + character;
  }
  if (arg !== null) args.push(arg);
  return args;
}
