// Package screen has the tests that need a display. They start a virtual one, Xvfb, and so run
// on machines without a screen.
package screen
