// Package daemon is the per-user runtime: one process, started on demand, that
// hears of every session, keeps the machine awake while one of them works, and
// leaves when nothing is left to do. In come requests over the socket, what
// transcripts, processes and the machine tell, and time; out go effects on the
// machine, webhooks, and files in the state folder.
//
// Core decides, as one pure step from an input to effects; everything else here
// carries that out. One goroutine (loop) owns the Core and all state; others only
// put work into its inbox. It has one timer, and at rest none. It never blocks on
// a disk, a bus or a client, and an error of any of them is logged and survived.
package daemon
