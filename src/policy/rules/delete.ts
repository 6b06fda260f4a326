import type { CommandFact } from "../../core/facts.ts";
import { isPersonal, isProtected, isVital } from "../path-classes.ts";
import type { Rule, RuleContext } from "../rule.ts";

const spanOf = (fact: CommandFact, test: (target: CommandFact["targets"][number]) => boolean) =>
  fact.targets.find((target) => target.effect === "delete" && test(target))?.span ?? null;

export const deleteVital: Rule = {
  id: "delete-vital",
  tier: "blocked",
  onlyTargets: true,
  message: "Deletes the root directory, a home directory or a system folder.",
  suggestion: "Delete only paths inside the workspace, and name each of them.",
  find: (fact: CommandFact, scene: RuleContext) => spanOf(fact, (target) => isVital(target, scene)),
  catches: [
    "rm -rf /",
    "rm -fr //",
    "rm --recursive --force /.",
    "rm -rf /*",
    "rm -rf ~",
    "rm -rf $HOME/..",
    "rm -rf /usr/../etc",
    "rm -rf /{etc,usr}",
    "rm -rf ~/*",
    "rm -rf ~root",
    "find / -delete",
    "find / -type f -exec rm -f {} +",
    "mv /home /tmp/x",
    "cd / && rm -rf *",
    "rsync -a --delete empty/ /",
    "git -C / clean -fdx",
    "rm -rf /[a-z]*",
    "X=/; rm -rf $X",
  ],
  passes: [
    "rm -rf build",
    "rm -rf ./*",
    "rm -rf /tmp/x",
    "rm -rf /tmp/*",
    "ls /",
    "find . -name '*.o' -delete",
    "rm -f a.txt",
    "git clean -fdx",
    "rm -rf ~/.cache/foo",
    "find / -name x",
    "mv a b",
    "rm -r node_modules dist",
  ],
};

export const deletePersonal: Rule = {
  id: "delete-personal",
  tier: "deny",
  onlyTargets: true,
  message: "Deletes a folder of the user's personal files or settings.",
  suggestion: "Ask the user to delete the folder.",
  find: (fact, scene) => spanOf(fact, (target) => target.recursive && isPersonal(target, scene)),
  catches: ["rm -rf ~/Documents", "rm -r ~/Desktop/*", "rm -rf ~/.config"],
  passes: ["rm -rf ~/.cache", "rm ~/Documents/a.txt", "ls ~/Documents"],
};

export const deleteProtected: Rule = {
  id: "delete-protected",
  tier: "deny",
  onlyTargets: true,
  message: "Deletes a file that belongs to the system or another user, holds credentials, or runs at startup.",
  suggestion: "Ask the user to delete the file, or work on a copy inside the workspace.",
  find: (fact, scene) => (fact.remote ? null : spanOf(fact, (target) => isProtected(target.path, scene))),
  catches: [
    "rm /etc/passwd",
    "rm -rf /etc/nginx",
    "rm ~/.bashrc",
    "unlink /usr/share/x/y",
    "rm -rf /var/lib/dpkg/info",
  ],
  passes: ["rm etc/passwd", "cat /etc/passwd", "rm -rf ./usr", "rm /tmp/etc"],
};
