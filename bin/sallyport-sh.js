#!/usr/bin/env node
// Takes the arguments of bash: `sallyport-sh -c TEXT` is `sallyport sh -c TEXT`. Plain JavaScript, like sallyport.js.
process.argv.splice(2, 0, "sh");
import("./sallyport.js");
