// Package lifestory holds the lives of sessions as their clients tell them, one
// table for all clients: a story is a list of steps (a recorded hook payload, lines
// of a recorded transcript, the end of a process, a lid, a crash of the runtime,
// time), and what must be true after them. The driver sends each step the way it
// comes in real life: payloads through the hook entry, its policies and its
// question to the runtime, lines through the client's detector, all of it into the
// runtime's core over a fake laptop, under the simulation's oracle.
//
// It is made of tests alone and nothing imports it. It starts no process, listens
// on nothing and knows no clock but a fake one.
package lifestory
