// Package screen tests the window of this example on a display without a screen.
package screen
