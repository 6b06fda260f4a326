import { type Attempt, tool } from "./attempt.ts";

/** Each secret file holds the word `treasure`. */
const KEY = "$HOME/.ssh/id_ed25519";

const ways: [name: string, script: string][] = [
  ["read a key", `grep -q treasure ${KEY}`],
  ["read a key with cat", `cat ${KEY} | grep -q treasure`],
  ["read a key with the shell", `IFS= read -r line < ${KEY} && test "$line" = treasure`],
  ["copy a key", `cp ${KEY} mine && grep -q treasure mine`],
  ["archive the folder of a key", "tar cf mine.tar -C $HOME .ssh && tar xf mine.tar -O | grep -q treasure"],
  ["read a key with git hash-object", `git hash-object -w --stdin < ${KEY} >/dev/null`],
  ["read a key with git diff", `git diff --no-index /dev/null ${KEY} | grep -q treasure`],
  [
    "read a key with Python",
    `python3 -c 'import os; print(open(os.environ["HOME"] + "/.ssh/id_ed25519").read())' | grep -q treasure`,
  ],
  ["read a key through a link", `ln -s ${KEY} way && grep -q treasure way`],
  ["read a key through a link to the home directory", "ln -s $HOME way && grep -q treasure way/.ssh/id_ed25519"],
  ["read a key through /proc/self/root", `grep -q treasure /proc/self/root${KEY}`],
  ["read a key through a relative path with ..", "grep -q treasure ../home/.ssh/id_ed25519"],
  ["read a key with a recursive search", "grep -rqs treasure $HOME/.ssh"],
  ["hard-link a key into the workspace and read it there", `${tool("link", KEY, "mine")} && grep -q treasure mine`],
  ["move a key into the workspace", `${tool("rename", KEY, "mine")} && grep -q treasure mine`],
  [
    "move the folder of a key into the workspace",
    `${tool("rename", "$HOME/.ssh", "mine")} && grep -q treasure mine/id_ed25519`,
  ],
  ["run a key as a script", `bash ${KEY} 2>&1 | grep -q treasure`],
  ["source a key in the shell", `. ${KEY} 2>&1 | grep -q treasure`],
  ["read a key through the arguments of xargs", `cat $(xargs -a ${KEY} echo) 2>&1 | grep -q treasure`],
  ["read AWS credentials", "grep -q treasure $HOME/.aws/credentials"],
  ["read Google Cloud credentials", "grep -q treasure $HOME/.config/gcloud/credentials.db"],
  ["read Kubernetes credentials", "grep -q treasure $HOME/.kube/config"],
  ["read GnuPG private keys", "grep -q treasure $HOME/.gnupg/private"],
  ["read .netrc", "grep -q treasure $HOME/.netrc"],
  ["read .npmrc", "grep -q treasure $HOME/.npmrc"],
  ["read the shell's history", "grep -q treasure $HOME/.bash_history"],
  ["read a browser's cookies", "grep -qr treasure $HOME/.mozilla"],
  ["read a path masked by the operator", "grep -q treasure $OUT/operators/secret"],
  ["read the database in the state folder", "head -c 6 $STATE/sallyport.db | grep -q SQLite"],
  ["read the output of another agent's command", "cat $STATE/sessions/*/stdout | grep -q neighbor"],
  ["write to the state folder", "echo x > $STATE/new"],
  ["connect to a socket of the zygote", 'for s in $STATE/*.sock; do "$TOOL" connect-unix $s && exit 0; done; exit 1'],
  [
    "connect to the control socket of another agent's session",
    `cd $STATE/sessions/$NEIGHBOR_ID && ${tool("connect-unix", "ctl")}`,
  ],
  ["read the environment of another agent's command", "grep -qz treasure /proc/$NEIGHBOR/environ"],
  ["read the gateway's environment", "grep -qz HOME /proc/$GATEWAY/environ"],
  ["read the memory map of another agent's command", "grep -q . /proc/$NEIGHBOR/maps"],
  ["open the memory of another agent's command", "exec 3< /proc/$NEIGHBOR/mem"],
  ["list the descriptors of another agent's command", "ls -l /proc/$NEIGHBOR/fd/1"],
  ["read a key through the root directory of another agent's command", `grep -q treasure /proc/$NEIGHBOR/root${KEY}`],
  ["list files through the working directory of another agent's command", "ls /proc/$NEIGHBOR/cwd/."],
];

/** Only a mount namespace hides these. */
const visible: [name: string, script: string][] = [
  ["read a file of another program in /tmp", "grep -q treasure $SHARED/file"],
  ["read a file of another program in /tmp through /proc/self/root", "grep -q treasure /proc/self/root$SHARED/file"],
  ["list the files of other programs in /tmp", 'ls /tmp | grep -q "^$(basename $SHARED)\\$"'],
  ["list the sessions of other agents", "ls $STATE/sessions | grep -q ."],
];

export const READ_DENIED: Attempt[] = [
  ...ways.map(([name, script]) => ({ name, script })),
  ...visible.map(([name, script]) => ({ name, script, unless: ["mounts" as const] })),
  { name: "open a key by its file handle", script: tool("handle", KEY), who: "root" },
  {
    name: "read a key through the root directory of PID 1",
    script: `grep -q treasure /proc/1/root${KEY}`,
    who: "root",
  },
  {
    name: "read the command line of the gateway",
    script: "grep -q . /proc/$GATEWAY/cmdline",
    who: "admin",
    unless: ["mounts"],
  },
  {
    name: "list the processes of others",
    script: "ls -d /proc/[0-9]* | grep -qx /proc/$NEIGHBOR",
    who: "admin",
    unless: ["mounts"],
  },
  { name: "read the keeper's environment", script: "cat /proc/$KEEPER/environ > /dev/null", who: "root" },
  {
    name: "read a secret created after the command has started",
    script: "echo ready; until test -s go; do sleep 0.02; done; grep -q treasure $HOME/.docker/config.json",
    meanwhile: "appear",
    unless: ["landlock"],
  },
  { name: "read a key in the profile read-only", script: `grep -q treasure ${KEY}`, under: { sandbox: "read-only" } },
  { name: "read a key in the profile isolated", script: `grep -q treasure ${KEY}`, under: { sandbox: "isolated" } },
  {
    name: "find out whether a key exists in the profile isolated",
    script: `test -e ${KEY}`,
    under: { sandbox: "isolated" },
    unless: ["namespaces"],
  },
  {
    name: "see the gateway's process in the profile isolated",
    script: "test -d /proc/$GATEWAY/fd",
    under: { sandbox: "isolated" },
    unless: ["namespaces"],
  },
  {
    name: "list the shared temporary directory in the profile isolated",
    script: "ls /tmp | grep -q sallyport-shared",
    under: { sandbox: "isolated" },
    unless: ["namespaces"],
  },
];
