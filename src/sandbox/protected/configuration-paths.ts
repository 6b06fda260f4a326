import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parentOf } from "../paths/links.ts";
import { isWithin } from "../workspace.ts";

/**
 * A path that is executed outside the sandbox, or that changes what an agent may do, merely because a person opens or
 * enters the folder with a program. Files of builds, test runners and package managers are not listed, because agents
 * are expected to change those, and neither are paths that such programs write in everyday use.
 */
interface ConfigurationPath {
  /** Relative to the workspace or to a home directory. The last name may contain one `*`, for files that exist. */
  path: string;
  /** The program that reads it. */
  of: string;
  /** The documentation that names the path. */
  source: string;
}

/** Paths in a workspace. */
const IN_WORKSPACE: readonly ConfigurationPath[] = [
  { path: "sallyport.json", of: "Sallyport", source: "docs/configuration.md" },
  // Editors.
  { path: ".vscode", of: "Visual Studio Code", source: "code.visualstudio.com/docs: tasks, settings, MCP servers" },
  { path: "*.code-workspace", of: "Visual Studio Code", source: "code.visualstudio.com/docs: multi-root workspaces" },
  { path: ".devcontainer", of: "Dev Containers", source: "containers.dev: initializeCommand runs on the host" },
  { path: ".devcontainer.json", of: "Dev Containers", source: "containers.dev: initializeCommand runs on the host" },
  { path: ".theia", of: "Eclipse Theia", source: "theia-ide.org/docs: tasks and preferences" },
  { path: ".idea", of: "JetBrains IDEs", source: "jetbrains.com/help: project settings, startup tasks" },
  { path: ".fleet", of: "JetBrains Fleet", source: "jetbrains.com/help/fleet: run configurations" },
  { path: ".zed", of: "Zed", source: "zed.dev/docs: project settings, tasks" },
  { path: ".nova", of: "Nova", source: "help.nova.app: project settings, tasks" },
  { path: ".helix", of: "Helix", source: "docs.helix-editor.com: languages.toml in a workspace" },
  { path: ".exrc", of: "Vim, Neovim", source: "vimhelp.org: 'exrc'" },
  { path: "_exrc", of: "Vim", source: "vimhelp.org: 'exrc'" },
  { path: ".vimrc", of: "Vim", source: "vimhelp.org: 'exrc'" },
  { path: "_vimrc", of: "Vim", source: "vimhelp.org: 'exrc'" },
  { path: ".gvimrc", of: "Vim", source: "vimhelp.org: gui-init" },
  { path: ".lvimrc", of: "vim-localvimrc", source: "github.com/embear/vim-localvimrc" },
  { path: ".nvimrc", of: "Neovim", source: "neovim.io/doc: 'exrc'" },
  { path: ".nvim.lua", of: "Neovim", source: "neovim.io/doc: 'exrc'" },
  { path: ".lazy.lua", of: "lazy.nvim", source: "lazy.folke.io/configuration: local_spec" },
  { path: ".vim/coc-settings.json", of: "coc.nvim", source: "github.com/neoclide/coc.nvim: language servers" },
  { path: ".dir-locals.el", of: "Emacs", source: "Emacs manual: Directory Variables" },
  { path: ".dir-locals-2.el", of: "Emacs", source: "Emacs manual: Directory Variables" },
  { path: "*.sublime-project", of: "Sublime Text", source: "sublimetext.com/docs: projects; LSP commands in settings" },
  { path: ".lite_project.lua", of: "Lite XL", source: "lite-xl.com: project module" },
  { path: ".kateproject", of: "Kate", source: "docs.kde.org: kate projects, LSP client" },
  { path: ".tm_properties", of: "TextMate", source: "macromates.com/textmate/manual: environment variables" },
  // Agents: hooks, servers of tools, permissions.
  { path: ".mcp.json", of: "Claude Code and others", source: "code.claude.com/docs: project-scoped MCP servers" },
  { path: ".claude", of: "Claude Code", source: "code.claude.com/docs: settings, hooks" },
  { path: ".codex", of: "Codex", source: "developers.openai.com/codex: config.toml, hooks.json" },
  { path: ".gemini", of: "Gemini CLI", source: "github.com/google-gemini/gemini-cli: settings.json" },
  { path: ".qwen", of: "Qwen Code", source: "github.com/QwenLM/qwen-code: settings.json" },
  { path: ".iflow", of: "iFlow CLI", source: "docs.rs/agent-config: agents/iflow.md" },
  { path: ".cursor", of: "Cursor", source: "cursor.com/docs: mcp.json, hooks.json" },
  { path: ".windsurf", of: "Windsurf", source: "docs.windsurf.com: hooks, workflows" },
  { path: ".aider.conf.yml", of: "aider", source: "aider.chat/docs/config: lint-cmd, test-cmd, load" },
  { path: ".amazonq", of: "Amazon Q Developer", source: "amazon-q-developer-cli: docs/agent-format.md" },
  { path: ".amp", of: "Amp", source: "ampcode.com/manual: settings, MCP servers, permissions" },
  { path: ".augment", of: "Auggie", source: "docs.augmentcode.com: settings, hooks, permissions" },
  { path: ".clinerules/hooks", of: "Cline", source: "docs.cline.bot: hooks" },
  { path: ".continue", of: "Continue", source: "docs.continue.dev: configuration in a workspace" },
  { path: ".continuerc.json", of: "Continue", source: "docs.continue.dev: .continuerc.json" },
  { path: ".crush.json", of: "Crush", source: "github.com/charmbracelet/crush: hooks, mcp, lsp, permissions" },
  { path: "crush.json", of: "Crush", source: "github.com/charmbracelet/crush: hooks, mcp, lsp, permissions" },
  { path: ".factory", of: "Factory Droid", source: "docs.factory.ai: settings, hooks, MCP servers" },
  { path: ".github/hooks", of: "GitHub Copilot", source: "docs.github.com/copilot: hooks" },
  { path: ".goose", of: "goose", source: "block.github.io/goose: recipes, extensions" },
  { path: ".junie/mcp", of: "JetBrains Junie", source: "docs.rs/agent-config: agents/junie.md" },
  { path: ".kilocode/mcp.json", of: "Kilo Code", source: "kilo.ai/docs: project-level MCP configuration" },
  { path: "kilo.jsonc", of: "Kilo Code", source: "docs.rs/agent-config: agents/kilocode.md" },
  { path: ".kiro/agents", of: "Kiro", source: "kiro.dev/docs/custom-agents: MCP servers, permissions" },
  { path: ".kiro/hooks", of: "Kiro", source: "kiro.dev/docs/hooks" },
  { path: ".kiro/settings", of: "Kiro", source: "kiro.dev/docs/mcp" },
  { path: ".opencode", of: "OpenCode", source: "opencode.ai/docs/plugins" },
  { path: "opencode.json", of: "OpenCode", source: "opencode.ai/docs/config" },
  { path: "opencode.jsonc", of: "OpenCode", source: "opencode.ai/docs/config" },
  { path: ".openhands", of: "OpenHands", source: "docs.openhands.dev: setup.sh, hooks" },
  { path: ".pi", of: "pi", source: "github.com/badlogic/pi-mono: project extensions" },
  { path: ".qoder", of: "Qoder", source: "docs.rs/agent-config: agents/qodercli.md" },
  { path: ".roo/mcp.json", of: "Roo Code", source: "docs.roocode.com: project MCP servers" },
  { path: ".roomodes", of: "Roo Code", source: "docs.roocode.com: custom modes, tool groups" },
  { path: ".trae/mcp.json", of: "Trae", source: "docs.trae.ai: project-level MCP servers" },
  { path: ".vibe", of: "Mistral Vibe", source: "github.com/mistralai/mistral-vibe: project configuration" },
  // Programs that act when a person enters the folder.
  { path: ".envrc", of: "direnv", source: "direnv.net" },
  { path: ".direnv/*.rc", of: "nix-direnv", source: "github.com/nix-community/nix-direnv: cached environments" },
  { path: ".shadowenv.d", of: "Shadowenv", source: "shopify.github.io/shadowenv: trusted by folder" },
  { path: ".rvmrc", of: "RVM", source: "rvm.io/workflow/rvmrc" },
  { path: "mise.toml", of: "mise", source: "mise.jdx.dev/hooks: trusted by path" },
  { path: "mise.local.toml", of: "mise", source: "mise.jdx.dev/configuration" },
  { path: ".mise.toml", of: "mise", source: "mise.jdx.dev/configuration" },
  { path: ".mise.local.toml", of: "mise", source: "mise.jdx.dev/configuration" },
  { path: ".mise/config.toml", of: "mise", source: "mise.jdx.dev/configuration" },
  { path: ".config/mise.toml", of: "mise", source: "mise.jdx.dev/configuration" },
  { path: ".config/mise", of: "mise", source: "mise.jdx.dev/configuration" },
  // Shells and terminals, for a workspace that is a home directory or a repository of such files.
  { path: ".bashrc", of: "bash", source: "bash(1)" },
  { path: ".bash_profile", of: "bash", source: "bash(1)" },
  { path: ".bash_login", of: "bash", source: "bash(1)" },
  { path: ".bash_logout", of: "bash", source: "bash(1)" },
  { path: ".profile", of: "shells", source: "bash(1), dash(1)" },
  { path: ".zshrc", of: "zsh", source: "zsh(1)" },
  { path: ".zshenv", of: "zsh", source: "zsh(1)" },
  { path: ".zprofile", of: "zsh", source: "zsh(1)" },
  { path: ".zlogin", of: "zsh", source: "zsh(1)" },
  { path: ".config/fish", of: "fish", source: "fishshell.com/docs: configuration files" },
  { path: ".config/autostart", of: "desktops", source: "freedesktop.org: autostart specification" },
  { path: ".config/systemd", of: "systemd", source: "systemd.unit(5)" },
  { path: ".local/bin", of: "PATH", source: "freedesktop.org: base directory specification" },
  { path: ".local/share/applications", of: "desktops", source: "freedesktop.org: desktop entry specification" },
  // Interpreters and debuggers that read a file in the current folder when they start.
  { path: ".Rprofile", of: "R, RStudio", source: "R manual: Startup" },
  { path: ".gdbinit", of: "GDB", source: "GDB manual: init file in the current directory" },
  { path: ".lldbinit", of: "LLDB", source: "lldb.llvm.org: load-cwd-lldbinit" },
  { path: ".pdbrc", of: "Python", source: "docs.python.org: pdb" },
  { path: ".ghci", of: "GHCi", source: "GHC user's guide: the .ghci file" },
  { path: ".iex.exs", of: "IEx", source: "hexdocs.pm/iex" },
  { path: ".irbrc", of: "IRB", source: "ruby.github.io/irb: configuration file" },
  { path: ".pryrc", of: "Pry", source: "github.com/pry/pry: local .pryrc" },
  { path: ".ocamlinit", of: "OCaml", source: "OCaml manual: the toplevel system" },
  // Version control, apart from git.
  { path: ".gitconfig", of: "git", source: "git-config(1)" },
  { path: ".lazygit.yml", of: "lazygit", source: "github.com/jesseduffield/lazygit: repo-specific configuration" },
  { path: ".hg/hgrc", of: "Mercurial", source: "hgrc(5): hooks, extensions" },
  { path: ".hg/hgrc-not-shared", of: "Mercurial", source: "hgrc(5): shared repositories" },
  { path: ".hg/sharedpath", of: "Mercurial", source: "hg help share" },
  { path: ".jj/repo/config.toml", of: "Jujutsu", source: "docs.jj-vcs.dev: config" },
  { path: ".jj/workspace-config.toml", of: "Jujutsu", source: "docs.jj-vcs.dev: config" },
  { path: ".jj/repo/store/git_target", of: "Jujutsu", source: "docs.jj-vcs.dev: git compatibility" },
  { path: ".sl/config", of: "Sapling", source: "sapling-scm.com/docs: configuration" },
  { path: ".pijul/config", of: "Pijul", source: "pijul.org/manual: hooks" },
  { path: "_darcs/prefs", of: "Darcs", source: "darcs.net/manual: defaults, posthook" },
  { path: ".repo/repo", of: "Android repo", source: "gerrit.googlesource.com/git-repo: internal file system layout" },
];

/** Further paths in a home directory, which matter only if commands can write to it. */
const IN_HOME: readonly ConfigurationPath[] = [
  { path: ".bash_aliases", of: "bash", source: "Debian: /etc/skel/.bashrc" },
  { path: ".inputrc", of: "readline", source: "readline(3)" },
  { path: ".zlogout", of: "zsh", source: "zsh(1)" },
  { path: ".cshrc", of: "csh", source: "csh(1)" },
  { path: ".tcshrc", of: "tcsh", source: "tcsh(1)" },
  { path: ".login", of: "csh, tcsh", source: "tcsh(1)" },
  { path: ".logout", of: "csh, tcsh", source: "tcsh(1)" },
  { path: ".kshrc", of: "ksh", source: "ksh(1): ENV" },
  { path: ".mkshrc", of: "mksh", source: "mksh(1)" },
  { path: ".xonshrc", of: "xonsh", source: "xon.sh: run control file" },
  { path: ".config/nushell", of: "Nushell", source: "nushell.sh/book: configuration" },
  { path: ".config/powershell", of: "PowerShell", source: "learn.microsoft.com: about_Profiles" },
  { path: ".config/starship.toml", of: "Starship", source: "starship.rs/config: custom commands" },
  { path: ".config/direnv", of: "direnv", source: "direnv.net: direnvrc, direnv.toml" },
  { path: ".pam_environment", of: "PAM", source: "pam_env(8)" },
  { path: ".config/environment.d", of: "systemd", source: "environment.d(5)" },
  { path: ".local/share/systemd", of: "systemd", source: "systemd.unit(5)" },
  { path: ".local/share/dbus-1", of: "D-Bus", source: "dbus-daemon(1): service activation" },
  { path: ".xinitrc", of: "X", source: "startx(1)" },
  { path: ".xprofile", of: "display managers", source: "wiki.archlinux.org: Xprofile" },
  { path: ".xsession", of: "X", source: "Xsession(5)" },
  { path: ".xsessionrc", of: "X", source: "Xsession(5)" },
  { path: ".config/i3", of: "i3", source: "i3wm.org: user guide" },
  { path: ".config/sway", of: "Sway", source: "sway(5)" },
  { path: ".config/hypr", of: "Hyprland", source: "wiki.hypr.land" },
  { path: ".tmux.conf", of: "tmux", source: "tmux(1)" },
  { path: ".config/tmux", of: "tmux", source: "tmux(1)" },
  { path: ".screenrc", of: "screen", source: "screen(1)" },
  { path: ".config/kitty", of: "kitty", source: "sw.kovidgoyal.net/kitty/conf" },
  { path: ".config/alacritty", of: "Alacritty", source: "alacritty(5)" },
  { path: ".config/ghostty", of: "Ghostty", source: "ghostty.org/docs/config" },
  { path: ".config/wezterm", of: "WezTerm", source: "wezterm.org: configuration files" },
  { path: ".wezterm.lua", of: "WezTerm", source: "wezterm.org: configuration files" },
  { path: ".vim", of: "Vim", source: "vimhelp.org: 'runtimepath'" },
  { path: ".config/nvim", of: "Neovim", source: "neovim.io/doc: standard-path" },
  { path: ".local/share/nvim", of: "Neovim", source: "neovim.io/doc: standard-path" },
  { path: ".emacs", of: "Emacs", source: "Emacs manual: The Emacs Initialization File" },
  { path: ".emacs.d", of: "Emacs", source: "Emacs manual: The Emacs Initialization File" },
  { path: ".config/emacs", of: "Emacs", source: "Emacs manual: The Emacs Initialization File" },
  { path: ".config/helix", of: "Helix", source: "docs.helix-editor.com: configuration" },
  { path: ".config/zed", of: "Zed", source: "zed.dev/docs: settings" },
  { path: ".config/Code/User", of: "Visual Studio Code", source: "code.visualstudio.com/docs: settings" },
  { path: ".vscode-server", of: "Visual Studio Code", source: "code.visualstudio.com/docs: remote server" },
  { path: ".config/git", of: "git", source: "git-config(1)" },
  { path: ".config/lazygit", of: "lazygit", source: "github.com/jesseduffield/lazygit: configuration" },
  { path: ".hgrc", of: "Mercurial", source: "hgrc(5)" },
  { path: ".config/hg", of: "Mercurial", source: "hgrc(5)" },
  { path: ".jjconfig.toml", of: "Jujutsu", source: "docs.jj-vcs.dev: config" },
  { path: ".config/jj", of: "Jujutsu", source: "docs.jj-vcs.dev: config" },
  { path: ".config/opencode", of: "OpenCode", source: "opencode.ai/docs/config" },
  { path: ".config/crush", of: "Crush", source: "github.com/charmbracelet/crush" },
  { path: ".config/goose", of: "goose", source: "block.github.io/goose: config.yaml" },
];

/** Returns the paths of settings of editors, agents, shells and other programs in a workspace and in homes within it. */
export function configurationPaths(workspace: string, homes: readonly string[]): string[] {
  const inside = homes.filter((home) => isWithin(home, workspace));
  const named = [
    ...IN_WORKSPACE.map(({ path }) => join(workspace, path)),
    ...inside.flatMap((home) => IN_HOME.map(({ path }) => join(home, path))),
  ];
  const paths = named.flatMap((path) => (path.includes("*", workspace.length) ? matching(path) : [path]));
  // In a further workspace of Jujutsu, a file names the repository. Otherwise it is the repository, which `jj` writes to.
  const jujutsu = join(workspace, ".jj/repo");
  if (isFile(jujutsu)) paths.push(jujutsu);
  // The keeper examines entries of one folder together if they follow each other.
  return Object.values(Object.groupBy(paths, parentOf)).flatMap((entries) => entries ?? []);
}

/** Returns the existing files that a pattern matches. */
function matching(pattern: string): string[] {
  const folder = parentOf(pattern);
  const isMatch = matcher(pattern.slice(folder.length + 1));
  try {
    return readdirSync(folder)
      .filter(isMatch)
      .map((name) => join(folder, name));
  } catch {
    return []; // the folder does not exist
  }
}

function matcher(pattern: string): (name: string) => boolean {
  const [before = "", after] = pattern.split("*");
  if (after === undefined) return (name) => name === pattern;
  return (name) => name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

/** Returns the listed path that contains a path relative to a folder, compared by name only, or null. */
export function configurationPathOf(within: string): string | null {
  const names = within.split("/");
  for (const { path } of [...IN_WORKSPACE, ...IN_HOME]) {
    const listed = path.split("/");
    if (listed.every((name, index) => names[index] !== undefined && matcher(name)(names[index]))) {
      return names.slice(0, listed.length).join("/");
    }
  }
  return null;
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // a parent is a file
  }
}
