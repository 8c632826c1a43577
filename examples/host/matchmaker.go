package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/foretick/foretick/transport/ticket"
)

// gameServer is where a match runs.
type gameServer struct {
	Game netip.AddrPort // over DTLS and UDP
	Web  string         // URL over WebSocket; empty: there is none
}

// seat is what the matchmaker gives to a player: where to play, and the right to.
type seat struct {
	Match  string
	Game   netip.AddrPort `json:",omitzero"`
	Web    string         `json:",omitempty"`
	Ticket []byte         // of package ticket
}

// request is what a player asks for.
type request struct {
	Name    string
	Refused string `json:",omitempty"` // the match that the player could not join: its host drains, or it is over
}

var errNoServer = errors.New("no server takes new matches: ask again soon")

const (
	ticketLife = 30 * time.Second // to connect
	gatherFor  = 10 * time.Second // a match takes newcomers for so long
	mostSeats  = 1 << 16          // players that the matchmaker remembers
	placeTime  = 5 * time.Second  // to find a server
)

// matchmaker gives players seats in matches. Who asks again goes back to its match.
//
// Everybody may ask under any name here. In a real game the player logs in first, over HTTPS, and
// the identity in the ticket is that of its account.
type matchmaker struct {
	o     options
	place func(ctx context.Context, match string) (gameServer, error) // finds a server for a new match

	mu    sync.Mutex
	open  *gathering
	seats map[string]*gathering // by name of the player
	made  int
}

// gathering is a match that players are sent to.
type gathering struct {
	match   string
	server  gameServer
	begun   time.Time
	players int
}

// ServeHTTP replies to a player that asks for a match.
func (m *matchmaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask request
	if err := json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&ask); err != nil || ask.Name == "" || len(ask.Name) > 64 {
		http.Error(w, `send {"Name":"…"} with 1 to 64 bytes`, http.StatusBadRequest)
		return
	}
	s, err := m.seat(r.Context(), ask, time.Now())
	if err != nil {
		m.o.log.Warn("no seat", "player", ask.Name, "err", err)
		w.Header().Set("Retry-After", "2")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // the ticket is for this player alone
	_ = json.NewEncoder(w).Encode(s)
}

// seat finds a player's match, and issues its ticket.
func (m *matchmaker) seat(ctx context.Context, ask request, now time.Time) (seat, error) {
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	g, err := m.gather(ctx, ask, now)
	if err != nil {
		return seat{}, err
	}
	t, err := ticket.Issue(m.o.keys.first(), ticket.Claims{Match: g.match, Identity: []byte(ask.Name), Expires: now.Add(ticketLife), Servers: []netip.AddrPort{g.server.Game}})
	if err != nil {
		return seat{}, err
	}
	b, err := t.MarshalBinary()
	return seat{Match: g.match, Game: g.server.Game, Web: g.server.Web, Ticket: b}, err
}

// gather returns the match of a player: its own that still runs, one that gathers players, or a new
// one.
func (m *matchmaker) gather(ctx context.Context, ask request, now time.Time) (*gathering, error) {
	m.mu.Lock() // allocations come one after another, so that players gather in one match
	defer m.mu.Unlock()
	if m.seats == nil {
		m.seats = map[string]*gathering{}
	}
	if g := m.seats[ask.Name]; g != nil && g.match == ask.Refused {
		delete(m.seats, ask.Name)
		if m.open == g {
			m.open = nil // others would be refused too
		}
	} else if g != nil && now.Sub(g.begun) < m.o.length {
		return g, nil
	}
	if len(m.seats) >= mostSeats {
		m.forget(now)
	}
	if len(m.seats) >= mostSeats {
		return nil, errNoServer
	}
	if g := m.open; g == nil || g.players >= m.o.players || now.Sub(g.begun) > min(gatherFor, m.o.length/2) {
		match := fmt.Sprintf("%d-%d", now.UnixMilli(), m.made+1)
		s, err := m.place(ctx, match)
		if err != nil {
			return nil, err
		}
		m.made++
		m.open = &gathering{match: match, server: s, begun: now}
	}
	m.open.players++
	m.seats[ask.Name] = m.open
	return m.open, nil
}

// forget forgets the players of matches that are over.
func (m *matchmaker) forget(now time.Time) {
	for name, g := range m.seats {
		if now.Sub(g.begun) >= m.o.length {
			delete(m.seats, name)
		}
	}
}
