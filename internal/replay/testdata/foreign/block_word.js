#!/usr/bin/env node
// Fault: "block" belongs to the old top-level decision; as a permissionDecision it is
// no value, and the answer is void.
let text = "";
process.stdin.on("data", (more) => (text += more));
process.stdin.on("end", () => {
  const data = JSON.parse(text);
  if ((data.tool_input?.command ?? "").includes("git push")) {
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "block", permissionDecisionReason: "no pushing" } }));
  }
});
