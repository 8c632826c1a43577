// Package campaign has the tools that Foretick tests itself with, by campaigns of many matches. Games that
// want the same can use them: [PacketFuzzer] damages their packets, [Rogues] breaks every rule of the
// protocol against their server, and the checkers [Secrets] and [Flat] join the matches of a [simtest.Plan].
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package campaign

// architecture is what both ends report, as in matches of simtest.
const architecture = "sim"
