// Package web is the arena's page for a browser, as far as it is Go. README.md describes the
// page as a whole: what each part does, and the layout of the draw list and of the events.
//
// A [Session] is a player: the arena's client, a bad network that can be set, the devices
// and the draw list of each frame. It knows no browser, so its tests run anywhere. The
// program in client joins it to a page.
package web
