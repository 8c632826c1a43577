package foretick

import (
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// bandwidth counts what ServerConfig.Profile asks for.
type bandwidth struct {
	down *snapshot.Profile
	up   uint64 // bytes of command messages
}

// bandwidthLines returns the bytes sent to and received from all clients since the server began,
// by component and field. It returns nil unless [ServerConfig].Profile is set. The bytes of
// a vector are counted at its first field. Commands are sent as differences from one
// another, so their bytes are divided among the fields by size.
func (b *bandwidth) bandwidthLines(command *layout.Command, st *stats.Server) []stats.Bandwidth {
	if b == nil {
		return nil
	}
	var out []stats.Bandwidth
	for _, l := range b.down.Lines() {
		line := stats.Bandwidth{Component: l.Component, Field: l.Field, Bytes: l.Bytes}
		if l.Component == "" {
			line.What = "snapshots"
		}
		out = append(out, line)
	}
	out = append(out, stats.Bandwidth{What: "packets", Bytes: float64(st.BytesOut) - float64(b.down.Bytes())})
	if c := command; c != nil {
		bits := 0
		for _, f := range c.Schema.Fields() {
			bits += f.Bits
		}
		for _, f := range c.Schema.Fields() {
			share := float64(b.up) * float64(f.Bits) / float64(max(bits, 1))
			out = append(out, stats.Bandwidth{Up: true, Component: c.Schema.Name(), Field: f.Name, Bytes: share})
		}
	}
	return append(out, stats.Bandwidth{Up: true, What: "packets", Bytes: float64(st.BytesIn) - float64(b.up)})
}
