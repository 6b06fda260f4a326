import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze, argvs, find, words } from "./world.ts";

/** Each text runs `x y` inside a wrapper. */
const TRANSPARENT = [
  "env x y",
  "env -i x y",
  "env A=1 B=2 x y",
  "env -u A -- x y",
  "env -S 'x y'",
  "env -iS 'A=1 x y'",
  "env --split-string='x y'",
  "env -C / x y",
  "/usr/bin/env x y",
  "env env x y",
  "command x y",
  "command -p -- x y",
  "builtin command x y",
  "exec x y",
  "exec -a n x y",
  "exec -cl x y",
  "nohup x y",
  "nice x y",
  "nice -n 5 x y",
  "nice -5 x y",
  "nice --adjustment=5 x y",
  "ionice -c 3 x y",
  "timeout 5 x y",
  "timeout -k 1 -s KILL 5 x y",
  "timeout --kill-after=1 5 x y",
  "timeout --kill 1 5 x y",
  "stdbuf -oL x y",
  "stdbuf -o L x y",
  "setsid x y",
  "setsid -f x y",
  "\\time x y",
  "\\time -f %e x y",
  "watch -n 1 x y",
  "watch -x x y",
  "taskset 1 x y",
  "taskset -c 0,1 x y",
  "chrt -f 1 x y",
  "setarch x86_64 -R x y",
  "strace -f -o f x y",
  "ltrace x y",
  "flock f x y",
  "flock -n f -c 'x y'",
  "script -c 'x y' f",
  "script -qc 'x y'",
  "unshare -r x y",
  "nsenter -t 1 -a x y",
  "chroot / x y",
  "sudo x y",
  "sudo -u me x y",
  "sudo -- x y",
  "sudo A=1 x y",
  "sudo -EH -u me env x y",
  "doas x y",
  "su -c 'x y'",
  "su me -c 'x y'",
  "runuser -u me x y",
  "pkexec x y",
  "systemd-run --user x y",
  "systemd-run -p A=b x y",
  "busybox x y",
  "toybox x y",
  "busybox sh -c 'x y'",
  "/lib64/ld-linux-x86-64.so.2 /bin/x y",
  "bash -c 'x y'",
  "bash -lc 'x y'",
  "bash -c -- 'x y'",
  "bash -o pipefail -c 'x y'",
  "bash --norc -c 'x y'",
  "bash -c 'x \"$1\"' n y",
  "bash -c '\"$@\"' n x y",
  "dash -c 'x y'",
  "zsh -c 'x y'",
  "bash <<< 'x y'",
  "bash <<'E'\nx y\nE",
  "cat <<'E' | bash\nx y\nE",
  "echo x y | sh",
  "printf '%s %s' x y | sh",
  "bash -s <<< 'x y'",
  "xargs x y < /dev/null",
  "xargs -n 1 -P 4 x y",
  "xargs -I {} x y",
  "echo y | xargs x",
  "echo x y | xargs -I% sh -c %",
  "find . -exec x y \\;",
  "find . -execdir x y +",
  "find . -ok x y ';'",
  "find a b -name c -exec x y {} +",
  "parallel x ::: y",
  "parallel 'x {}' ::: y",
  "ssh h x y",
  "ssh -p 2 -i k u@h 'x y'",
  "docker exec c x y",
  "docker exec -it -e A=1 c x y",
  "docker run --rm -v a:b img x y",
  "docker compose exec svc x y",
  "podman run img x y",
  "kubectl exec p -- x y",
  "kubectl exec -n ns p -c c -- x y",
  "git -c alias.z='!x y' z",
  "git -c core.pager='x y' log",
  "git rebase -x 'x y' m",
  "git bisect run x y",
  "git submodule foreach 'x y'",
  "git config alias.z '!x y'",
  "npx x y",
  "npm exec -- x y",
  "npm exec -c 'x y'",
  "pnpm dlx x y",
  "uv run x y",
  "poetry run x y",
  "bundle exec x y",
  "tar cf a b --checkpoint-action=exec='x y'",
  "tar xf a --to-command='x y'",
  "tar -I 'x y' -xf a",
  "rsync -e 'x y' a h:b",
  "ssh -o ProxyCommand='x y' h",
  "sort --compress-program='x y'",
  "split --filter='x y' f",
  "man -P 'x y' ls",
  "go test -exec 'x y'",
  "PAGER='x y' git log",
  "PROMPT_COMMAND='x y' bash -i",
  "export EDITOR='x y'",
  "tmux new -d 'x y'",
  "at now <<< 'x y'",
  "eval x y",
  "eval 'x' y",
  "trap 'x y' INT",
  "alias z='x y'",
  "source /dev/stdin <<< 'x y'",
  "env nice timeout 5 nohup setsid x y",
  "sudo env A=1 bash -c 'nice x y'",
];

for (const text of TRANSPARENT) {
  test(`finds x y inside ${JSON.stringify(text)}`, () => {
    const found = analyze(text).commands.filter((fact) => fact.executable.name === "x");
    assert.ok(
      found.some((fact) => words(fact)[1] === "y" && fact.via.length > 0),
      JSON.stringify(argvs(text)),
    );
  });
}

test("lists wrappers, outermost first", () => {
  assert.deepEqual(find("sudo env A=1 bash -c 'nice x'", "x").via, ["sudo", "env", "bash", "nice"]);
});

test("commands on other machines and in containers are marked as remote", () => {
  for (const text of ["ssh h x", "docker exec c x", "kubectl exec p -- x", "ssh h 'sudo x'"])
    assert.equal(find(text, "x").remote, true, text);
  assert.equal(find("env x", "x").remote, false);
});

test("assignments apply to the command they precede", () => {
  assert.deepEqual(
    find("A=1 env B=2 x", "x").assignments.map(({ name, value }) => [name, value.value]),
    [
      ["A", "1"],
      ["B", "2"],
    ],
  );
});

const ASKS_ONLY = [
  "command -v x",
  "command -V x",
  "type x",
  "taskset -p 1",
  "ionice -p 1",
  "env",
  "sudo",
  "xargs",
  "bash --version",
];
for (const text of ASKS_ONLY)
  test(`finds no inner command in ${text}`, () =>
    assert.ok(!argvs(text).some(([name]) => name === "x" || name === "1")));

const OPAQUE: [string, string][] = [
  ["python3 -c x", "python3"],
  ["python -c x", "python"],
  ["node -e x", "node"],
  ["node -pe x", "node"],
  ["perl -e x", "perl"],
  ["perl -ne x f", "perl"],
  ["ruby -e x", "ruby"],
  ["php -r x", "php"],
  ["lua -e x", "lua"],
  ["awk 'BEGIN{system(1)}'", "awk"],
  ["sed '1e id'", "sed"],
  ["sed s/a/b/e", "sed"],
  ["sqlite3 f .shell", "sqlite"],
  ["echo x | python3", "python3"],
  ["python3 <<< x", "python3"],
  ["vim -c ':!id'", "vim"],
  ["make --eval=x", "make"],
  ["deno eval x", "deno"],
  ["m4 <<< x", "m4"],
];
for (const [text, language] of OPAQUE) {
  test(`cannot analyze ${text}`, () => {
    const { commands, analyzable } = analyze(text);
    assert.ok(
      commands.some((fact) => fact.opaque === language),
      JSON.stringify(commands.map((fact) => fact.opaque)),
    );
    assert.equal(analyzable, false);
  });
}

const PLAIN_PROGRAMS = [
  "awk '{print $1}' f",
  "awk -F: '$3 > 5 || /x/ {print $1}' f",
  "sed -n 1,5p f",
  "sed 's/e/w/g' f",
  "sed -e /a/d -e s/b/c/ f",
  "python3 x.py",
  "node x.js",
  "make all",
  "sqlite3 f 'select 1'",
  "vim f",
  "perl x.pl",
  "python3 -m pytest",
];
for (const text of PLAIN_PROGRAMS)
  test(`can analyze ${text}`, () =>
    assert.equal(analyze(text).analyzable, true, JSON.stringify(analyze(text).unknowns)));
