/** Sets a key that a stranger may have named: assigning to `__proto__` would set no key at all. */
export function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
