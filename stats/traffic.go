package stats

// Traffic counts the bytes of one component's field, or of one kind: see server.Server.Traffic.
type Traffic struct {
	Up        bool   // the bytes went from clients to the server; false: from the server to clients
	Component string // name of the component; "" for bytes that belong to no component
	Field     string // name of the field; "" for the flag whether the component changed at all
	// What names the kind of bytes that belong to no component: "snapshots" or "packets", without the
	// components in them.
	What  string
	Bytes float64 // bytes over all clients, since the server began
}
