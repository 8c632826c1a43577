// Package expert has what few games need of servers and clients while they run: techniques
// switched off to show what they are for, values as they were received, late inputs by
// player, latency measured again, values that tags lose, bandwidth by field, and differences
// to a server of another build.
//
// Like Step, its functions are not safe for concurrent use: call them between Steps, in a
// system or in a handler of that end.
package expert
