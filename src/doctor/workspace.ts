import { RepositoryScan } from "../sandbox/protected/git/find-repositories.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** How long the check may take in a large workspace. */
const MAX_MS = 300;

/** Checks that installed packages are not hard links to a store, which a command could change through them. */
export function checkHardLinks(): Finding {
  const scan = new RepositoryScan(process.cwd());
  scan.advance(MAX_MS);
  if (scan.linkedFile === null)
    return ok("hard links", "no package files in this folder are linked to files elsewhere");
  return warn(
    "hard links",
    `${scan.linkedFile} is a hard link, so commands can change the file under its other names too`,
    "Install packages as copies: `package-import-method=copy` in .npmrc for pnpm, `UV_LINK_MODE=copy` for uv, `git clone --no-hardlinks`.",
  );
}
