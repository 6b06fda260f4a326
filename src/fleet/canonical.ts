/** Deeper than anything we send: what comes from the network must not exhaust the stack. */
const DEEPEST = 64;

/**
 * The same data always gives the same text: names sorted, nothing between, what is undefined left out as JSON does. Two
 * machines that hash it hash the same bytes.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null, depth + 1)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depth + 1)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("a number JSON cannot hold");
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not data`);
  return text;
}
