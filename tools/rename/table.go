package main

// root is the import path of the package that was cut.
const root = "github.com/foretick/foretick"

// moved is a name's new place.
type moved struct {
	pkg  string // the package, a folder of the root
	name string
}

// table has the names that left the root, each with its new place.
var table = map[string]moved{
	"Server":       {"server", "Server"},
	"ServerConfig": {"server", "Config"},
	"NewServer":    {"server", "New"},
	"ErrEnded":     {"server", "ErrEnded"},
	"Observer":     {"server", "Observer"},
	"Grant":        {"server", "Grant"},
	"Panic":        {"server", "Panic"},

	"Client":           {"client", "Client"},
	"ClientConfig":     {"client", "Config"},
	"NewClient":        {"client", "New"},
	"ClientState":      {"client", "State"},
	"Connecting":       {"client", "Connecting"},
	"Syncing":          {"client", "Syncing"},
	"Resuming":         {"client", "Resuming"},
	"Playing":          {"client", "Playing"},
	"Closed":           {"client", "Closed"},
	"View":             {"client", "View"},
	"ProtocolError":    {"client", "ProtocolError"},
	"Session":          {"client", "Session"},
	"SessionKind":      {"client", "SessionKind"},
	"SessionJoined":    {"client", "SessionJoined"},
	"SessionResumed":   {"client", "SessionResumed"},
	"SessionNewServer": {"client", "SessionNewServer"},
	"SessionPlaceGone": {"client", "SessionPlaceGone"},
	"Sampler":          {"client", "Sampler"},
	"Sample":           {"client", "Sample"},
}

// packages are the new packages, each with the name that a variable gets which would hide it.
var packages = []struct{ name, variable string }{{"client", "cl"}, {"server", "srv"}}

// isNew reports whether the table has a name of a package as a new one.
func isNew(pkg, name string) bool {
	for _, m := range table {
		if m == (moved{pkg, name}) {
			return true
		}
	}
	return false
}
