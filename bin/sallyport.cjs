#!/usr/bin/env node
// The command `sallyport` where the native client is not installed. native/install.js replaces this file with it.
import("./sallyport.js");
