package flight

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/inspect/trace"
)

// Beside plays on through the ticks of a client's trace. It returns a table for each tick, with
// the client's values and the values of the replayed server. export is what
// trace.Trace.Export returned on that client, or what the button of its inspector saved. So a
// client can be compared with its server later, even if the server allowed no trace. Beside
// compares at most the newest 32 ticks of the trace. Call it before the replay reaches the
// oldest of them.
//
// The error is trace.ErrExport, an error of Next, or says that the player was not in the match.
// The tables before the error are returned too.
func (r *Replay) Beside(player foretick.PlayerID, export []byte) ([]trace.Table, error) {
	t := trace.OfReplay(r.srv, player)
	if err := t.Import(export); err != nil {
		return nil, err
	}
	first, last, ok := span(t.Tables())
	first = max(first, last-min(last, trace.Ticks-1)) // neither the client nor the server keeps more ticks
	switch {
	case !ok:
		return nil, errors.New("flight: this export has no tick of a client: save it while its trace is armed")
	case r.srv.Tick() >= first:
		return nil, fmt.Errorf("flight: the trace begins with tick %d, and the replay has computed tick %d: begin another replay", first, r.srv.Tick())
	}
	if err := r.RunTo(first - 1); err != nil {
		return nil, err
	}
	if _, plays := r.srv.PlayerStats(r.srv.Player(player)); !plays {
		var there []foretick.PlayerID
		for _, p := range r.srv.Players(nil) {
			there = append(there, p.ID)
		}
		return nil, fmt.Errorf("flight: there is no player %d in tick %d: the players are %v", player, first-1, there)
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

// ShowBeside opens the tape at path and prints what [Replay.Beside] returns: a line for each
// tick, and where both ends differ. With asJSON it prints tables that the inspector's page opens.
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

// printTable prints a line for the tick, and a line for each difference.
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
