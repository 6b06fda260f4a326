/** A value of a configuration file, as far as all formats have it. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** `text` is a file without structure, such as a script, which is written as a whole. */
export type Format = "json" | "toml" | "yaml" | "text";

/**
 * The keys from the root of a file to a value. `{ name }` selects the element of a list of objects that has this
 * `name`.
 */
export type Path = readonly (string | { name: string })[];

/**
 * The text of a configuration file that is edited in place: only the text of the changed values is replaced, so that
 * comments, the order of keys and the formatting stay as the user wrote them.
 */
export interface TextDocument {
  readonly text: string;
  /** Returns the value at the path, or undefined when there is none. An empty path returns the whole content. */
  get(path: Path): Json | undefined;
  /** Sets the value at the path. Creates the objects on the way. */
  set(path: Path, value: Json): void;
  /** Adds a value to the end of the list at the path. Creates the list if it does not exist. */
  append(path: Path, value: Json): void;
  /** Removes the value at the path, if there is one. */
  remove(path: Path): void;
  /** Removes an element from the list at the path, if it has one. */
  exclude(path: Path, value: Json): void;
  /** Returns the line of the value at the path, or of its nearest ancestor. */
  lineOf(path: Path): number;
}
