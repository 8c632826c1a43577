package simtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
)

// push is a predicted field, and the server-only code that wrote it.
type push struct{ component, field, system string }

// pushes counts the corrections of each client with the cause server_effect.
type pushes map[*client.Client]map[push]uint64

// A client is judged once it has compared pushedTicks ticks. One push may then correct at most
// one in pushedShare of its ticks. In the examples it corrects at most one in 12. A system that
// writes in each tick corrects 5 in 6 on sim.Hell, and all on better links.
const (
	pushedTicks = 100
	pushedShare = 4
)

// countPush counts a correction. For a new client it drops the counts of clients that are gone.
func (p *pushes) countPush(m *Match, c *client.Client, w *prediction.Misprediction) {
	if w.Cause != prediction.ServerEffect {
		return
	}
	if *p == nil {
		*p = pushes{}
	}
	if (*p)[c] == nil {
		maps.DeleteFunc(*p, func(c *client.Client, _ map[push]uint64) bool { return m.seatOf(c) == nil })
		(*p)[c] = map[push]uint64{}
	}
	(*p)[c][push{w.Component, w.Field, w.System}]++
}

// worstPush returns the push that corrects too many ticks of a client.
func (p pushes) worstPush(clients []*client.Client) error {
	for _, c := range clients {
		var worst push
		for x, n := range p[c] {
			if more := cmp.Compare(n, p[c][worst]); more > 0 || more == 0 && x.before(worst) {
				worst = x
			}
		}
		if n, compared := p[c][worst], c.Stats().Compared; compared >= pushedTicks && n*pushedShare > compared {
			return fmt.Errorf("player %d was corrected in %d of %d ticks, because %s wrote %s, which clients predict: do that in a shared system, so that clients predict it too, or declare %s without foretick.Predicted",
				c.View().Player, n, compared, worst.by(), worst.what(), worst.component)
		}
	}
	return nil
}

// before orders pushes, so that a match always names the same one.
func (x push) before(y push) bool {
	return slices.Compare([]string{x.component, x.field, x.system}, []string{y.component, y.field, y.system}) < 0
}

func (x push) by() string {
	if x.system == "" {
		return "code that only the server runs"
	}
	return fmt.Sprintf("%q, which only the server runs,", x.system)
}

func (x push) what() string {
	if x.field == "" {
		return x.component
	}
	return x.component + "." + x.field
}
