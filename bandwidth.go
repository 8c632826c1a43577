package foretick

import "github.com/foretick/foretick/snapshot"

// BandwidthLine says where bytes went; see [Server.Bandwidth].
type BandwidthLine struct {
	Up        bool    // from clients to the server
	Component string  // "" for what belongs to no component: see What
	Field     string  // "" for whether the component changed at all
	What      string  // "snapshots" or "packets": what they take besides components
	Bytes     float64 // over all clients, since the server began
}

// bandwidth counts what ServerConfig.Profile asks for.
type bandwidth struct {
	down *snapshot.Profile
	up   uint64 // bytes of command messages
}

// Bandwidth lists where the bytes to and from all clients went since the server
// began, by component and field; nil unless [ServerConfig].Profile is set. A
// vector's bytes stand at its first field. Commands travel as differences from one
// another: their bytes are shared out by the fields' sizes.
func (s *Server) Bandwidth() []BandwidthLine {
	if s.bandwidth == nil {
		return nil
	}
	var out []BandwidthLine
	for _, l := range s.bandwidth.down.Lines() {
		line := BandwidthLine{Component: l.Component, Field: l.Field, Bytes: l.Bytes}
		if l.Component == "" {
			line.What = "snapshots"
		}
		out = append(out, line)
	}
	out = append(out, BandwidthLine{What: "packets", Bytes: float64(s.stats.BytesOut) - float64(s.bandwidth.down.Bytes())})
	if c := s.p.command; c != nil {
		bits := 0
		for _, f := range c.schema.Fields() {
			bits += f.Bits
		}
		for _, f := range c.schema.Fields() {
			share := float64(s.bandwidth.up) * float64(f.Bits) / float64(max(bits, 1))
			out = append(out, BandwidthLine{Up: true, Component: c.schema.Name(), Field: f.Name, Bytes: share})
		}
	}
	return append(out, BandwidthLine{Up: true, What: "packets", Bytes: float64(s.stats.BytesIn) - float64(s.bandwidth.up)})
}
