package foretick

// BandwidthLine says where bytes went; see [Server.Bandwidth].
type BandwidthLine struct {
	Up        bool    // from clients to the server
	Component string  // "" for what belongs to no component: see What
	Field     string  // "" for whether the component changed at all
	What      string  // "snapshots" or "packets": what they take besides components
	Bytes     float64 // over all clients, since the server began
}
