// Package archtest holds no code, only the test that keeps the shape of the
// repository: which package may import which, and where a clock, a socket or a
// goroutine may appear. It parses every Go file of the module; when it fails it
// names the file, the line and the rule.
package archtest
