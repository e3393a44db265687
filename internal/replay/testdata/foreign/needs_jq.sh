#!/bin/bash
# Fault: without jq (here: a name that nobody has) the command is empty and passes.
cmd=$(jq-of-another-machine -r '.tool_input.command' 2>/dev/null)
if [[ "$cmd" == *"git push"* ]]; then
  echo "no pushing" >&2
  exit 2
fi
