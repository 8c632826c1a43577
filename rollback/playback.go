package rollback

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// playback runs settled ticks in a world of its own. Handlers of OnFinal do not run, and those for screens only in a
// replay that shows them.
type playback struct {
	sim      *simulation
	standing *settled.Standing
	ticks    []byte // ticks has those that did not run yet.
	length   int    // length is that of ticks at the beginning.
	next     settled.Tick

	// after, when set, is called after each step of a tick, with the step's number. Step 0 is who joins and leaves,
	// and the commands. Then come the systems, and at last the OnServer handlers of events.
	after   func(step int)
	step    int
	systems []int // systems are those of the steps from 1 on, by their numbers in the schedule.
}

// newPlayback plays ticks after a moment, whose world may have room for most entities.
func newPlayback(p *compiled, tags []string, r *settled.Rules, places int, m *moment, ticks []byte, most int) (*playback, error) {
	pb := &playback{sim: newSimulation(p, tags, 0), standing: settled.NewStanding(r, places), ticks: ticks, length: len(ticks)}
	if err := pb.standing.ReadWhole(m.tick, m.standing); err != nil {
		return nil, err
	}
	pb.sim.apart = true
	pb.sim.frames.Around = append(pb.sim.frames.Around, pb)
	return pb, pb.sim.startFrom(m.world, m.tick, most)
}

// tick returns the newest tick that ran.
func (pb *playback) tick() foretick.Tick { return pb.sim.settled }

// run runs the next tick. It returns false after the last one.
func (pb *playback) run() (bool, error) {
	if len(pb.ticks) == 0 {
		return false, nil
	}
	var ok bool
	if pb.ticks, ok = pb.standing.Read(pb.ticks, &pb.next); !ok {
		return false, netcode.ErrMalformed
	}
	pb.step, pb.systems = 0, pb.systems[:0]
	if pb.after != nil {
		pb.sim.p.Watch(true)
		defer pb.sim.p.Watch(false)
		pb.sim.mark = pb.mark
	}
	if !pb.sim.shows {
		pb.sim.ran = pb.next.Tick // so systems see that the tick runs again
	}
	pb.sim.settle(&pb.next)
	pb.sim.mark = nil
	return true, nil
}

// mark ends a step.
func (pb *playback) mark() {
	if pb.after != nil {
		pb.after(pb.step)
	}
	pb.step++
}

// BeforeSystem implements game.SystemHook: the step before the system is over.
func (pb *playback) BeforeSystem(_ *game.SystemRun, system int) {
	if pb.after == nil {
		return
	}
	w := ecs.Engine(pb.sim.world)
	w.Unlock() // the commands of the system before have run, so nothing waits
	pb.mark()
	w.Lock()
	pb.systems = append(pb.systems, system)
}

// AfterSystem implements game.SystemHook. The commands of the system have not run yet.
func (pb *playback) AfterSystem(*game.SystemRun, int) {}

// sum returns the sum of the world as it is.
func (pb *playback) sum() uint64 {
	b, err := ecs.Engine(pb.sim.world).AppendWorld(pb.sim.sums.world[:0])
	pb.sim.sums.world = b
	if err != nil {
		return 0 // New and NewReplay refuse worlds that cannot be written
	}
	return settled.SumOf(b)
}

// stepName returns the name of a step of the newest tick.
func (pb *playback) stepName(step int) string {
	switch {
	case step == 0:
		return "OnJoin, OnLeave or the commands"
	case step <= len(pb.systems):
		return pb.sim.p.Schedule.Systems()[pb.systems[step-1]].Name
	}
	return "OnServer handlers"
}

var errRecord = errors.New("foretick: the record of the match cannot be played")

// runTo runs the ticks up to t, but no more than most. It reports whether t has run.
func (pb *playback) runTo(t foretick.Tick, most int) (there bool, err error) {
	for n := 0; int32(t-pb.tick()) > 0; n++ {
		if n == most {
			return false, nil
		}
		if more, err := pb.run(); err != nil || !more {
			return false, errors.Join(err, fmt.Errorf("%w to tick %d", errRecord, t))
		}
	}
	return true, nil
}
