// Command models plays one small game with a server that decides, with rollback, and in lockstep, over the same
// simulated network, and prints what each costs: go run ./docs/guide/models. The guide's page about the three has the
// table.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foretick/foretick/rollback"
)

// measured is how long each match is measured.
const measured = 20 * time.Second

// models are the ways to play a match.
var models = []struct {
	name  string
	begin func(m *match, players, hares int) ([]*counted, error)
}{
	{"the server decides", serve},
	{"rollback", relayed(0, 0)},
	{"rollback, `DelayAbove` -1", relayed(0, -1)},
	{"lockstep", relayed(rollback.Lockstep, 0)},
}

// size is the size of a match.
type size struct{ players, hares int }

// sizes are the matches that are played with each model.
var sizes = []size{{2, 0}, {8, 0}, {8, 300}}

// figures are what a match cost a player.
type figures struct {
	up, down    float64       // up and down are in bytes a second, with the headers of IP and UDP.
	own, others time.Duration // own and others are the times from a press to the frame that shows it.
	computed    float64       // computed is how many ticks the player's machine computed in each tick.
	shown       int           // shown is how often a screen showed another player's press.
}

// measure plays a match for a time.
func measure(begin func(*match, int, int) ([]*counted, error), players, hares int, d time.Duration) (f figures, err error) {
	m := newMatch(uint64(players))
	ends, err := begin(m, players, hares)
	if err != nil {
		return f, err
	}
	m.net.Run(m.from)
	before := m.computed()
	m.net.Run(m.from + d)
	for _, s := range m.screens {
		if s.world == nil || s.game.walkers.Count(s.world) != players {
			return f, fmt.Errorf("not all %d players play", players)
		}
	}
	each := d.Seconds() * float64(players)
	for _, e := range ends {
		f.up += float64(e.bytes) / each
	}
	f.down = float64(m.end.bytes) / each
	f.own, f.others, f.shown = m.own.mean(), m.others.mean(), m.others.n
	f.computed = float64(m.computed()-before) / each / tickRate
	return f, m.check()
}

// table plays matches of these sizes and writes the table.
func table(out io.Writer, sizes []size) error {
	_, _ = fmt.Fprint(out, "| players | hares | model | up, B/s | down, B/s | own press | another's press | ticks computed in a tick |\n|--:|--:|---|--:|--:|--:|--:|--:|\n")
	for _, of := range sizes {
		for _, model := range models {
			f, err := measure(model.begin, of.players, of.hares, measured)
			if err != nil {
				return fmt.Errorf("%s: %w", model.name, err)
			}
			_, _ = fmt.Fprintf(out, "| %d | %d | %s | %.0f | %.0f | %d ms | %d ms | %.1f |\n",
				of.players, of.hares, model.name, f.up, f.down, f.own.Milliseconds(), f.others.Milliseconds(), f.computed)
		}
	}
	return nil
}

func main() {
	if err := table(os.Stdout, sizes); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
