package flight_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/inspect/trace"
)

// A trace that the server's own program asked for is not on the tape: the difference says so. A
// client's is, where the server allows it.
func TestTracedWhileRecorded(t *testing.T) {
	m := newMatch(t, 21, 3, flight.Config{}, &game{})
	m.run(4 * time.Second)
	tr := trace.OfServer(m.srv, m.clients[1].View().Player)
	for range 3 {
		tr.Look()
		m.run(time.Second)
	}
	tape := m.tape()
	opaque := tape.Info().Opaque
	require.Len(t, opaque, 1)
	require.Contains(t, opaque[0].Text, "a trace of a player that the server's own program asked for")
	_, err := flight.Play(tape, replayed(nil))
	var d *flight.DifferenceError
	require.ErrorAs(t, err, &d)
	require.Contains(t, d.Reason, "a trace of a player that the server's own program asked for")
}

// What a client asks for is on the tape.
func TestTracedByAClient(t *testing.T) {
	m := newMatch(t, 21, 3, flight.Config{}, &game{})
	m.run(4 * time.Second)
	tr := trace.OfClient(m.clients[1])
	for range 3 {
		tr.Look()
		m.run(time.Second)
	}
	require.Empty(t, m.tape().Info().Opaque)
	res, err := flight.Play(m.tape(), replayed(nil))
	require.NoError(t, err)
	require.Greater(t, res.Ticks, 200)
}
