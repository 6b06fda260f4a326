/** Zod's messages, rewritten so that they continue a sentence that starts with the name of a field. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^Invalid input: expected int, received .*$/s, "must be an integer"],
  [/^Invalid input: expected boolean, received .*$/s, "must be true or false"],
  [/^Invalid input: expected (?:object|record), received .*$/s, "must be an object"],
  [/^Invalid input: expected array, received .*$/s, "must be an array"],
  [/^Invalid input: expected (\w+), received .*$/s, "must be a $1"],
  [/^Invalid option: expected one of (.*)$/s, "must be one of $1"],
  [/^Too big: expected \w+ to (be|have) <=?(\S+)/, "must $1 at most $2"],
  [/^Too small: expected \w+ to (be|have) >=(\S+)/, "must $1 at least $2"],
  [/^Too small: expected \w+ to be >(\S+)/, "must be more than $1"],
  [/^Invalid/, "is invalid"],
];

/** Returns what a Zod issue requires of its field, such as "must be an integer". */
export function requirement(message: string): string {
  const text = PHRASES.reduce((result, [pattern, phrase]) => result.replace(pattern, phrase), message);
  return text.startsWith("must be one of ") ? text.replaceAll('"|"', '", "') : text;
}
