package stats

// Bandwidth says where bytes went: see expert.Bandwidth.
type Bandwidth struct {
	Up        bool    // the bytes went from clients to the server; false: from the server to clients
	Component string  // name of the component; "" for bytes of no component: What says which
	Field     string  // name of the field; "" for the flag whether the component changed at all
	What      string  // for bytes of no component: "snapshots" or "packets", without the components in them
	Bytes     float64 // bytes over all clients, since the server began
}
