/** Common tasks that must work in the sandbox, as bash text that exits with 0 on success. */
export interface Job {
  name: string;
  /** Programs that the task requires. Without them it is skipped. */
  needs: string[];
  script: string;
}

const GIT = "git -c user.name=x -c user.email=x@example.org";

export const JOBS: Job[] = [
  {
    name: "git, from the first commit to a merge",
    needs: ["git"],
    script: `git init -q -b main . && echo one > a && git add a && ${GIT} commit -qm one
git checkout -q -b side && echo two > b && git add b && ${GIT} commit -qm two && git checkout -q main
echo dirty >> a && ${GIT} stash -q && git diff --quiet && ${GIT} stash pop -q && ! git diff --quiet
git checkout -q -- a && ${GIT} merge -q --no-ff -m merged side && ${GIT} tag -a v1 -m v1 && git gc -q && git fsck
test "$(git log --oneline | wc -l)" = 3`,
  },
  {
    name: "git in an existing repository",
    needs: ["git"],
    script: `cd repository && echo more > c && git add c && ${GIT} commit -qm c && git checkout -q -b other
git checkout -q - && echo dirty >> c && ${GIT} stash -q && ${GIT} stash pop -q && git status --short | grep -q c
git clone -q . ../copy && cd ../copy && ${GIT} commit -q --allow-empty -m empty && git push -q origin HEAD:refs/heads/new`,
  },
  {
    name: "npm to install a package from a folder and run its program",
    needs: ["npm"],
    script: `mkdir dep app && cd dep && printf '#!/usr/bin/env node\\nconsole.log("works")\\n' > cli.js && chmod +x cli.js
echo '{"name":"dep","version":"1.0.0","bin":{"dep":"cli.js"}}' > package.json && npm pack --silent && cd ../app
echo '{"name":"app","version":"1.0.0","scripts":{"start":"dep"}}' > package.json
npm install --silent --offline --no-audit --no-fund ../dep/dep-1.0.0.tgz && npm start --silent | grep -q works && npm ci --silent --offline --no-audit`,
  },
  {
    name: "make to build and run a C program",
    needs: ["make", "cc"],
    script: `printf '#include <stdio.h>\\nint main(void) { puts("works"); return 0; }\\n' > m.c
printf 'm: m.o\\n\\tcc m.o -o m\\nm.o: m.c\\n\\tcc -c m.c -o m.o\\n' > Makefile && make -j2 -s && ./m | grep -q works && make -q`,
  },
  {
    name: "a Python virtual environment with child processes and locks",
    needs: ["python3"],
    script: `python3 -m venv --without-pip v && v/bin/python -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)'
cat > p.py <<'P'
import multiprocessing, tempfile
def double(x): return 2 * x
if __name__ == "__main__":
    with tempfile.NamedTemporaryFile() as f: f.write(b"x")
    with multiprocessing.Pool(2) as pool: assert pool.map(double, [1, 2]) == [2, 4]
    multiprocessing.Lock().acquire()
P
v/bin/python p.py`,
  },
  {
    name: "a test runner",
    needs: ["node"],
    script: `printf 'const { test } = require("node:test"); test("works", () => {});\\n' > a.test.js && node --test a.test.js`,
  },
  {
    name: "a development server on loopback",
    needs: ["node"],
    script: `cat > s.mjs <<'J'
import { createServer } from "node:http";
const server = createServer((_, answer) => answer.end("works")).listen(0, "127.0.0.1", async () => {
  const answer = await fetch("http://127.0.0.1:" + server.address().port);
  process.exit((await answer.text()) === "works" ? 0 : 1);
});
J
node s.mjs`,
  },
  {
    name: "SQLite with a write-ahead log",
    needs: ["python3"],
    script: `python3 - <<'P'
import sqlite3
a = sqlite3.connect("d.db"); a.execute("pragma journal_mode=wal"); a.execute("create table t (x)"); a.execute("insert into t values (1)"); a.commit()
b = sqlite3.connect("d.db"); assert b.execute("select x from t").fetchall() == [(1,)]
P`,
  },
  {
    name: "a tmux server",
    needs: ["tmux"],
    script: `SHELL=/bin/sh tmux -L inside -f /dev/null new-session -d -x 80 -y 24 'echo works > said; sleep 60' || exit 1
for i in $(seq 200); do test -s said && break; sleep 0.05; done; grep -q works said; found=$?; tmux -L inside kill-server; exit $found`,
  },
  {
    name: "temporary files, here-documents and sorting on disk",
    needs: ["sort"],
    script: `f=$(mktemp) && d=$(mktemp -d) && echo x > "$d/x" && cat <<< works > "$f" && grep -q works "$f"
seq 50000 | sort -R -S 64K | sort -n -S 64K | tail -1 | grep -qx 50000 && rm -r "$f" "$d"`,
  },
  {
    name: "child processes with jobs, signals, pipes and limits",
    needs: ["timeout"],
    script: `sleep 60 & kill %1; wait $! || test $? = 143
timeout 0.1 sleep 60 || test $? = 124
(ulimit -n 64; exec 3< /dev/null) && yes | head -1 > /dev/null && setsid true && nohup true && nice true`,
  },
  {
    name: "a debugger that starts its program",
    needs: ["gdb"],
    script: "gdb -batch -ex run -ex quit /bin/true | grep -q 'exited normally'",
  },
  {
    name: "strace with a program that it starts",
    needs: ["strace"],
    script: "strace -o t /bin/true && grep -q exit t",
  },
  {
    name: "a program that opens a terminal",
    needs: ["script"],
    script: "script -qec 'tty && stty size' /dev/null | grep -q /dev/pts",
  },
  {
    name: "archives, modes, times and links in the workspace",
    needs: ["tar", "gzip"],
    script: `mkdir d && echo x > d/f && chmod 640 d/f && touch -d 2001-01-01 d/f && ln d/f d/g && ln -s f d/h && mkfifo d/p
tar czf d.tgz d && mkdir e && tar xzf d.tgz -C e && test "$(stat -c '%a %Y' e/d/f)" = "$(stat -c '%a %Y' d/f)" && mv e/d/f d/moved && rm -r e`,
  },
  {
    name: "reading system files and programs",
    needs: ["ps"],
    script:
      "ls / /usr/bin > /dev/null && cat /etc/passwd > /dev/null && ps -e > /dev/null && df . > /dev/null && id && uname -a && date && getent hosts localhost",
  },
  {
    name: "an editor that saves a file",
    needs: ["vim"],
    script: "echo one > f && vim -u NONE -es -c '%s/one/two/' -c wq f < /dev/null; grep -q two f",
  },
];
