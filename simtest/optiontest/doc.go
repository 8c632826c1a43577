// Package optiontest plays the options of a game in pairs. Its tests list every option of both
// configs and of declarations from the source, so they fail for a new option until it is played.
// A seed gives few matches in which each pair of options is played together, unless a table says
// that the pair is refused.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package optiontest
