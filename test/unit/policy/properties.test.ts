import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteWord } from "../../../src/shell/quote.ts";
import { checkCommand, isStopped } from "./world.ts";

const DANGEROUS = [
  "rm -rf /",
  "rm -rf ~",
  "sudo id",
  "reboot",
  "mkfs.ext4 /dev/sda1",
  "dd if=/dev/zero of=/dev/sda",
  "chmod -R 777 /",
  "iptables -F",
  "echo x > /etc/passwd",
  "find / -delete",
  "shutdown -h now",
  "tee -a ~/.ssh/authorized_keys",
];

/** Returns a deterministic pseudorandom generator. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WRAPPERS: ((command: string) => string)[] = [
  (command) => `  ${command}  `,
  (command) => `true; ${command}`,
  (command) => `ls && ${command}`,
  (command) => `false || ${command}`,
  (command) => `(${command})`,
  (command) => `{ ${command}; }`,
  (command) => `if true; then ${command}; fi`,
  (command) => `while true; do ${command}; done`,
  (command) => `for i in 1; do ${command}; done`,
  (command) => `case a in *) ${command};; esac`,
  (command) => `f() { ${command}; }; f`,
  (command) => `echo $(${command})`,
  (command) => `echo "$(${command})"`,
  (command) => `cat <(${command})`,
  (command) => `x=$(${command})`,
  (command) => `! ${command}`,
  (command) => `time ${command}`,
  (command) => `coproc { ${command}; }`,
  (command) => `${command} &`,
  (command) => `${command} | cat`,
  (command) => `bash -c ${quoteWord(command)}`,
  (command) => `sh -c ${quoteWord(command)}`,
  (command) => `eval ${quoteWord(command)}`,
  (command) => `trap ${quoteWord(command)} EXIT`,
  (command) => `bash <<'END'\n${command}\nEND`,
  (command) => `bash <<< ${quoteWord(command)}`,
  (command) => `echo ${quoteWord(command)} | bash`,
  (command) => `timeout 5 bash -c ${quoteWord(command)}`,
  (command) => `env -i A=1 bash -c ${quoteWord(command)}`,
  (command) => `nice -n 5 nohup sh -c ${quoteWord(command)}`,
  (command) => `find . -exec sh -c ${quoteWord(command)} \\;`,
  (command) => `ls # a comment\n${command}`,
  (command) => `ls \\\n&& ${command}`,
];

test("up to three wrappers around a dangerous command do not change its verdict", () => {
  const pick = random(7);
  for (const command of DANGEROUS) {
    for (const wrap of WRAPPERS) assert.ok(isStopped(checkCommand(wrap(command))), wrap(command));
    for (let round = 0; round < 60; round++) {
      const depth = 2 + pick(2);
      let text = command;
      // A here-document cannot be placed inside one line of another command.
      for (let i = 0; i < depth; i++) {
        const wrap = WRAPPERS[pick(WRAPPERS.length)] as (typeof WRAPPERS)[number];
        const next = wrap(text);
        if (!/\n/.test(text) || !/\$\(|<\(|\||#|&$/.test(next)) text = next;
      }
      const verdict = checkCommand(text);
      assert.ok(isStopped(verdict) || !verdict.analyzable, text);
    }
  }
});

const SPELLINGS: ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => (/["$`\\~]/.test(word) ? word : `"${word}"`),
  (word) => (/^[a-z]/.test(word) ? `\\${word}` : word),
  (word) => (word.length > 1 && !/[~>]/.test(word) ? `${word[0]}''${word.slice(1)}` : word),
  (word) => (word.length > 1 && !/[~>]/.test(word) ? `${word[0]}\\\n${word.slice(1)}` : word),
  (word) =>
    /^[\w/.-]+$/.test(word) ? `$'${[...word].map((char) => `\\x${char.charCodeAt(0).toString(16)}`).join("")}'` : word,
];

test("quoting and spacing of a dangerous command do not change its verdict", () => {
  const pick = random(11);
  for (const command of DANGEROUS) {
    for (let round = 0; round < 80; round++) {
      const words = command.split(" ").map((word) => {
        const spell = SPELLINGS[pick(SPELLINGS.length)] as (typeof SPELLINGS)[number];
        return word === ">" || word.startsWith("~") ? word : spell(word);
      });
      const text = words.join([" ", "  ", "\t", " \\\n "][pick(4)]);
      assert.ok(isStopped(checkCommand(text)), JSON.stringify(text));
    }
  }
});

const AS_DATA: ((command: string) => string)[] = [
  (command) => `echo ${quoteWord(command)}`,
  (command) => `printf '%s\\n' ${quoteWord(command)}`,
  (command) => `grep -rn ${quoteWord(command)} src`,
  (command) => `git commit -m ${quoteWord(command)}`,
  (command) => `ls # ${command}`,
  (command) => `: ${quoteWord(command)}`,
  (command) => `cat > notes.md <<'END'\n${command}\nEND`,
  (command) => `msg=${quoteWord(command)}`,
  (command) => `export MSG=${quoteWord(command)}`,
  (command) => `test ${quoteWord(command)} = x`,
  (command) => `[[ $x == ${quoteWord(command)} ]]`,
  (command) => `case $x in ${quoteWord(command)}) echo y;; esac`,
  (command) => `gh issue create --title ${quoteWord(command)}`,
  (command) => `for x in ${quoteWord(command)}; do echo "$x"; done`,
];

test("a dangerous command as data is not denied", () => {
  for (const command of DANGEROUS) {
    for (const mention of AS_DATA) {
      const verdict = checkCommand(mention(command));
      assert.ok(!isStopped(verdict), `${mention(command)}: ${JSON.stringify(verdict.reasons)}`);
      assert.ok(verdict.analyzable, mention(command));
    }
  }
});

test("an argument vector is not expanded, but commands inside it are found", () => {
  assert.equal(checkCommand(["echo", "$(rm -rf /)", ";", "rm", "-rf", "/"]).verdict, "allow");
  assert.equal(checkCommand(["rm", "-rf", "*"]).verdict, "allow");
  assert.equal(checkCommand(["rm", "-rf", "~"]).verdict, "allow");
  for (const argv of [
    ["rm", "-rf", "/"],
    ["env", "A=1", "rm", "-rf", "/"],
    ["bash", "-c", "cd / && rm -rf *"],
    ["sudo", "id"],
  ]) {
    assert.ok(isStopped(checkCommand(argv)), argv.join(" "));
  }
});
