#!/bin/sh
# Fault: an answer on stdout and exit code 2 together; the exit code decides.
in=$(cat)
case $in in
*'"command":"git push'*)
  echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"push?"}}'
  exit 2
  ;;
esac
