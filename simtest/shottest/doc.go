// Package shottest tests lag compensation. Honest players and cheaters shoot, and the tests
// compare the targets on their screens with the targets that the server used.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package shottest
