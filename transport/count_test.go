package transport_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/foretick/foretick/transport"
)

func TestRefusedLine(t *testing.T) {
	of := func(layer, name, why string, n uint64) transport.Count {
		return transport.Count{Layer: layer, Name: name, Refusal: why, N: n}
	}
	before := []transport.Count{of("udp", "hellos", "", 5), of("udp", "forged", "another key", 2), of("ws", "forged", "another key", 1)}
	for _, c := range []struct {
		name string
		now  []transport.Count
		line string
	}{
		{"nothing", before, ""},
		{"what is no refusal", []transport.Count{of("udp", "hellos", "", 50)}, ""},
		{"one reason", []transport.Count{of("udp", "hellos", "", 6), of("udp", "forged", "another key", 314)}, "312 peers refused in the last minute: another key"},
		{"at another place", []transport.Count{of("udp", "full", "no room", 1), before[0], of("udp", "forged", "another key", 4)}, "3 peers refused in the last minute: another key (2), no room (1)"},
		{"one peer", []transport.Count{of("ws", "full", "no room", 1)}, "1 peer refused in the last minute: no room"},
		{"fewer than before", []transport.Count{before[0], of("udp", "forged", "another key", 1)}, ""},
		{"a refusal with the name of another counter", []transport.Count{before[0], before[1], of("udp", "hellos", "no greeting", 4)}, "4 peers refused in the last minute: no greeting"},
		{"many reasons", []transport.Count{of("a", "1", "one", 1), of("a", "2", "two", 2), of("a", "3", "three", 3), of("a", "4", "four", 4), of("a", "5", "five", 5), of("a", "6", "six", 6)},
			"21 peers refused in the last minute: six (6), five (5), four (4), three (3), 2 other reasons"},
	} {
		assert.Equal(t, c.line, transport.RefusedLine(before, c.now), c.name)
	}
}
