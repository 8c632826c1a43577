package flight_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// newMeadow makes the server of a match, or of its replay.
func newMeadow(cfg server.Config) (*server.Server, error) {
	g := &game{seed: func() uint64 { return 7 }}
	return g.serve(cfg)
}

// playTape is a regression test of a tape: the bug's fix ends the panic.
func playTape(t *testing.T, path string) {
	tape, err := flight.Open(path)
	require.NoError(t, err)
	defer tape.Close()
	result, err := flight.Play(tape, flight.Game{New: newMeadow})
	require.NoError(t, err)      // each tick has the recorded hash
	require.Nil(t, result.Panic) // the recorded panic does not happen again
}

// The regression test of the guide, with a match that panicked.
func TestTapeAsTest(t *testing.T) {
	m := newMatch(t, 16, 2, flight.Config{Dir: t.TempDir()}, &game{seed: func() uint64 { return 7 }})
	m.run(2 * time.Second)
	m.game.panicAt = m.srv.Tick() + 1
	m.run(time.Second)
	path, err := m.rec.File()
	require.NoError(t, err)
	playTape(t, path)
}

// hostConfig records each match of a host.
func hostConfig(endpoint transport.Endpoint) host.Config {
	return host.Config{Transport: endpoint, OnDemand: true,
		NewMatch: func(name string, end transport.Endpoint) (host.Match, error) {
			rec, err := flight.New(flight.Config{Name: name, Dir: "tapes"})
			if err != nil {
				return nil, err
			}
			return newMeadow(server.Config{Transport: end, Recorder: rec})
		},
		OnEnd: func(e host.End) {
			if e.Tape != "" {
				fmt.Println("replay", e.Tape)
			}
		}}
}

func TestHostConfig(t *testing.T) {
	h, err := host.New(hostConfig(sim.NewNetwork(1).Listen()))
	require.NoError(t, err)
	require.NoError(t, h.Close("over"))
}

// A match is recorded, and its tape played with the same code: each tick has the
// recorded hash.
func ExamplePlay() {
	network := sim.NewNetwork(1)
	match, err := flight.Record(flight.Config{Name: "meadow"}, server.Config{Transport: network.Listen()}, newMeadow)
	if err != nil {
		fmt.Println(err)
		return
	}
	for now := epoch; match.Tick() < 90; now = now.Add(time.Second / 30) {
		match.Step(now)
	}
	var file bytes.Buffer
	if _, err := match.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	tape, err := flight.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := flight.Play(tape, flight.Game{New: newMeadow})
	fmt.Println(result.Ticks, "ticks the same, error:", err)
	// Output: 90 ticks the same, error: <nil>
}
