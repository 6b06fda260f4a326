import assert from "node:assert/strict";
import { test } from "node:test";
import { isSecretName } from "../../../src/text/secret-patterns.ts";
import { maskArgs, maskData, maskEnv, maskText } from "../../../src/text/secrets.ts";
import { cpuMs } from "./cpu-time.ts";

const LONG = "Ab1".repeat(16);

/** Texts and their masked form. The secret is hunter2 unless its format matters. */
const MASKED: [string, string][] = [
  // Variables, recognized by name.
  ["GITHUB_TOKEN=hunter2 gh pr list", "GITHUB_TOKEN=••• gh pr list"],
  ["export API_TOKEN=hunter2", "export API_TOKEN=•••"],
  ["CLIENT_SECRET='hunter2 with spaces' make", "CLIENT_SECRET='•••' make"],
  ['env OPENAI_API_KEY="hunter2" python x.py', 'env OPENAI_API_KEY="•••" python x.py'],
  ["DB_PASSWORD=hunter2;make", "DB_PASSWORD=•••;make"],
  ["PGPASSWORD=hunter2 psql", "PGPASSWORD=••• psql"],
  ["MYSQL_PWD=hunter2 mysql", "MYSQL_PWD=••• mysql"],
  ["SMTP_PASS=hunter2", "SMTP_PASS=•••"],
  ["SSHPASS=hunter2 sshpass -e ssh x", "SSHPASS=••• sshpass -e ssh x"],
  ["GOOGLE_CREDENTIALS=hunter2|cat", "GOOGLE_CREDENTIALS=•••|cat"],
  ["SIGNING_KEY=hunter2 x", "SIGNING_KEY=••• x"],
  ["AUTH_HEADER=hunter2 x", "AUTH_HEADER=••• x"],
  ["API_KEY_2=hunter2", "API_KEY_2=•••"],
  ["docker run -e DB_PASSWORD=hunter2 db", "docker run -e DB_PASSWORD=••• db"],
  ["TOKEN=$'hunter2\\n' x", "TOKEN=$'•••' x"],
  ["TOKEN=hunter\\ 2 x", "TOKEN=••• x"],
  ['TOKEN="hunter\\"2" x', 'TOKEN="•••" x'],
  ["PASSWORD='hunter'\\''s 2' x", "PASSWORD='•••' x"],
  ["PASSWORD='hunter'2 x", "PASSWORD=••• x"],
  ['--password "hunter""2" x', '--password "•••" x'],
  ["bash -c 'TOKEN=\"hunter2\"' && echo 'x'", "bash -c 'TOKEN=\"•••\"' && echo 'x'"],
  ["TOKEN='hunter2 and never closed", "TOKEN=•••"],
  [
    "kubectl create secret generic x --from-literal=password=hunter2",
    "kubectl create secret generic x --from-literal=password=•••",
  ],
  ["TOKEN=$(curl -u me:hunter2 x)", "TOKEN=$(curl -u me:••• x)"],
  // Options.
  ["tool --password hunter2 --verbose", "tool --password ••• --verbose"],
  ["tool --token=hunter2 --verbose", "tool --token=••• --verbose"],
  ["tool --api-key 'hunter2'", "tool --api-key '•••'"],
  ["tool --client-secret=hunter2", "tool --client-secret=•••"],
  ["keytool -storepass hunter2 -list", "keytool -storepass ••• -list"],
  ["openssl enc -pass pass:hunter2", "openssl enc -pass •••"],
  ["curl -u me:hunter2 https://example.org", "curl -u me:••• https://example.org"],
  ["curl --user 'me:hunter2' x", "curl --user 'me:•••' x"],
  ["mysql -u root -phunter2 db", "mysql -u root -p••• db"],
  ["/usr/bin/mysqldump -p'hunter2' db", "/usr/bin/mysqldump -p'•••' db"],
  ["sshpass -p hunter2 ssh host", "sshpass -p ••• ssh host"],
  ["docker login -u me -p hunter2 registry", "docker login -u me -p ••• registry"],
  ["redis-cli -h x -a hunter2 ping", "redis-cli -h x -a ••• ping"],
  ["aws configure set aws_secret_access_key hunter2", "aws configure set aws_secret_access_key •••"],
  ["npm config set //registry.npmjs.org/:_authToken hunter2", "npm config set //registry.npmjs.org/:_authToken •••"],
  ['echo "machine x login me password hunter2" > .netrc', 'echo "machine x login me password •••" > .netrc'],
  ["curl -sS -b 'sid=hunter2' https://example.org", "curl -sS -b '•••' https://example.org"],
  // Headers and JSON.
  ["curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: Bearer •••' x"],
  ['curl -H "authorization: Basic aHVudGVyMg==" x', 'curl -H "authorization: Basic •••" x'],
  ["curl -H 'Authorization: Digest a=1, b=2' x", "curl -H 'Authorization: •••' x"],
  ["curl -H 'X-Api-Key: hunter2' x", "curl -H 'X-Api-Key: •••' x"],
  ["curl -H 'Cookie: a=1; sid=hunter2' x", "curl -H 'Cookie: •••' x"],
  ["curl -H 'PRIVATE-TOKEN:hunter2' x", "curl -H 'PRIVATE-TOKEN:•••' x"],
  [`curl -d '{"user":"me","password":"hunter2"}' x`, `curl -d '{"user":"me","password":"•••"}' x`],
  [`curl -d "{\\"apiKey\\": \\"hunter2\\"}" x`, `curl -d "{\\"apiKey\\": \\"•••\\"}" x`],
  [`{'access_token': 'hunter2'}`, `{'access_token': '•••'}`],
  ['{"pin_secret":12345,"n":1}', '{"pin_secret":•••,"n":1}'],
  ["cat > x <<E\nuser: me\n  password: hunter2\nE", "cat > x <<E\nuser: me\n  password: •••\nE"],
  // Addresses.
  ["git clone https://me:hunter2@example.org/x.git", "git clone https://me:•••@example.org/x.git"],
  ["psql postgres://me:hun@ter2@db:5432/x?y=1", "psql postgres://me:•••@db:5432/x?y=1"],
  ["curl 'https://x.org/?access_token=hunter2&page=2'", "curl 'https://x.org/?access_token=•••&page=2'"],
  [`git clone https://${LONG}@example.org/x`, "git clone https://•••@example.org/x"],
  ["curl https://hooks.slack.com/services/T0/B0/hunter2", "curl https://hooks.slack.com/services/•••"],
  // Known formats.
  [`echo ghp_${LONG}`, "echo •••"],
  [`echo github_pat_${LONG}_x`, "echo •••"],
  [`echo glpat-${LONG}`, "echo •••"],
  [`echo sk-${LONG}`, "echo •••"],
  ["echo sk-ant-api-abcdefghijkl", "echo •••"],
  [`echo sk_live_${LONG}`, "echo •••"],
  ["slack xoxb-1234567890-abcdef", "slack •••"],
  ["aws AKIAIOSFODNN7EXAMPLE x", "aws ••• x"],
  [`gcp AIza${"Ab1_-".repeat(7)} x`, "gcp ••• x"],
  [`npm_${LONG.slice(0, 36)} x`, "••• x"],
  [`hf_${LONG} x`, "••• x"],
  ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl x", "jwt ••• x"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", "•••\nrest"],
  ["-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "•••"],
];

const HARMLESS = [
  "",
  "ls -l /tmp",
  "git commit -m 'Rotate the token and the password'",
  "grep -rn password src/",
  "git config set user.name me && git config set credential.helper store",
  "echo please log in, then change your password here",
  "ls -b && od -b file",
  "grep TOKEN= .env.example",
  "echo $GITHUB_TOKEN",
  "GITHUB_TOKEN=$OTHER_TOKEN gh",
  'API_KEY="$\u007bAPI_KEY}" make',
  "GITHUB_TOKEN= gh",
  "TOKEN=$(cat token.txt) run",
  "TOKEN=`cat token.txt` run",
  "USE_AUTH=true REQUIRE_PASSWORD=false x",
  "GIT_AUTHOR_NAME=me GIT_AUTHOR_EMAIL=me@example.org git commit",
  "SSH_AUTH_SOCK=/run/agent ssh x",
  "PWD=/home/me OLDPWD=/tmp pwd",
  "MAX_TOKENS=100 TOKENIZERS_PARALLELISM=4 python x.py",
  "MONKEY=1 KEYBOARD=us SECRETARY=bob x",
  "GIT_CONFIG_KEY_0=core.pager git log",
  "PUBLIC_KEY=abc PRIMARY_KEY=id SORT_KEY=name x",
  "DB_PASSWORD_FILE=/run/secrets/db x",
  "docker login --password-stdin registry.example.org",
  "git -c credential.helper=store push",
  "psql --no-password db",
  "ssh -i ~/.ssh/id_ed25519 me@example.org",
  "git clone git@github.com:a/b.git",
  "git clone https://me@bitbucket.org/a/b",
  "curl https://example.org:8080/a@b",
  "docker run -u 1000:1000 -p 8080:80 -e A=b x",
  "mkdir -p a/b && cp -p x y && ssh -p 22 host",
  "mysql -p && mkdir -p folder",
  "mysql -u root -p db",
  "ffmpeg -i a -pass 1 b",
  "sort -u file && date -u +%s",
  "curl -u me https://example.org",
  "apt-key add x.asc",
  "pip install scikit-learn sk-learn-extra",
  "class=sk-fading-circle-container-large",
  "task-0123456789012345678901234567890",
  "echo AKIA and ASIA and AKIAIOSFODNN7EXAMPLEANDMORE",
  "xoxo-love",
  "eyJustAName.txt",
  "the password: must be long",
  '{"tokens": 12, "key": "value", "author": "me"}',
  'if [ "$token" == "x" ]; then token==1; fi',
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
  "openssl genrsa -out key.pem 2048",
];

for (const [text, expected] of MASKED) {
  test(`masks the secrets in ${JSON.stringify(text)}`, () => {
    assert.equal(maskText(text), expected);
    assert.equal(maskText(expected), expected, "masking again changes nothing");
  });
}

for (const text of HARMLESS) test(`leaves ${JSON.stringify(text)} unchanged`, () => assert.equal(maskText(text), text));

const ARGS: [string[], string[]][] = [
  [
    ["tool", "--password", "two words; and more"],
    ["tool", "--password", "•••"],
  ],
  [
    ["tool", "--password=two words"],
    ["tool", "--password=•••"],
  ],
  [
    ["env", "API_KEY=two words", "x"],
    ["env", "API_KEY=•••", "x"],
  ],
  [
    ["curl", "-H", "Authorization: Bearer a'b\"c"],
    ["curl", "-H", "Authorization: Bearer •••"],
  ],
  [
    ["curl", "-H", "X-Auth-Token: a b"],
    ["curl", "-H", "X-Auth-Token: •••"],
  ],
  [
    ["curl", "-u", "me:a b"],
    ["curl", "-u", "me:•••"],
  ],
  [
    ["mysql", "-pa b", "db"],
    ["mysql", "-p•••", "db"],
  ],
  [
    ["sshpass", "-p", "a b", "ssh"],
    ["sshpass", "-p", "•••", "ssh"],
  ],
  [
    ["docker", "login", "-p", "a b"],
    ["docker", "login", "-p", "•••"],
  ],
  [
    ["bash", "-c", "TOKEN=hunter2 x"],
    ["bash", "-c", "TOKEN=••• x"],
  ],
  [
    ["tool", "--token", "--verbose"],
    ["tool", "--token", "--verbose"],
  ],
  [
    ["tool", "--token", "$TOKEN", "--auth", "true"],
    ["tool", "--token", "$TOKEN", "--auth", "true"],
  ],
  [
    ["docker", "run", "-u", "1000:1000", "-p", "80:80"],
    ["docker", "run", "-u", "1000:1000", "-p", "80:80"],
  ],
  [
    ["mkdir", "-p", "a b"],
    ["mkdir", "-p", "a b"],
  ],
  [
    ["git", "commit", "-m", "password: a reminder"],
    ["git", "commit", "-m", "password: a reminder"],
  ],
  [[], []],
];

for (const [argv, expected] of ARGS)
  test(`masks the secrets in the arguments ${JSON.stringify(argv)}`, () => assert.deepEqual(maskArgs(argv), expected));

test("masks secret values of an environment and keeps the others", () => {
  const env = { HOME: "/root", GITHUB_TOKEN: "hunter2", EMPTY_TOKEN: "", URL: "https://me:hunter2@x.org", apiKey: "x" };
  assert.deepEqual(maskEnv(env), {
    HOME: "/root",
    GITHUB_TOKEN: "•••",
    EMPTY_TOKEN: "",
    URL: "https://me:•••@x.org",
    apiKey: "•••",
  });
});

test("masks data by key and format, arguments by their command, and a key named __proto__", () => {
  const data = JSON.parse('{"__proto__":{"token":"hunter2"},"list":[1,null,{"secret":"hunter2"}],"date":"2026"}');
  const masked = JSON.stringify(maskData({ ...data, command: "mysql", args: ["-phunter2"], at: new Date(0) }));
  assert.equal(
    masked,
    '{"__proto__":{"token":"•••"},"list":[1,null,{"secret":"•••"}],"date":"2026","command":"mysql","args":["-p•••"],"at":"1970-01-01T00:00:00.000Z"}',
  );
  assert.equal(maskData(null), null);
  assert.equal(maskData(7), 7);
});

test("recognizes secret names in any spelling", () => {
  for (const name of ["accessToken", "x-api-key", "AWS_SECRET_ACCESS_KEY", "db.password", "client_secret", "jwt"])
    assert.ok(isSecretName(name), name);
  for (const name of ["key", "tokens", "author", "passenger", "keyboard", "monkey", "authors", "secretary", "bypass"])
    assert.ok(!isSecretName(name), name);
});

test("masks malicious text in linear time", () => {
  const pieces = [
    "a",
    "a.",
    "a://",
    "sk-",
    "token=",
    "-u ",
    '-u "',
    "eyJaaaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "\\",
    '"token"',
    "mysql -p ",
    "password: ",
    "\npassword:",
    "a@",
    "://a@",
    "TOKEN='",
    'TOKEN="\\',
    "A_",
    "--password ",
    "Authorization: ",
    "$(",
    "SG.aaaaaaaaaaaaaaaa.",
    "AGE-",
    "ya29.",
    " ",
    "\n",
    "TOKEN=\\",
    "TOKEN='a'",
    "'a",
  ];
  const timeOf = (text: string) => cpuMs(() => maskText(text));
  for (const piece of pieces) {
    for (const text of [piece.repeat(200_000 / piece.length), `token="${piece.repeat(200_000 / piece.length)}`]) {
      // Linear time takes at most about 50 ms; quadratic time would take minutes.
      assert.ok(timeOf(text) < 2000, JSON.stringify(piece));
    }
  }
  assert.ok(
    timeOf(`TOKEN="${'\\"'.repeat(4_000_000)}`) < 10_000,
    "masks 8 MB of escaped quotes without exhausting the stack",
  );
});
