// Package shell turns the text of a command into facts: which programs would
// run, with which arguments, fed by what, writing where, in which folder and
// by way of which wrappers, and what of all this cannot be known.
//
// In comes the text, the dialect the caller's tool speaks (never guessed from
// the text) and a [World] of callbacks for what only the machine knows. Out
// comes a [Facts] value. The package judges nothing, runs nothing, and touches
// neither clock, environment, disk nor network by itself.
//
// # What is walked
//
// Everything that could run: lists, pipes, groups, branches, loops, called
// functions, traps, substitutions, here-documents by their consumer, eval,
// source, shells with -c, prefix wrappers such as sudo or env, commands that
// take commands (xargs, find, git, ssh, make and friends) and scripts that the
// World lets it read. Both sides of a branch are walked; a state that differs
// after them becomes a set of alternatives.
//
// # What is known
//
// Every argument is a [Value]: exact text, text with holes, or alternatives.
// A hole keeps the text around it, says why it is a hole, and which leaves
// produced what would fill it. Constants propagate through variables,
// parameter expansion, arithmetic, braces, read, and pipelines of plain text
// tools (echo, printf, tr, rev, base64, xxd, sed s///, ...).
//
// # Limits
//
// Work is linear in the size of the input for a fixed set of limits, and
// bounded by them for any input. When a limit is met the walk stops and
// [Facts.Over] says which; the facts are then incomplete and a careful caller
// refuses the command. Inspect never panics and does not recurse deeper than
// the limits allow. A Facts value is not changed after Inspect returned and may
// be read from several goroutines.
package shell
