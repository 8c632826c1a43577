package server

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
)

// Record records a value that the game takes from outside: a random seed, the time of day, a
// line of a file. value is a pointer to a bool, a number, a string, a []byte, or a struct or
// array of numbers, 64 kB at most. In a replay Record sets the value to the recorded one.
// Call it where the value is taken, in the server's goroutine:
//
//	seed := time.Now().Unix()
//	srv.Record(&seed)
//
// Without [Config].Recorder it leaves the value as it is. It panics with [foretick.UsageError] for any
// other type, with a recorder and without.
func (s *Server) Record(value any) { s.tape.recordValue(value) }

// recording passes to the recorder what the match depends on, if there is a recorder.
type recording struct {
	sink tape.Sink // nil: there is none
	run  *progress
	// checked is the newest value of Record without a sink. Such a value is checked too, so that a wrong
	// type does not show first on the day that matches are recorded.
	checked []byte
}

// recordValue implements Server.Record.
func (r *recording) recordValue(value any) {
	b, err := tape.AppendValue(r.checked[:0], value)
	if err != nil {
		misuse.Panicf("foretick: Server.Record: %v", err)
	}
	if r.sink == nil {
		r.checked = b
		return
	}
	if other, replaced := r.sink.Value(b); replaced {
		if err := tape.SetValue(value, other); err != nil {
			misuse.Panicf("foretick: Server.Record: %v", err)
		}
	}
}

// replays reports whether the match is replayed from a tape.
func (r *recording) replays() bool { return r.sink != nil && r.sink.Replays() }

// record puts the recorder between the server and its transport and random numbers.
func (c *Config) record(p *compiled) (sink tape.Sink, err error) {
	if c.Recorder == nil {
		return nil, nil
	}
	sink = tape.SinkOf(c.Recorder)
	h := tape.Head{Protocol: p.Hash, Describe: p.Parts().Describe(), Settings: c.settings(), Debug: game.DebugBuild}
	c.Transport, c.Random, err = sink.Begin(h, c.Transport, c.Random)
	return sink, err
}

// settings lists the fields that change what a match does. For functions it lists whether they are set.
func (c *Config) settings() (list []tape.Setting) {
	v := reflect.ValueOf(*c)
	for i := range v.NumField() {
		one := tape.Setting{Name: v.Type().Field(i).Name}
		switch f := v.Field(i); {
		case one.Name == "Late": // its three settings have older names in tapes
			list = append(list, tape.Setting{Name: "LateInputs", Value: fmt.Sprint(c.Late.Window)},
				tape.Setting{Name: "LateWorld", Value: fmt.Sprint(c.Late.World)}, tape.Setting{Name: "LateShare", Value: fmt.Sprint(c.Late.Share)})
			continue
		case f.CanUint(): // a number, which tapes hold of Same, and not its String
			one.Value = fmt.Sprint(f.Uint())
		case f.CanInt(), f.CanFloat(), f.Kind() == reflect.Bool:
			one.Value = fmt.Sprint(f.Interface())
		case one.Name == "Tags":
			one.Value = strings.Join(c.Tags, "\n")
		case one.Name == "Observe":
			one.Value = fmt.Sprint(!f.IsNil())
		default:
			continue
		}
		list = append(list, one)
	}
	return list
}

// outside records a call that was made outside of a tick, or by a function of Do.
func (r *recording) outside(c tape.Call) {
	if r.sink != nil && (!r.run.defers() || r.run.calling) {
		c.Queued, c.Of = r.run.calling, r.run.callNumber
		r.sink.Outside(c)
	}
}

// observeGrant asks the game what an observer may see, or in a replay the tape.
func (r *recording) observeGrant(observe func(Observer) (Grant, error), o Observer) (Grant, error) {
	if r.sink == nil {
		return observe(o)
	}
	g := r.sink.Observed(func() tape.Grant {
		g, err := observe(o)
		if err == nil && g.ofPlayer && g.player == ecs.Nobody { // a tape has no other sign of OfPlayer than the number
			err = errNotViewed(g.player)
		}
		out := tape.Grant{Team: g.team, Player: uint16(g.player), Everything: g.everything, FollowOnly: g.followOnly}
		if err != nil {
			out.Refused, out.Text = true, err.Error()
		}
		return out
	})
	if g.Refused {
		return Grant{}, errors.New(g.Text)
	}
	return Grant{team: g.Team, player: foretick.PlayerID(g.Player), ofPlayer: g.Player != 0, everything: g.Everything, followOnly: g.FollowOnly}, nil
}

// maxEditText limits the path and the text of an edit, in bytes.
const maxEditText = 1024

func (in *internals) Edit(e ecs.Entity, path string, value any, done func(error)) error {
	to := tape.Edit{Entity: uint64(e), Path: path}
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.Bool:
		to.Value = v.Bool()
	case v.CanInt():
		to.Value = v.Int()
	case v.CanUint():
		to.Value = v.Uint()
	case v.CanFloat():
		to.Value = v.Float()
	case v.Kind() == reflect.String && v.Len() <= maxEditText:
		to.Value = v.String()
	default:
		return fmt.Errorf("foretick: an edit of %s has a value of type %T: use a bool, a number, or a string of at most %d bytes", path, value, maxEditText)
	}
	if len(path) > maxEditText {
		return fmt.Errorf("foretick: an edit has a path of %d bytes: the most is %d", len(path), maxEditText)
	}
	return in.calls.add(editCall(&to, done))
}

func (in *internals) OnSystem(fn func(probe.SystemRun)) (stop func()) {
	w := &in.around.watchers
	*w = append(*w, systemWatcher{in.sim.writes, &in.late, fn})
	at := len(*w) - 1
	in.around.arrangeHooks()
	return func() {
		*w = slices.Delete(*w, at, at+1)
		in.around.arrangeHooks()
	}
}

func (in *internals) Replicated() (all []probe.ServerEntity) {
	for _, rows := range in.sim.entities.All(in.sim.world) {
		for i, id := range in.p.Identity.Slice(rows) {
			if id.Net != 0 {
				all = append(all, probe.ServerEntity{Entity: rows.Entity(i), Net: id.Net, Prefab: in.p.Prefabs[id.Prefab].ECS.Name()})
			}
		}
	}
	slices.SortFunc(all, func(a, b probe.ServerEntity) int { return cmp.Compare(a.Net, b.Net) })
	return all
}
