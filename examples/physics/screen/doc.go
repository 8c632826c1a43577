// Package screen tests this example's window on a virtual display.
package screen
