package simtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
)

// growth finds two things that do not end while a match is played: a prefab whose entities
// only become more, and messages that a player gets in nearly every tick. It starts over for
// each process of the server.
type growth struct {
	d      *director
	server *server.Server
	next   time.Duration        // time of the next look at the entities
	every  time.Duration        // time between two looks
	looks  int                  // number of looks in each list of counts
	counts map[string][]int     // number of entities at each look, by prefab
	posts  map[postbox]*postage // ticks with reliable messages, by receiver and kind
	player []server.Player
	most   int // most entities of one prefab at a look
}

// postbox is a player's session and a kind of message that it gets.
type postbox struct {
	to      foretick.PlayerID
	session uint64
	kind    uint8
}

// postage counts the ticks with a message, from the first to the newest one.
type postage struct {
	first, newest foretick.Tick
	ticks         uint32
}

const (
	growthEvery = time.Second // time between two looks at the entities; longer in a long match
	growthMost  = 1 << 10     // number of looks at which every second one is dropped
	postedKept  = time.Minute // time without a message after which its count is dropped
	growthLeast = 9           // fewest looks that are judged

	// growthBound entities of a prefab are always allowed, and growthEach for each player.
	growthBound = 32
	growthEach  = 4

	postedFor   = 8 * time.Second // shortest time of messages that is judged
	postedShare = 0.75            // largest allowed share of ticks with a message of one type to one player
)

// Sent implements [MessageChecker].
func (g *growth) Sent(m *Match, s MessageSent) {
	g.follow(m)
	box := postbox{s.To, s.Session, s.Kind}
	p := g.posts[box]
	if p == nil {
		p = &postage{first: s.Tick}
		g.posts[box] = p
	}
	if p.ticks == 0 || p.newest != s.Tick {
		p.newest, p.ticks = s.Tick, p.ticks+1
	}
}

// Received implements [MessageChecker].
func (g *growth) Received(*Match, *client.Client, MessageReceived) error { return nil }

// Tick implements [Checker].
func (g *growth) Tick(m *Match) error {
	g.follow(m)
	if g.d.resting || m.Net.Now() < g.next {
		return nil
	}
	g.next = m.Net.Now() + g.every
	now := map[string]int{}
	for _, e := range m.inside.Replicated() {
		now[e.Prefab]++
	}
	for prefab := range now {
		if g.counts[prefab] == nil {
			g.counts[prefab] = make([]int, g.looks)
		}
	}
	for prefab := range g.counts {
		g.counts[prefab] = append(g.counts[prefab], now[prefab])
		g.most = max(g.most, now[prefab])
	}
	g.looks++
	g.boundHistory(m)
	return nil
}

// boundHistory bounds the memory for a long match. It drops every second look once there are
// growthMost, and counts of messages that were not sent for postedKept.
func (g *growth) boundHistory(m *Match) {
	long := foretick.Tick(postedKept / m.inside.Interval())
	maps.DeleteFunc(g.posts, func(_ postbox, p *postage) bool { return m.Server().Tick()-p.newest > long })
	if g.looks < growthMost {
		return
	}
	for prefab, counts := range g.counts {
		kept := counts[:0]
		for i := 1; i < len(counts); i += 2 {
			kept = append(kept, counts[i])
		}
		g.counts[prefab] = kept
	}
	g.looks, g.every = g.looks/2, 2*g.every
}

// follow starts over if the server's process is a new one.
func (g *growth) follow(m *Match) {
	if s := m.Server(); s != g.server {
		g.server, g.looks, g.every, g.counts, g.posts = s, 0, growthEvery, map[string][]int{}, map[postbox]*postage{}
	}
}

// Worked returns an error that names what did not stop growing.
func (g *growth) Worked(m *Match) (string, error) {
	line := fmt.Sprintf("growth: at most %d entities of a prefab", g.most)
	if g.d.plan.AllowGrowth || m.Server() == nil {
		return line, nil
	}
	return line, errors.Join(g.swarm(m), g.flood(m))
}

// swarm returns an error that names a prefab whose entities only became more.
func (g *growth) swarm(m *Match) error {
	g.player = m.Server().Players(g.player[:0])
	bound := max(growthBound, growthEach*len(g.player))
	prefab, from, to := "", 0, 0
	for name, counts := range g.counts {
		if first, last := counts[0], counts[len(counts)-1]; grows(counts, bound) && cmp.Or(cmp.Compare(last, to), cmp.Compare(prefab, name)) > 0 {
			prefab, from, to = name, first, last
		}
	}
	if prefab == "" {
		return nil
	}
	return fmt.Errorf("entities of prefab %q only become more: %d, then %d after %d s: destroy them after a time or at a limit, play for longer than they live, or set Plan.AllowGrowth if the game means it",
		prefab, from, to, (g.looks-1)*int(g.every/time.Second))
}

// grows reports whether counts rise from third to third of the match, to more than bound. The
// second rise must be at least half of the first.
func grows(counts []int, bound int) bool {
	if len(counts) < growthLeast {
		return false
	}
	n := len(counts) / 3
	b, c := counts[n:2*n], counts[2*n:]
	first, second, third := slices.Max(counts[:n]), slices.Max(b), slices.Max(c)
	return slices.Min(b) >= first && slices.Min(c) >= second && second > first && 2*(third-second) >= second-first && third > bound
}

// flood returns an error that names a message that a player gets in nearly every tick.
func (g *growth) flood(m *Match) error {
	var worst postbox
	share := 0.0
	for box, p := range g.posts {
		length := p.newest - p.first + 1
		if time.Duration(length)*m.inside.Interval() < postedFor {
			continue
		}
		of := float64(p.ticks) / float64(length)
		if of > share || of == share && (box.kind < worst.kind || box.kind == worst.kind && box.to < worst.to) {
			worst, share = box, of
		}
	}
	if share <= postedShare {
		return nil
	}
	name := m.inside.Layout().Messages[worst.kind].Name
	return fmt.Errorf("message %s is sent to player %d in %.0f %% of all ticks, reliably: send what changes all the time in a component or a singleton, which travels once for each change and is never late behind a lost packet, or set Plan.AllowGrowth if the game means it",
		name, worst.to, 100*share)
}
