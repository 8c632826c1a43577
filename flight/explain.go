package flight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
)

// systemHash is the world's hash after a system.
type systemHash struct {
	system string
	hash   uint64
}

// explain looks for the reason of a difference. It plays the tape two more times. If these two
// replays differ from one another, the game's code is not deterministic.
func (d *DifferenceError) explain(t *Tape, g Game) {
	var why []string
	if d.state {
		a, errA := hashesOf(t, g, d.Tick)
		b, errB := hashesOf(t, g, d.Tick)
		const fix = "take chance from Frame.Rand, and record with Server.Record what comes from outside"
		switch at := firstOther(a, b); {
		case errA != nil || errB != nil:
		case at < 0:
			why = append(why, "each replay does the same in this tick, so what differs is fixed in this process")
		case at < len(a) && a[at].system != "":
			d.System = a[at].system
			why = append(why, fmt.Sprintf("two replays of the same input differ first after system %q: it uses chance, a clock, a map's order, or data outside of the world that is not recorded; %s", d.System, fix))
		default:
			why = append(why, "two replays of the same input differ: a hook or handler uses chance, a clock, a map's order, or data outside of the world that is not recorded; "+fix)
		}
	}
	if d.System == "" {
		why = append(why, t.otherBuild()...)
	}
	for i, n := range slices.Backward(t.info.Opaque) {
		if n.Tick < d.Tick {
			why = append(why, fmt.Sprintf("after tick %d something happened that the tape does not hold: %s (%d such notes before)", n.Tick, n.Text, i))
			break
		}
	}
	if len(why) == 1 && strings.HasPrefix(why[0], "each replay") {
		why = append(why, "the code, a file, the environment, or what the program did with Server.World or Server.Frame between Steps")
	}
	d.Reason = strings.Join(why, "; ")
}

// hashesOf plays a tape and returns the world's hashes before a tick, after each of its systems,
// and at its end. The first and the last one have no system.
func hashesOf(t *Tape, g Game, tick foretick.Tick) (list []systemHash, err error) {
	g.Loose = true
	r, err := NewReplay(t, g)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.RunTo(tick - 1); err != nil {
		return nil, err
	}
	in := probe.OfServer(r.srv)
	list = append(list, systemHash{"", in.Hash()})
	stop := in.OnSystem(func(s probe.SystemRun) {
		if s.After && s.Tick == tick {
			list = append(list, systemHash{s.System, in.Hash()})
		}
	})
	_, err = r.Next()
	stop()
	return append(list, systemHash{"", in.Hash()}), err
}

// firstOther returns the index of the first difference, −1 if there is none.
func firstOther(a, b []systemHash) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}
