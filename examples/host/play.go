package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/ws"
)

// asking is the client that sends requests to matchmakers.
var asking = &http.Client{Timeout: 10 * time.Second}

// askFor asks the matchmaker at url for a seat.
func askFor(ctx context.Context, url string, ask request) (s seat, err error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return s, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/play", bytes.NewReader(body))
	if err != nil {
		return s, err
	}
	resp, err := asking.Do(r)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return s, err
	}
	if resp.StatusCode != http.StatusOK {
		return s, fmt.Errorf("the matchmaker says %s: %s", resp.Status, cmp.Or(strings.TrimSpace(string(b[:min(len(b), 200)])), "no reason"))
	}
	return s, json.Unmarshal(b, &s)
}

// dial connects to the seat's match: over WebSocket as browsers do, or over DTLS.
func (s seat) dial(web bool) (transport.Endpoint, error) {
	if !web || s.Web == "" {
		return dtls.Dial(s.Game.String(), dtls.Config{Ticket: s.Ticket})
	}
	var t ticket.Ticket
	if err := t.UnmarshalBinary(s.Ticket); err != nil {
		return nil, err
	}
	return ws.Dial(s.Web, ws.Config{Token: t.Sealed})
}

// player is a bot that plays one match after another, as people do.
type player struct {
	ctx   context.Context // ends when the bots should leave
	game  *bots.Game
	url   string // the matchmaker's URL
	name  string
	web   bool            // it connects over WebSocket
	light *bots.Light     // the bot in its match; nil: it has no match
	again time.Time       // when it may ask for the next match
	match string          // the match that it was sent to
	say   func(err error) // logs why a match ended
	// played is set once it has played.
	played atomic.Bool
}

// Step plays the match, or if the bot has none, asks for the next one.
func (p *player) Step(now time.Time) error {
	if p.light != nil {
		err := p.light.Step(now)
		if err == nil {
			if p.light.Playing() {
				p.played.Store(true)
			}
			return nil
		}
		p.say(err) // the match is over
		if p.light.Stats().Joins > 0 {
			p.match = "" // it was not refused
		}
		_ = p.light.Close()
		p.light, p.again = nil, now.Add(time.Second)
		return nil
	}
	if now.Before(p.again) {
		return nil
	}
	var err error
	if p.light, err = p.join(); err != nil {
		p.light, p.again = nil, now.Add(2*time.Second)
		p.say(err)
	}
	return nil
}

// join asks the matchmaker for a seat, and connects. To reconnect it asks for a new ticket.
func (p *player) join() (*bots.Light, error) {
	dial := func() (transport.Endpoint, error) {
		s, err := askFor(p.ctx, p.url, request{Name: p.name, Refused: p.match})
		if err != nil {
			return nil, err
		}
		p.match = s.Match
		return s.dial(p.web)
	}
	e, err := dial()
	if err != nil {
		return nil, err
	}
	light, err := p.game.Join(0, e)
	if err == nil {
		light.Redial = func() (transport.Endpoint, error) { p.match = ""; return dial() }
	}
	return light, err
}

// Next implements bots.Player.
func (p *player) Next() time.Time {
	if p.light != nil {
		return p.light.Next()
	}
	return p.again
}

// Playing implements bots.Player.
func (p *player) Playing() bool { return p.light != nil && p.light.Playing() }

// Close implements bots.Player.
func (p *player) Close() error {
	if p.light == nil {
		return nil
	}
	return p.light.Close()
}

// play runs the bots until ctx ends, and logs how many of them played. Every second one connects as
// browsers do.
func play(ctx context.Context, o options) error {
	game, err := bots.New(new(Game).Protocol(), func(dst *Command, _ int, tick uint32) { *dst = walk(tick) })
	if err != nil {
		return err
	}
	var mu sync.Mutex
	last := ""
	say := func(err error) { // logs a reason only once in a row
		mu.Lock()
		defer mu.Unlock()
		if text := err.Error(); text != last && ctx.Err() == nil {
			last = text
			o.log.Info("a bot's match ended", "why", text)
		}
	}
	all := make([]player, o.bots)
	c := &bots.Crowd{Count: o.bots, PerSecond: 50, Workers: 4, Start: func(n int) (bots.Player, error) {
		p := &all[n]
		p.ctx, p.game, p.url, p.name, p.web, p.say = ctx, game, strings.TrimSuffix(o.ask, "/"), fmt.Sprint("bot ", n+1), n%2 == 1, say
		return p, nil
	}}
	began := time.Now()
	err = c.Run(ctx)
	played := 0
	for i := range all {
		if all[i].played.Load() {
			played++
		}
	}
	o.log.Info("the bots end", "bots", o.bots, "played", played, "seconds", int(time.Since(began).Seconds()))
	return err
}
