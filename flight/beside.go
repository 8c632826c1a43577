package flight

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/trace"
)

// Beside plays on through the ticks of a client's trace, and returns them with the server's
// values of the replay next to the client's. export is what trace.Trace.Export returned on
// that client, or what the button of its inspector saved. So a client whose server allowed no
// trace can be compared with it later. Call it before the replay comes to the oldest of those
// ticks. They are within the newest 32 of the trace.
//
// The error is trace.ErrExport, that of Next, or says that the player did not play then. The
// tables before the error are returned too.
func (r *Replay) Beside(player foretick.PlayerID, export []byte) ([]trace.Table, error) {
	t := trace.OfReplay(r.srv, player)
	if err := t.Import(export); err != nil {
		return nil, err
	}
	first, last, ok := span(t.Tables())
	first = max(first, last-min(last, trace.Ticks-1)) // no end keeps more
	switch {
	case !ok:
		return nil, errors.New("flight: this export has no tick of a client: save it while its trace is armed")
	case r.srv.Tick() >= first:
		return nil, fmt.Errorf("flight: the trace begins with tick %d, and the replay has computed tick %d: begin another replay", first, r.srv.Tick())
	}
	if err := r.RunTo(first - 1); err != nil {
		return nil, err
	}
	if _, plays := r.srv.Player(player); !plays {
		return nil, fmt.Errorf("flight: there is no player %d in tick %d: the players are %v", player, first-1, r.srv.Players(nil))
	}
	t.Look()
	err := r.RunTo(last)
	if again := t.Import(export); again != nil {
		return nil, again
	}
	var out []trace.Table
	for _, table := range t.Tables() {
		if table.Client && table.Tick >= first && table.Tick <= last {
			out = append(out, table)
		}
	}
	return out, err
}

// span returns the oldest and the newest tick that the client recorded.
func span(tables []trace.Table) (first, last foretick.Tick, ok bool) {
	for _, t := range tables {
		if !t.Client {
			continue
		}
		if !ok {
			first, ok = t.Tick, true
		}
		last = t.Tick
	}
	return first, last, ok
}

// ShowBeside prints what [Replay.Beside] returns for the tape of a path: each tick, and where
// the ends differ. With asJSON it prints tables that the inspector's page opens.
func ShowBeside(out io.Writer, path string, g Game, player foretick.PlayerID, export []byte, asJSON bool) error {
	t, err := Open(path)
	if t == nil {
		return err
	}
	defer func() { _ = t.Close() }()
	r, err := NewReplay(t, g)
	if err != nil {
		return err
	}
	defer r.Close()
	tables, err := r.Beside(player, export)
	if asJSON {
		if failed := json.NewEncoder(out).Encode(map[string]any{"tables": tables}); failed != nil {
			return failed
		}
		return explained(err, t, g)
	}
	for i := range tables {
		printTable(out, &tables[i])
	}
	if f, ok := trace.First(tables); ok {
		fmt.Fprintf(out, "first fault: %v\n", f)
	} else if err == nil {
		fmt.Fprintf(out, "no system differed in these %d ticks\n", len(tables))
	}
	return explained(err, t, g)
}

// printTable prints a tick in a line, and each difference in one more.
func printTable(out io.Writer, t *trace.Table) {
	what := "equal"
	switch {
	case !t.Server:
		what = "the replay did not come to it"
	case t.First != nil && t.First.Excuse != "":
		what = fmt.Sprintf("differs after %q: %s", t.First.System, t.First.Excuse)
	case t.First != nil:
		what = fmt.Sprintf("system %q differs", t.First.System)
	case t.Command:
		what = "other commands"
	case t.Inherited:
		what = "differed before"
	}
	fmt.Fprintf(out, "tick %d: %s\n", t.Tick, what)
	for _, row := range t.Rows {
		for _, v := range row.Values {
			if v.Differs && t.Server {
				fmt.Fprintf(out, "    %-20s %s %d %s.%s: client %v -> %v, server %v -> %v\n", row.System, v.Prefab, v.Entity, v.Component, v.Field, v.Before.Client, v.After.Client, v.Before.Server, v.After.Server)
			}
		}
	}
}
