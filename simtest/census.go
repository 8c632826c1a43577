package simtest

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
)

// census fails a match in which too little happened: too few ticks of playing
// clients, or of observers.
type census struct {
	d      *director
	played uint64 // ticks of all clients in the match
	seen   uint64 // ticks of all observers
	player []server.Player
}

// watchMatch adds the plan's checkers and those of every plan.
func (d *director) watchMatch() {
	d.m.Watch(append(d.plan.Checkers(), &census{d: d}, &growth{d: d})...)
	if d.plan.Extremes {
		d.ends = &extremes{d: d, clients: map[*client.Client]bool{}, cheats: map[foretick.PlayerID]bool{}}
		d.m.Watch(d.ends)
	}
}

// listen follows the commands that a client's script makes.
func (d *director) listen(c *client.Client) {
	d.taps.listen(c)
	if d.ends != nil {
		d.ends.listen(c)
	}
}

func (c *census) Tick(m *Match) error {
	c.player = m.server.Players(c.player[:0])
	c.played += uint64(len(c.player))
	for _, st := range m.seats {
		if st.observes && st.client.View().State == client.Playing {
			c.seen++
		}
	}
	return nil
}

// Worked requires half of the ticks of a perfect match, or a tenth if processes
// come and go. For observers it requires half of these shares.
func (c *census) Worked(m *Match) (string, error) {
	d := c.d
	ticks := m.Net.Now().Seconds() * float64(d.rate)
	want, watch := ticks*float64(d.plan.Clients)/2, ticks*float64(d.plan.Observers)/4
	if d.plan.ServerKills > 0 || d.plan.Stay > 0 || d.plan.ClientKills > 0 {
		want, watch = want/5, watch/5
	}
	line := fmt.Sprintf("work: %d ticks of players", c.played)
	if d.plan.Observers > 0 {
		line += fmt.Sprintf(", %d of %d observers", c.seen, d.out.Observers)
		if float64(c.seen) < watch {
			return line, fmt.Errorf("%w: %s, expected at least %.0f of observers", errIdle, line, watch)
		}
	}
	if float64(c.played) < want {
		return line, fmt.Errorf("%w: %s, expected at least %.0f", errIdle, line, want)
	}
	return line, nil
}
