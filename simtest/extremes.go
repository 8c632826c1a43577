package simtest

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
)

// extremes compares the speeds of two groups of bodies: those whose players send a field of
// the command at the ends of its range, and those of honest players. See Plan.Extremes.
//
// It measures the fields that clients interpolate (tag lerp), which place a body. Angles and
// rotations are left out, since an aim may follow the command at any speed.
type extremes struct {
	d       *director
	clients map[*client.Client]bool // the clients that send extremes
	server  *server.Server
	command *layout.Command
	fields  []int // the command's fields that are sent at their ends, in turn
	bodies  []body
	cheats  map[foretick.PlayerID]bool // the players in the match, and whether they send extremes
	ticks   int                        // measured moves of bodies whose players send extremes, one a tick and body
}

// body is a predicted component that places a player's body.
type body struct {
	component *layout.Component
	fields    []int
	last      map[ecs.Entity]placed
	honest    speeds
	extreme   []speeds // one for each field of the command that is sent at its ends
}

// placed is where a body was in a tick.
type placed struct {
	tick foretick.Tick
	at   []float64
}

const (
	extremeTurn  = 2 * time.Second        // time that each field of the command is sent at its ends
	extremeGrace = 500 * time.Millisecond // unjudged beginning of each turn, while older commands arrive
	extremeFlip  = 250 * time.Millisecond // time until the other end of the range is sent
	unranged     = 1e6                    // the end of the range of a float without a range; −1e6 is the other one

	// A move is a leap if it is extremeFactor times as fast as honest bodies are in 99 of 100
	// ticks. Leaps are a fault if there are at least extremeLeaps of them, in at least a share
	// extremeShare of the judged ticks and extremeFactor times the share of honest bodies.
	extremeFactor = 4
	extremeLeaps  = 3
	extremeShare  = 0.03
)

// listen makes every second client send extremes.
func (x *extremes) listen(c *client.Client) {
	in := probe.OfClient(c)
	cmd := in.Layout().Command
	if cmd == nil || x.d.out.Joins%2 == 0 {
		return
	}
	x.clients[c] = true
	fields := extremeFields(cmd)
	in.OnSample(func(_ foretick.Tick, command unsafe.Pointer) {
		if now := x.d.m.Net.Now(); !x.d.resting && len(fields) > 0 {
			toEnd(cmd, fields[x.turn(len(fields))], now/extremeFlip%2 == 0, command)
		}
	})
}

// turn returns the index of the field that is sent at its ends now.
func (x *extremes) turn(fields int) int { return int(x.d.m.Net.Now()/extremeTurn) % fields }

// extremeFields returns the numbers and bools of a command.
func extremeFields(cmd *layout.Command) (all []int) {
	for i, l := range cmd.Schema.Plan().Leaves {
		if f := cmd.Schema.Field(i); l.Class.Number() && !f.Slice && !f.Ref && !f.Text && !f.Quat {
			all = append(all, i)
		}
	}
	return all
}

// toEnd sets a field of a command to an end of its range.
func toEnd(cmd *layout.Command, field int, high bool, command unsafe.Pointer) {
	l := &cmd.Schema.Plan().Leaves[field]
	at := unsafe.Add(command, l.Offset)
	if !l.Class.Moves() { // a bool
		*(*bool)(at) = high
		return
	}
	by := float32(unranged)
	if l.Class.Integer() {
		by = 1 << 60
	}
	if !high {
		by = -by
	}
	words, end := make([]int32, cmd.Schema.Words()), cmd.New()
	cmd.Schema.Quantise(command, schema.GridSim, nil, words)
	cmd.Schema.Displace(field, words, schema.Offset{by})
	cmd.Schema.Dequantise(words, schema.GridSim, nil, end)
	layout.CopyBytes(at, unsafe.Add(end, l.Offset), l.Class.Size())
}

// Tick implements [Checker].
func (x *extremes) Tick(m *Match) error {
	if m.Server() != x.server {
		x.followServer(m)
	}
	if x.d.resting || len(x.fields) == 0 {
		return nil
	}
	x.dropGone(m)
	for _, st := range m.seats {
		if !st.observes {
			x.cheats[st.client.View().Player] = x.clients[st.client]
		}
	}
	world, tick := m.Server().World(), m.Server().Tick()
	for _, e := range m.inside.Replicated() {
		cheats, plays := x.cheats[world.Owner(e.Entity)]
		if !plays || ecs.Engine(world).Pointer(e.Entity, x.command.ID) == nil {
			continue
		}
		for i := range x.bodies {
			if at := ecs.Engine(world).Pointer(e.Entity, x.bodies[i].component.ID); at != nil {
				x.noteMove(&x.bodies[i], e.Entity, tick, cheats, at)
			}
		}
	}
	return nil
}

// dropGone forgets clients and entities that are gone.
func (x *extremes) dropGone(m *Match) {
	clear(x.cheats)
	if len(x.clients) <= len(m.seats) {
		return
	}
	for c := range x.clients {
		if m.seatOf(c) == nil {
			delete(x.clients, c)
		}
	}
	world := m.Server().World()
	for i := range x.bodies {
		maps.DeleteFunc(x.bodies[i].last, func(e ecs.Entity, _ placed) bool { return !world.Alive(e) })
	}
}

// followServer switches to a new process of the server.
func (x *extremes) followServer(m *Match) {
	first := x.server == nil
	x.server = m.Server()
	l := m.inside.Layout()
	if x.command = l.Command; x.command == nil {
		return
	}
	if first {
		x.fields, x.bodies = extremeFields(x.command), bodiesOf(l, len(extremeFields(x.command)))
		return
	}
	for i, b := range bodiesOf(l, 0) { // the speeds measured so far stay
		x.bodies[i].component = b.component
		clear(x.bodies[i].last)
	}
}

// bodiesOf returns the components that place bodies.
func bodiesOf(l *layout.Layout, fields int) (all []body) {
	for i := range l.Components {
		c := &l.Components[i]
		b := body{component: c, last: map[ecs.Entity]placed{}, extreme: make([]speeds, fields)}
		for k, f := range c.Schema.Fields() {
			if c.Predicted && f.Lerp && !f.Angle && !f.Quat {
				b.fields = append(b.fields, k)
			}
		}
		if len(b.fields) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// noteMove notes where a body is, and how far it moved in the tick.
func (x *extremes) noteMove(b *body, e ecs.Entity, tick foretick.Tick, cheats bool, p unsafe.Pointer) {
	was, known := b.last[e]
	at := make([]float64, len(b.fields))
	sum := 0.0
	for i, f := range b.fields {
		if at[i] = b.component.Schema.Raw(f, p); known {
			sum += (at[i] - was.at[i]) * (at[i] - was.at[i])
		}
	}
	b.last[e] = placed{tick, at}
	switch {
	case !known || was.tick+1 != tick:
	case !cheats:
		b.honest.addMove(math.Sqrt(sum))
	case x.d.m.Net.Now()%extremeTurn >= extremeGrace:
		x.ticks++
		b.extreme[x.turn(len(x.fields))].addMove(math.Sqrt(sum))
	}
}

// names returns the fields that place the body.
func (b *body) names() (names []string) {
	for _, f := range b.fields {
		names = append(names, b.component.Schema.Field(f).Name)
	}
	return names
}

// Worked returns an error that names the field of the command that makes bodies too fast. It
// also fails if no honest body moved, or no client sent extremes.
func (x *extremes) Worked(*Match) (string, error) {
	line := fmt.Sprintf("extremes: %d ticks of bodies, %d fields of the command", x.ticks, len(x.fields))
	moved := false
	for i := range x.bodies {
		b := &x.bodies[i]
		moved = moved || b.honest.moved() > 0
		for k := range b.extreme {
			if factor := b.extreme[k].leaps(&b.honest); factor > 0 {
				return line, fmt.Errorf("bodies whose clients send %s.%s at the ends of its range move up to %.0f times as fast as those of honest players, in %s (%s): take no place, speed or frame time from a command; clamp what it asks for, and move by Frame.DT",
					x.command.Name, x.command.Schema.Field(x.fields[k]).Name, factor, b.component.Name, strings.Join(b.names(), ", "))
			}
		}
	}
	if !moved || x.ticks == 0 {
		return line, fmt.Errorf("nothing was compared (%s): Plan.Extremes needs two clients, a script that moves, and a predicted component with interpolated fields (tag lerp) in a prefab with the command", line)
	}
	return line, nil
}

// speeds counts ticks by how far a body moved. Four buckets are a doubling of the distance.
type speeds struct {
	buckets [512]uint32
	ticks   uint32 // all ticks, also those in which the body did not move
}

const perDoubling = 4

func (s *speeds) addMove(moved float64) {
	s.ticks++
	if moved > 0 {
		s.buckets[min(max(len(s.buckets)/2+int(math.Floor(perDoubling*math.Log2(moved))), 0), len(s.buckets)-1)]++
	}
}

func (s *speeds) moved() uint32 { return s.ticksAbove(-1) }

// ticksAbove returns the number of ticks in the buckets above this one.
func (s *speeds) ticksAbove(bucket int) (n uint32) {
	for _, k := range s.buckets[bucket+1:] {
		n += k
	}
	return n
}

// leaps returns how many times as fast as honest bodies these bodies leap, 0 if they do not.
func (s *speeds) leaps(honest *speeds) (factor float64) {
	all := honest.moved()
	usual := len(honest.buckets) - 1
	for usual > 0 && honest.ticksAbove(usual-1)*100 <= all {
		usual--
	}
	limit := min(usual+perDoubling*2, len(s.buckets)-1) // two doublings are extremeFactor
	n := s.ticksAbove(limit)
	share, others := float64(n)/float64(max(s.ticks, 1)), float64(honest.ticksAbove(limit))/float64(max(honest.ticks, 1))
	if all == 0 || n < extremeLeaps || share < extremeShare || share < extremeFactor*others {
		return 0
	}
	fastest := len(s.buckets) - 1
	for s.buckets[fastest] == 0 {
		fastest--
	}
	return math.Exp2(float64(fastest-usual) / perDoubling)
}
