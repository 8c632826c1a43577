package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/foretick/foretick/transport"
)

// checkLeaks waits until the rogues are gone and their places are released, and checks for
// leaks. A new honest client replaces the resident one: what a long session keeps in memory
// would count as growth.
func (d *rogueMatch) checkLeaks(batch int) error {
	if d.player.Rest != nil {
		d.player.Rest(true)
		defer d.player.Rest(false)
	}
	d.settling, d.relief = true, d.resident != nil
	defer func() { d.settling, d.nextGuest = false, d.now }()
	limit := rogueSettles
	if d.cfg.Over != nil {
		limit *= 10 // transports' timeouts are in real time
	}
	for until := d.now + limit; ; {
		for range 2 * int(time.Second/d.interval) {
			if err := d.stepHalfTick(); err != nil {
				return err
			}
		}
		err := d.leftovers(batch)
		if err == nil && d.guest == nil && !d.relief {
			return nil
		}
		if d.now > until {
			return err
		}
	}
}

// leftovers returns an error for anything that rogues left behind.
func (d *rogueMatch) leftovers(batch int) error {
	if n := d.server.Stats().CorePanics; n > 0 {
		return fmt.Errorf("batch %d: %d panics in decoding", batch, n)
	}
	honest := 0
	if d.resident != nil {
		honest = 1
	}
	if d.owners = d.server.Players(d.owners[:0]); len(d.owners) != honest {
		return fmt.Errorf("leak: batch %d: players %v after all rogues are gone", batch, d.owners)
	}
	if n := d.server.World().Len(); n != d.entities {
		return fmt.Errorf("leak: batch %d: %d entities, %d before the rogues came", batch, n, d.entities)
	}
	if n := len(d.door.cards); n != honest {
		return fmt.Errorf("leak: batch %d: %d connections after all rogues are gone", batch, n)
	}
	if n := d.net.Held(); n > d.held {
		return fmt.Errorf("leak: batch %d: %d goroutines and sockets, %d before the rogues came", batch, n, d.held)
	}
	now := MapEntries(d.server)
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if now[path] > max(d.maps[path], d.swept(path)) {
			return fmt.Errorf("leak: batch %d: map %s has %d entries, %d before the rogues came", batch, path, now[path], d.maps[path])
		}
	}
	return nil
}

// swept returns how many stale entries a map may have that only removes them when it
// grows.
func (d *rogueMatch) swept(path string) int {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "archByMask":
		return 16 // tables, by component set
	case "cuts":
		return 2*d.peak + 17
	case "limits": // the log's limits
		return 32 // kinds of log lines, a fixed number
	}
	return 0
}

// fillPlaces checks that every place is available again, by connecting that many clients at
// once.
func (d *rogueMatch) fillPlaces() error {
	d.filling, d.upTo, d.door.plain = true, d.sequence, true
	if d.player.Rest != nil {
		d.player.Rest(true)
	}
	all := make([]*rogue, d.most-1)
	for i := range all {
		all[i] = &rogue{match: d, dice: d.dice}
		all[i].dialAgain()
		all[i].number = 0
	}
	admitted := d.counts.Played
	limit := guestLimit
	if d.cfg.Over != nil {
		limit *= 20 // that many simultaneous handshakes take a while
	}
	for until := d.now + limit; d.now < until && int(d.counts.Played-admitted) < len(all); {
		if err := d.stepHalfTick(); err != nil {
			return err
		}
		for _, r := range all {
			if r.receive(d.now); r.peer != 0 {
				r.behave()
			} else if r.state == rogueOut && d.cfg.Over != nil {
				r.dialAgain() // its handshake took too long
			}
		}
	}
	in := int(d.counts.Played - admitted)
	d.counts.Played = admitted
	for _, r := range all {
		r.hangUp(transport.Closed)
	}
	if in != len(all) {
		return fmt.Errorf("leak: only %d of %d places are available", in, len(all))
	}
	return nil
}
