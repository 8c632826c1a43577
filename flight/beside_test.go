package flight_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/inspect/trace"
)

// besideMatch plays a match in which the last player's client has a fault if skew is not 0. The
// server allows no trace. It returns the match, that player's number and its client's trace.
func besideMatch(t *testing.T, skew float32, rec flight.Config) (m *match, player foretick.PlayerID, tr *trace.Trace) {
	m = newMatch(t, 21, 1, rec, &game{})
	m.skew = skew
	m.join()
	m.run(4 * time.Second)
	cli := m.clients[1]
	require.Equal(t, client.Playing, cli.View().State)
	tr = trace.OfClient(cli)
	tr.Look()
	m.run(time.Second / 4)
	for _, table := range tr.Tables() {
		require.False(t, table.Server, "it was refused")
	}
	return m, cli.View().Player, tr
}

// Beside compares a tape of the server with a client's own trace. It names a fault with both
// values, and nothing if there is no fault.
func TestBeside(t *testing.T) {
	for _, skew := range []float32{0, 0.25} {
		m, player, tr := besideMatch(t, skew, flight.Config{})
		export := tr.Export()
		m.run(time.Second)
		r, err := flight.NewReplay(m.tape(), replayed(nil))
		require.NoError(t, err)
		tables, err := r.Beside(player, export)
		require.NoError(t, err)
		r.Close()
		both := 0
		for _, table := range tables {
			require.True(t, table.Client)
			if table.Server {
				both++
			}
		}
		require.Equal(t, len(tables), both)
		require.Greater(t, both, 5)
		f, found := trace.First(tables)
		require.Equal(t, skew != 0, found, f)
		if found {
			require.Equal(t, []string{"move", "Place", "X"}, []string{f.System, f.Component, f.Field})
			require.Equal(t, f.Before.Client, f.Before.Server)
			require.NotEqual(t, f.After.Client, f.After.Server)
			t.Log(f)
		}
	}
}

func TestBesideMisuse(t *testing.T) {
	m, player, tr := besideMatch(t, 0, flight.Config{})
	export := tr.Export()
	begin := func() *flight.Replay {
		r, err := flight.NewReplay(m.tape(), replayed(nil))
		require.NoError(t, err)
		t.Cleanup(r.Close)
		return r
	}
	_, err := begin().Beside(player, []byte("foretick trace 2"))
	require.ErrorIs(t, err, trace.ErrExport)
	_, err = begin().Beside(player, []byte("foretick trace 1\n"))
	require.ErrorContains(t, err, "no tick of a client")
	_, err = begin().Beside(9, export)
	require.ErrorContains(t, err, "there is no player 9")
	late := begin()
	require.NoError(t, late.RunTo(m.srv.Tick()-1))
	_, err = late.Beside(player, export)
	require.ErrorContains(t, err, "begin another replay")
}

// The command prints the comparison, and with -tables what the inspector's page opens.
func TestCommandBeside(t *testing.T) {
	dir := t.TempDir()
	m, player, tr := besideMatch(t, 0.25, flight.Config{Dir: dir})
	number := strconv.Itoa(int(player))
	saved := filepath.Join(dir, "client.trace")
	require.NoError(t, os.WriteFile(saved, tr.Export(), 0o600))
	m.run(time.Second)
	tape, err := m.rec.Save("a test")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, flight.Command([]string{"-beside", saved, "-player", number, tape}, &out, replayed(nil)))
	require.Regexp(t, `(?m)^tick \d+: system "move" differs\n +move +avatar \d+ Place.X: client `, out.String())
	require.Contains(t, out.String(), "first fault: ")
	out.Reset()
	require.NoError(t, flight.Command([]string{"-beside", saved, "-player", number, "-tables", tape}, &out, replayed(nil)))
	var page struct{ Tables []trace.Table }
	require.NoError(t, json.Unmarshal(out.Bytes(), &page))
	require.NotEmpty(t, page.Tables)
	require.ErrorContains(t, flight.Command([]string{"-beside", saved, tape}, &out, replayed(nil)), "needs -player")
	require.ErrorContains(t, flight.Command([]string{"-tables", tape}, &out, replayed(nil)), "need -beside")
	require.ErrorContains(t, flight.Command([]string{"-beside", saved + "x", "-player", number, tape}, &out, replayed(nil)), "no such file")
}
