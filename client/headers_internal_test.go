package client

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestEveryHeader: in each state of a client, it gets every value of every field of a packet's header,
// and every type of message with a body of every short length. None does harm: the client keeps its
// state, or ends for a named reason.
func TestEveryHeader(t *testing.T) {
	fields := map[string]func(feed func(b ...byte)){
		"flags": func(feed func(b ...byte)) {
			for v := range 256 {
				for n := range 10 {
					feed(append([]byte{byte(v), 0, 0}, make([]byte, n)...)...)
				}
			}
		},
		"number": func(feed func(b ...byte)) {
			for v := range 1 << 16 {
				feed(0, byte(v), byte(v>>8))
			}
		},
		"acknowledged": func(feed func(b ...byte)) {
			for v := range 1 << 16 {
				feed(0x10, byte(v), byte(v>>8), byte(v), byte(v>>8), 0)
			}
		},
		"acknowledged before": func(feed func(b ...byte)) {
			for at := range 4 {
				for v := range 256 {
					bits := []byte{1, 2, 3, 4}
					bits[at] = byte(v)
					feed(slices.Concat([]byte{0x1f, byte(v), byte(at), 1, 0}, bits, []byte{0})...)
				}
			}
		},
		"delay": func(feed func(b ...byte)) {
			for v := range 256 {
				feed(0x10, byte(v), 0, 1, 0, byte(v))
			}
		},
		"message": func(feed func(b ...byte)) {
			for v := range 256 {
				for n := range 40 {
					body := make([]byte, n)
					for i := range body {
						body[i] = byte(v * n)
					}
					feed(slices.Concat([]byte{0, byte(v), byte(n), byte(v), byte(n)}, body)...)
				}
			}
		},
	}
	scripts := begun()
	for _, state := range slices.Sorted(maps.Keys(scripts)) {
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			p := newPlot(t, append([]byte(nil), scripts[state]...), false)
			p.run()
			if p.conn == nil {
				p.conn = netcode.NewConn(netcode.Config{Channels: compiledOf(p.p).NetChannels()})
			}
			fed := 0
			fields[field](func(b ...byte) {
				p.feed(sealed(b))
				if fed++; fed%64 == 0 {
					p.step(0)
				}
			})
			v := p.step(siegeTick)
			require.Zero(t, p.client.Stats().CorePanics, "%s, %s", state, field)
			if v.State == Closed {
				require.Error(t, v.Err, "%s, %s", state, field)
				require.Equal(t, "message", field, "%s: a header alone ends nothing: %v", state, v.Err)
			}
			for range 3 { // an honest server's next packets do no harm either
				p.pass(siegeTick)
			}
			require.Zero(t, p.client.Stats().CorePanics, "%s, %s", state, field)
		}
	}
}
