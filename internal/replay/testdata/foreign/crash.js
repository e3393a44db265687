#!/usr/bin/env node
// Fault: an uncaught exception on malformed input ends with exit code 1, which lets the
// call run.
const fs = require("fs");
const data = JSON.parse(fs.readFileSync(0, "utf8"));
if (data.tool_input.command && data.tool_input.command.includes("git push")) {
  process.stderr.write("no pushing\n");
  process.exit(2);
}
