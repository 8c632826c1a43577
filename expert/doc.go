// Package expert has functions for running servers and clients that few games need. They switch
// techniques off to show what these are for, read values as they were received, switch late
// inputs by player, and measure a player's latency again. Others list values that did not fit
// their tags, bandwidth by field, and differences to a server of another build.
//
// Like Step, its functions are not safe for concurrent use: call them between Steps, in a
// system or in a handler of that end.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package expert
