package flight

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foretick/foretick"
)

// Command is a program that replays a tape. Call it in a program of the game, because a replay
// needs the game's code. args are the arguments after the program's name:
//
//	[-tick N] [-entity E] FILE
//	-player P -beside TRACE [-tables] FILE
//
// It prints what the tape holds, and plays it to its end or to the panic. With -tick it stops
// after that tick and lists the entities. With -entity, the network id of an entity in that
// list, it prints what each system did to the entity in the tick. Without -tick that is the tick
// that panicked, or else the last one. With -beside it plays the ticks of a client's trace, which
// the inspector of that client saved, and prints where both ends differ: see [Replay.Beside].
// -tables prints tables that the inspector's page opens. The error is a DifferenceError if the
// replay differs, or says what is wrong with the arguments or the tape. A recorded panic that
// happens again is no error.
func Command(args []string, out io.Writer, g Game) error {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(out)
	tick := flags.Uint("tick", 0, "stop at this `tick` (0: play to the end)")
	entity := flags.Uint("entity", 0, "trace the entity with this network `id`")
	player := flags.Uint("player", 0, "with -beside: the client's `player` number")
	beside := flags.String("beside", "", "compare with the `trace` that a client saved")
	asJSON := flags.Bool("tables", false, "with -beside: print tables for the inspector's page")
	flags.Usage = func() {
		fmt.Fprintln(out, "usage: replay [-tick N] [-entity E] FILE\n       replay -player P -beside TRACE [-tables] FILE")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("flight: name one tape: [-tick N] [-entity E] FILE")
	}
	switch {
	case *beside != "":
		if *player == 0 || *player > math.MaxUint16 {
			return errors.New("flight: -beside needs -player, the number of the client's player")
		}
		export, err := readFile(*beside)
		if err != nil {
			return err
		}
		return ShowBeside(out, flags.Arg(0), g, foretick.PlayerID(*player), export, *asJSON)
	case *player != 0 || *asJSON:
		return errors.New("flight: -player and -tables need -beside")
	}
	return Show(out, flags.Arg(0), g, foretick.Tick(*tick), uint32(*entity))
}

// Show is Command for a program with flags of its own. A tick or entity of 0 means none.
func Show(out io.Writer, path string, g Game, tick foretick.Tick, entity uint32) error {
	t, err := Open(path)
	if t == nil {
		return err
	}
	defer func() { _ = t.Close() }()
	fmt.Fprint(out, t.Info())
	if err != nil {
		fmt.Fprintln(out, err)
	}
	switch {
	case entity != 0:
		if tick == 0 {
			tick = t.lastTick()
		}
		return showTrace(out, t, g, tick, entity)
	case tick != 0:
		return showEntities(out, t, g, tick)
	}
	res, err := Play(t, g)
	switch {
	case err != nil:
		return err
	case res.Panic != nil:
		fmt.Fprintf(out, "replayed: %d ticks with the recorded hashes, and the panic in tick %d again: %s\n%s\n", res.Ticks, res.Panic.Tick, res.Panic.Text, res.Panic.Stack)
	case t.info.Panic != nil:
		fmt.Fprintf(out, "replayed: %d ticks with the recorded hashes, and no panic: it is mended\n", res.Ticks)
	default:
		fmt.Fprintf(out, "replayed: %d ticks with the recorded hashes\n", res.Ticks)
	}
	return nil
}

// lastTick returns the tick that panicked, or else the last one.
func (t *Tape) lastTick() foretick.Tick {
	if p := t.info.Panic; p != nil {
		return p.Tick
	}
	return t.info.Last
}

func showTrace(out io.Writer, t *Tape, g Game, tick foretick.Tick, entity uint32) error {
	r, err := NewReplay(t, g)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.RunTo(tick - 1); err != nil {
		return explained(err, t, g)
	}
	all := r.Entities()
	at := slices.IndexFunc(all, func(e Entity) bool { return e.Net == entity })
	if at < 0 {
		return fmt.Errorf("flight: no entity has the network id %d before tick %d: -tick %d lists those that are there", entity, tick, tick-1)
	}
	trace, err := r.Trace(all[at].Entity)
	if failed := trace.Print(out); failed != nil {
		return failed
	}
	var p *PanicError
	if errors.As(err, &p) {
		fmt.Fprintln(out, p)
		return nil
	}
	return explained(err, t, g)
}

func showEntities(out io.Writer, t *Tape, g Game, tick foretick.Tick) error {
	r, err := NewReplay(t, g)
	if err != nil {
		return err
	}
	defer r.Close()
	err = r.RunTo(tick)
	var p *PanicError
	if err != nil && !errors.As(err, &p) {
		return explained(err, t, g)
	}
	fmt.Fprintf(out, "after tick %d:\n", r.srv.Tick())
	for _, e := range r.Entities() {
		fmt.Fprintf(out, "%6d %-16s player %d", e.Net, e.Prefab, e.Owner)
		for _, v := range r.Values(e.Entity) {
			fmt.Fprintf(out, "  %s=%v", v.Path, v.Value)
		}
		fmt.Fprintln(out)
	}
	if p != nil {
		fmt.Fprintln(out, p)
	}
	return nil
}

// explained adds the reason to a DifferenceError, and says where the tape ends for io.EOF.
func explained(err error, t *Tape, g Game) error {
	var d *DifferenceError
	if errors.As(err, &d) {
		d.explain(t, g)
	}
	if err == io.EOF {
		return fmt.Errorf("flight: the tape ends after tick %d", t.info.Last)
	}
	return err
}
