package netcode

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixedCommands is a command buffer that stores everything by its tick: the
// reference for the growing buffer.
type fixedCommands struct {
	window, early                   int
	kept                            map[Tick]Command
	started, any, hasEarly          bool
	next, newest                    Tick
	late, duplicate, far, malformed uint64
	replaced                        uint64
}

func (b *fixedCommands) read(body []byte, at float64, size int) {
	var r commandReader
	data := make([]byte, size)
	r.fields = newCommandFields(size, nil)
	if !r.startBody(body, data, 0) || !r.checkBody(nil) {
		b.malformed++
		return
	}
	if now := Tick(math.Ceil(at)); !b.started || Newer(now, b.next) {
		b.started, b.next = true, now
	}
	known, before := b.any, b.newest
	r.startBody(body, data, 0)
	for first := true; r.moreCommands(); first = false {
		r.readCommand()
		b.arrive(r.command(), at, first)
	}
	if gap := Distance(r.c.Tick, before) - 1; known && gap > 0 && gap <= b.window && Newer(b.next, before+1) {
		b.measure(before+1, at)
	}
}

func (b *fixedCommands) arrive(c *Command, at float64, first bool) {
	ahead, fresh := Distance(c.Tick, b.next), !b.any || Newer(c.Tick, b.newest)
	old, seen := b.kept[c.Tick]
	switch {
	case ahead >= b.window:
		b.far++
		if first {
			b.measure(c.Tick, at)
		}
		return
	case ahead < -b.window && !fresh:
		b.late++
		return
	case ahead >= -b.window && seen:
		if ahead >= 0 && int64((c.view()-old.view())<<24) > 0 {
			b.keep(c, earliness(c.Tick, at))
			b.replaced++
		} else {
			b.duplicate++
		}
		return
	}
	if fresh {
		b.newest, b.any = c.Tick, true
	}
	early := b.measure(c.Tick, at)
	if ahead >= -b.window {
		b.keep(c, early)
	}
	if ahead < 0 {
		b.late++
	}
}

func (b *fixedCommands) keep(c *Command, early int16) {
	k := *c
	k.Data, k.Early = append([]byte(nil), c.Data...), early
	b.kept[c.Tick] = k
}

func (b *fixedCommands) measure(t Tick, at float64) int16 {
	e := earliness(t, at)
	if !b.hasEarly || int(e) < b.early {
		b.early, b.hasEarly = int(e), true
	}
	return e
}

func (b *fixedCommands) take(t Tick) (Command, bool) {
	if b.started && Newer(b.next, t) {
		return Command{}, false
	}
	b.started, b.next = true, t+1
	c, ok := b.kept[t]
	return c, ok
}

func (b *fixedCommands) ack() Tick {
	if !b.started {
		return 0
	}
	t := b.next - 1
	for range b.window {
		if _, ok := b.kept[t+1]; !ok {
			break
		}
		t++
	}
	return t
}

// TestCommandRingGrowsLikeAFixedOne: whatever comes and is taken, early and late,
// in leaps and across the wrap.
func TestCommandRingGrowsLikeAFixedOne(t *testing.T) {
	const size = 3
	taken := 0
	for seed := range ringSeeds {
		r := dice(seed)
		window := []int{1, 2, 31, 32, 120, 1024}[seed%6]
		b := NewCommandBuffer(size, window)
		model := fixedCommands{window: window, kept: map[Tick]Command{}}
		now := []Tick{5, math.MaxUint32 - 1000}[seed%2]
		for i := range 400 {
			at := float64(now) + r.Float64()
			s := NewCommandSender(size, CommandConfig{})
			first := now + Tick(burst(r, 2*window+4)) - Tick(burst(r, 2*window+4))
			for k := range Tick(1 + r.IntN(8)) {
				tick := first + k*Tick(1+burst(r, 4))
				s.Push(Command{Tick: tick, Render: tick - Tick(r.IntN(5)), Data: []byte{byte(i), byte(k), 7}})
			}
			if at < math.MaxUint32 {
				body := s.Append(nil, 1000)
				require.NoError(t, b.Read(body, at))
				model.read(body, at, size)
			}
			if r.IntN(3) > 0 {
				now += Tick(1 + burst(r, 3*window+2)*r.IntN(2))
				want, any := model.take(now)
				got, ok := b.Take(now)
				require.Equal(t, any, ok, "seed %d", seed)
				if ok {
					require.Equal(t, want, got, "seed %d", seed)
					taken++
				}
			}
			require.Equal(t, model.ack(), b.Ack(), "seed %d", seed)
			late, duplicate, far, malformed := b.Stats()
			require.Equal(t, []uint64{model.late, model.duplicate, model.far, model.malformed, model.replaced},
				[]uint64{late, duplicate, far, malformed, b.Replaced()}, "seed %d", seed)
			if r.IntN(4) == 0 {
				early, has := b.Early()
				require.Equal(t, model.hasEarly, has)
				require.EqualValues(t, model.early, early)
				model.early, model.hasEarly = 0, false
			}
			for tick := range model.kept {
				if d := Distance(tick, b.next); d < -4096 {
					delete(model.kept, tick)
				}
			}
		}
		require.LessOrEqual(t, len(b.ring), max(leastRing, ringFor(window, 0)))
	}
	require.Greater(t, taken, 1000)
}
