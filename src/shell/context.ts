/** What the analysis may know about the world. All reading of it is injected, so that the analysis itself is pure. */
export interface InspectContext {
  /** Where the command would start. */
  cwd: string;
  /** The home folder `~` stands for. */
  home: string;
  workspace: string;
  /** Environment variables whose value is certain when the command runs (`USER`, `TMPDIR`). */
  env?: Readonly<Record<string, string | undefined>>;
  lookup: Lookup;
}

export interface Lookup {
  /** The file a command word means: found on PATH for a bare name, else the path itself if it can be executed. */
  which(name: string, cwd: string | null): string | null;
  /** The path with its links followed, as far as it exists; null where it cannot be read. */
  realpath(path: string): string | null;
}
