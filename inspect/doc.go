// Package inspect collects data of running servers and clients for a page or a tool: figures
// by tick, corrections with their explanations, players, entities with their values, what a
// player receives and why, systems and logs. Package inspect/web is the page.
//
//	in := inspect.New(inspect.Config{})
//	err := in.AddServer("match", srv)
//	stop := in.Open()
//	time.Sleep(time.Second) // the server runs meanwhile
//	err = in.WriteJSONL(file)
//	stop()
//
// While an inspector is closed, a server reads one pointer a tick and a client one a Step. No
// hooks are installed, and nothing is allocated. [Inspector.Open] begins to collect. Then each
// end copies its figures into a ring buffer at the end of a tick, in its own goroutine. It also
// handles a few requests there, such as [Inspector.Entities]. So no other goroutine touches a
// world, and no tick waits for a reader.
//
// The package reads no clock, opens no socket and starts no goroutine. All methods of an
// Inspector are safe for concurrent use. Methods with a context wait for the end of a tick:
// never call them in a system or handler of that end.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package inspect
