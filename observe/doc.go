// Package observe is a client without the game's Go types. It asks a server for the
// protocol's schema, uses it to read snapshots and messages, and returns each entity's fields
// by name. Use it for inspectors, recorders and dashboards.
//
//	o, err := observe.New(observe.Config{Transport: endpoint})
//	for err == nil {
//		err = o.Step(time.Now())
//		for _, e := range o.Entities() {
//			for f := range e.Fields() {
//				fmt.Println(e.Prefab(), f.Component, f.Name, f.Value)
//			}
//		}
//	}
//
// An observer that reads snapshots is one of the server's observers: the server must have a
// server.Config.Observe, which grants what it may see. It takes no player's place and sends
// no commands. With [Config.SchemaOnly] it asks only for the schema, which any server sends.
//
// An Observer reads no clock, opens no socket and starts no goroutine. It is not safe for
// concurrent use.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package observe
