/** The same promise for every caller: an `import()` is looked up anew each time, which a call would pay for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
