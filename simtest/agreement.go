package simtest

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
)

// Agreement checks that clients show exactly the state that the server may show
// them. After each tick it compares the digest of each client's newest complete
// snapshot with the server's digest of that tick for the client's audience. At
// quiet points, every field that any client shows, including predictions, must
// equal the server's.
type Agreement struct {
	// Every is the number of ticks from one snapshot comparison to the next. 0
	// means 1, every tick.
	Every foretick.Tick

	server   *server.Server
	sent     map[foretick.PlayerID]*[digests]probe.ScreenHash
	compared map[*client.Client]foretick.Tick
	player   []server.Player
	clients  []*client.Client

	// Snapshots, Fields and Audits count the comparisons: digests of snapshots,
	// the fields covered by them and by quiet points, and clients compared at
	// quiet points.
	Snapshots, Fields, Audits uint64
}

// digests is the most ticks that a snapshot may be in transit.
const digests = 256

// Tick implements [Checker].
func (a *Agreement) Tick(m *Match) error {
	if s := m.Server(); s != a.server {
		a.server, a.sent = s, map[foretick.PlayerID]*[digests]probe.ScreenHash{}
	}
	if a.compared == nil {
		a.compared = map[*client.Client]foretick.Tick{}
	}
	t := a.server.Tick()
	a.player = a.server.Players(a.player[:0])
	for _, player := range a.player {
		ring := a.sent[player.ID]
		if ring == nil {
			ring = new([digests]probe.ScreenHash)
			a.sent[player.ID] = ring
		}
		ring[t%digests] = probe.ScreenHash{}
		if t%max(a.Every, 1) == 0 {
			ring[t%digests] = probe.OfServer(a.server).ScreenHash(player.ID)
		}
	}
	a.clients = m.Clients(a.clients[:0])
	for _, c := range a.clients {
		if err := a.compareNewest(m, c); err != nil {
			return err
		}
	}
	if len(a.compared) > len(a.clients) {
		a.dropGone()
	}
	return nil
}

// compareNewest compares a client's newest snapshot, unless that was done before.
func (a *Agreement) compareNewest(m *Match, c *client.Client) error {
	t := probe.OfClient(c).Newest()
	if t == a.compared[c] {
		return nil
	}
	a.compared[c] = t
	ring := a.sent[c.View().Player]
	if ring == nil {
		return nil
	}
	want := ring[t%digests]
	if want.Tick != t || want.Fields == 0 {
		return nil
	}
	got := probe.OfClient(c).ScreenHash()
	if got.Fields == 0 {
		return nil
	}
	a.Snapshots++
	a.Fields += uint64(want.Fields)
	if got != want {
		return fmt.Errorf("player %d: the snapshot of tick %d has digest %x over %d fields, the server's has %x over %d",
			c.View().Player, got.Tick, got.Digest, got.Fields, want.Digest, want.Fields)
	}
	return nil
}

// dropGone drops clients that are gone.
func (a *Agreement) dropGone() {
	kept := map[*client.Client]foretick.Tick{}
	for _, c := range a.clients {
		kept[c] = a.compared[c]
	}
	a.compared = kept
}

// Quiet implements [Checker].
func (a *Agreement) Quiet(m *Match) error {
	if m.Server() == nil {
		return fmt.Errorf("the match has no server")
	}
	for _, c := range m.Clients(nil) {
		v := c.View()
		if v.State != client.Playing {
			return fmt.Errorf("player %d is %v: %w", v.Player, v.State, v.Err)
		}
		r := m.Audit(c)
		if r.Differences > 0 {
			return fmt.Errorf("player %d: %d differences, the first: %s (if the game still moves by itself, give it a longer Plan.Rest, or a negative one if it never rests)", v.Player, r.Differences, r.First)
		}
		if r.Digest != r.ServerDigest {
			return fmt.Errorf("player %d: its state hashes to %x, the server's to %x", v.Player, r.Digest, r.ServerDigest)
		}
		a.Audits++
		a.Fields += uint64(r.Fields)
	}
	return nil
}

// Worked implements [Checker]. For a match that never rests ([Plan].Rest) it
// does not require clients compared at rest.
func (a *Agreement) Worked(m *Match) (string, error) {
	line := fmt.Sprintf("agreement: %d snapshots and %d clients at rest, %d fields", a.Snapshots, a.Audits, a.Fields)
	switch {
	case a.Snapshots == 0:
		return line, fmt.Errorf("nothing was compared: no client received a snapshot of a tick that is compared, which is every %d. Let clients join and play for longer (%s)", max(a.Every, 1), line)
	case a.Audits == 0 && !m.restless:
		return line, fmt.Errorf("nothing was compared at rest: call Match.Quiet once nothing moves any more and every client has caught up (%s)", line)
	case a.Fields == 0:
		return line, fmt.Errorf("nothing was compared: the snapshots have no fields. Spawn entities with components that clients receive (%s)", line)
	}
	return line, nil
}
