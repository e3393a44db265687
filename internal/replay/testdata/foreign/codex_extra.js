#!/usr/bin/env node
// Fault: suppressOutput is fine for Claude Code and voids the whole answer for Codex.
const fs = require("fs");
let data;
try {
  data = JSON.parse(fs.readFileSync(0, "utf8"));
} catch (e) {
  console.error("cannot read the payload: " + e.message);
  process.exit(2);
}
if (data?.tool_input?.command?.includes("git push")) {
  console.log(JSON.stringify({ suppressOutput: true, hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no pushing" } }));
}
