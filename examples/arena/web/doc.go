// Package web is the Go part of the arena's page for a browser. README.md describes the page as a
// whole: what each part does, and the layout of the draw list and of the events.
//
// A [Session] is a player: the arena's client, a bad network with settings, the devices and the draw
// list of each frame. It does not depend on a browser, so its tests run anywhere. The program in client
// connects it to a page.
package web
