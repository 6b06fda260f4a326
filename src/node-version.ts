/** Checks the version of Node. Imported before everything else, because other modules fail in older versions. */

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `sallyport requires Node 22.19 or newer; this is v${process.versions.node}. Install it from https://nodejs.org.`,
  );
}
