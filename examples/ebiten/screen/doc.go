// Package screen has the tests that need a display. They start one without a screen,
// Xvfb, and so run on machines that have none.
package screen
