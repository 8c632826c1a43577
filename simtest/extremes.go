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
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
)

// extremes compares how fast bodies move whose players send a field of the command at the
// ends of its range with those of honest players. See Plan.Extremes.
//
// It looks at the fields that clients draw between ticks (tag lerp), without angles and
// rotations: those place a body, while an aim may follow the command at any speed.
type extremes struct {
	d       *director
	clients map[*client.Client]bool // those that send extremes
	server  *server.Server
	command *layout.Command
	fields  []int // of the command that are sent at their ends, in turn
	bodies  []body
	cheats  map[foretick.PlayerID]bool // the players in the match, and whether they send extremes
	ticks   int                        // of bodies whose players did
}

// body is a predicted component that places a player's body.
type body struct {
	component *layout.Component
	fields    []int
	last      map[ecs.Entity]placed
	honest    speeds
	extreme   []speeds // by field of the command
}

// placed is where a body was in a tick.
type placed struct {
	tick foretick.Tick
	at   []float64
}

const (
	extremeTurn  = 2 * time.Second        // for each field of the command …
	extremeGrace = 500 * time.Millisecond // … of which nothing is judged for so long, as commands are on their way
	extremeFlip  = 250 * time.Millisecond // from one end of the range to the other
	unranged     = 1e6                    // the ends of a float without a range, and less

	extremeFactor = 4    // times the speed that honest bodies have in 99 of 100 ticks: a leap
	extremeLeaps  = 3    // leaps that are a fault, if they are …
	extremeShare  = 0.03 // … of the judged ticks, and extremeFactor times the share of honest bodies
)

// listen makes every second client send extremes.
func (x *extremes) listen(c *client.Client) {
	in := c.Internals()
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

// turn returns which of the fields has its turn.
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
		if !plays || world.Pointer(e.Entity, x.command.ID) == nil {
			continue
		}
		for i := range x.bodies {
			if at := world.Pointer(e.Entity, x.bodies[i].component.ID); at != nil {
				x.noteMove(&x.bodies[i], e.Entity, tick, cheats, at)
			}
		}
	}
	return nil
}

// dropGone drops clients that are gone, and with them their memory.
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

// followServer follows another process of the server.
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
	for i, b := range bodiesOf(l, 0) { // what is known stays
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

// Quiet implements [Checker].
func (x *extremes) Quiet(*Match) error { return nil }

// Worked returns the field of the command that makes bodies too fast. It also fails if no
// honest body moved, or no client sent extremes.
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

// speeds counts ticks by how far a body moved. A bucket is a quarter of a doubling wide.
type speeds struct {
	buckets [512]uint32
	ticks   uint32 // those in which nothing moved included
}

const perDoubling = 4

func (s *speeds) addMove(moved float64) {
	s.ticks++
	if moved > 0 {
		s.buckets[min(max(len(s.buckets)/2+int(math.Floor(perDoubling*math.Log2(moved))), 0), len(s.buckets)-1)]++
	}
}

func (s *speeds) moved() uint32 { return s.ticksAbove(-1) }

// ticksAbove returns the ticks in buckets above one.
func (s *speeds) ticksAbove(bucket int) (n uint32) {
	for _, k := range s.buckets[bucket+1:] {
		n += k
	}
	return n
}

// leaps returns how many times faster than honest bodies these leap; 0: they do not.
func (s *speeds) leaps(honest *speeds) (factor float64) {
	all := honest.moved()
	usual := len(honest.buckets) - 1
	for usual > 0 && honest.ticksAbove(usual-1)*100 <= all {
		usual--
	}
	limit := min(usual+perDoubling*2, len(s.buckets)-1) // twice a doubling is extremeFactor
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
