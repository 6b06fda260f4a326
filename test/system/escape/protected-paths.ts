import { type Attempt, tool } from "./attempt.ts";

/** Attempts to change protected paths. The workspace is a repository with settings of editors and agents. */
const ways: [name: string, script: string][] = [
  ["change the repository's configuration", "echo x >> .git/config"],
  ["change the repository's configuration with git", "git config core.fsmonitor ./evil"],
  ["replace the repository's configuration", `cp .git/config c && ${tool("rename", "c", ".git/config")}`],
  ["delete the repository's configuration", "rm -f .git/config && ! test -e .git/config"],
  ["add a hook", "echo x > .git/hooks/post-commit"],
  ["make a hook executable", "chmod +x .git/hooks/sample"],
  ["replace the hooks folder", "mv .git/hooks h && mkdir .git/hooks && echo x > .git/hooks/post-commit"],
  ["replace the repository", "mv .git g && cp -r g .git && echo x > .git/hooks/post-commit"],
  ["delete the repository and put another in its place", "mkdir g && rm -rf .git; mv g .git && echo x > .git/config"],
  ["exchange the repository for another", `mkdir g && ${tool("exchange", "g", ".git")} && echo x > .git/config`],
  ["write to a hook through a link", "ln -s .git/hooks h && echo x > h/post-commit"],
  ["write to a hook through a hard link", `${tool("link", ".git/hooks/sample", "h")} && echo x >> h`],
  ["change the workspace's own policy", "echo {} > sallyport.json"],
  ["replace the workspace's own policy", `echo {} > p && ${tool("rename", "p", "sallyport.json")}`],
  ["delete the workspace's own policy", "rm -f sallyport.json && ! test -e sallyport.json"],
  ["change an editor's tasks", "echo x > .vscode/tasks.json"],
  ["replace an editor's settings", "mv .vscode v && mkdir .vscode && echo x > .vscode/tasks.json"],
  ["change an agent's settings", "echo x > .claude/settings.json"],
  ["change the list of MCP servers", "echo x > .mcp.json"],
];

export const PROTECTED_PATHS: Attempt[] = ways.map(([name, script]) => ({
  name,
  script,
  unless: ["mounts"],
}));
