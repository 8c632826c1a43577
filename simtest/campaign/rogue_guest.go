package campaign

import (
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
)

// guest is an honest client.
type guest struct {
	client *client.Client
	player simtest.Player
	end    transport.Endpoint
	since  time.Duration
}

// invite connects a new honest client.
func (d *rogueMatch) invite() (*guest, error) {
	make1 := d.cfg.New
	if make1 == nil {
		make1 = newRogueGame
	}
	g := &guest{player: make1(), end: d.net.Dial(true), since: d.now}
	var err error
	g.client, err = client.New(client.Config{Protocol: g.player.Protocol, Transport: g.end, Sample: g.player.Sample})
	if err == nil {
		probe.OfClient(g.client).SetArchitecture(architecture)
	}
	return g, err
}

// honest lets the honest clients take a step, and checks that they still can play. The match calls it
// every half tick.
func (d *rogueMatch) honest() error {
	if d.panicked != nil {
		return d.panicked
	}
	d.peak = max(d.peak, d.server.World().Len())
	if d.half = !d.half; d.half || d.resident == nil {
		return nil // honest is called twice a tick, and honest clients take one step a tick
	}
	v := d.drawGuest(d.resident)
	if d.maps == nil {
		return nil
	}
	if v.State != client.Playing {
		return fmt.Errorf("after %v the honest client is %v (%w)", d.now, v.State, errOr(v.Err))
	}
	if !d.busy && d.cfg.Over != nil {
		return d.visit() // without rogues, virtual time runs faster than sockets can follow
	}
	newest := probe.OfClient(d.resident.client).Newest()
	if newest != 0 {
		d.heard = newest
	} // otherwise the client has just entered a level, and its first snapshot is in transit
	behind := time.Duration(d.server.Tick()-d.heard) * d.interval
	if d.counts.Behind = max(d.counts.Behind, behind); behind > behindLimit {
		return fmt.Errorf("after %v the honest client's newest snapshot is %v old", d.now, behind)
	}
	return d.visit()
}

func (d *rogueMatch) drawGuest(g *guest) client.View {
	v := g.client.Step(simtest.Epoch.Add(d.now))
	if g.player.Act != nil {
		g.player.Act(g.client)
	}
	return v
}

// visit makes a new honest client join from time to time; it must be playing within
// three seconds.
func (d *rogueMatch) visit() (err error) {
	if d.guest == nil {
		if !d.relief && (d.settling || d.filling || d.now < d.nextGuest) {
			return nil
		}
		if d.guest, err = d.invite(); err != nil {
			return err
		}
	}
	g := d.guest
	v, took := d.drawGuest(g), d.now-g.since
	switch {
	case v.State == client.Playing:
		if d.relief {
			d.relief, d.resident, g = false, g, d.resident
		}
		_ = g.client.Close()
		d.counts.Guests++
		d.counts.SlowestGuest = max(d.counts.SlowestGuest, took)
		d.guest, d.nextGuest = nil, d.now+time.Duration(d.dice.n(60))*d.interval
	case v.State == client.Closed || took > guestLimit:
		return fmt.Errorf("after %v a fresh honest client is %v for %v (%w); %d are connected, %d play or are away", d.now, v.State, took, errOr(v.Err), len(d.door.cards), len(d.server.Players(nil)))
	}
	return nil
}

func errOr(err error) error {
	if err == nil {
		return errors.New("no reason")
	}
	return err
}
