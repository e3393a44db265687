#!/bin/sh
# Fault: blocks without a word. Claude Code blocks, Codex lets the call run.
in=$(cat)
case $in in
*'"command":"git push'*) exit 2 ;;
esac
