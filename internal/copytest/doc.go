// Package copytest copies each example out of the repository with the commands that
// examples/README.md gives, over a module proxy that plays the release, and vets, tests and
// runs the copies. It holds only tests, which .ci/run plays as parts of their own.
package copytest
