package schema

// BuildDifference lists how a client's protocol differs from that of a server of another
// build of the same game.
//
// Both sides are matched by name. Components and messages have the name of their Go type
// without its package, so a renamed type counts as another one. Prefabs have the name that
// they were declared with. Commands need no name.
type BuildDifference struct {
	// Schema is the server's schema.
	Schema *Protocol
	// Missing names everything that only this client has: components, fields, prefabs, the command, messages,
	// requests and tags of shared systems. Missing fields of components keep the default of their prefab on
	// this client. Missing fields of a command or a request are not sent. Shared systems with a missing tag do
	// not run on this client.
	Missing []string
	// Unknown names everything that only the server has. The client receives it and ignores
	// it.
	Unknown []string
	// Changed names the fields on both sides that differ in type, range, step or audience.
	// Values are converted to the nearest one that the other type can hold. Where the names of
	// values (the tag enum) differ, both lists follow the field: a number has another meaning on the server.
	Changed []string
}
