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

// gameServer is where players connect to a match.
type gameServer struct {
	Game netip.AddrPort // its address for DTLS and UDP
	Web  string         // its URL for WebSocket; empty: there is none
}

// seat is the matchmaker's reply to a player: where its match runs, and a ticket that admits it.
type seat struct {
	Match  string
	Game   netip.AddrPort `json:",omitzero"`
	Web    string         `json:",omitempty"`
	Ticket []byte         // of package ticket
}

// request is what a player sends to the matchmaker.
type request struct {
	Name    string
	Refused string `json:",omitempty"` // a match that did not admit the player: its host drains, or it is over
}

var errNoServer = errors.New("no server takes new matches: ask again soon")

const (
	ticketLife = 30 * time.Second // how long a player may take to connect
	gatherFor  = 10 * time.Second // how long a match takes new players
	mostSeats  = 1 << 16          // how many players the matchmaker remembers
	placeTime  = 5 * time.Second  // how long it may take to find a server
)

// matchmaker gives players seats in matches. A player that asks again gets a seat in the same match.
//
// Here players may use any name. In a real game a player logs in first, over HTTPS, and the identity
// in its ticket is that of its account.
type matchmaker struct {
	o     options
	place func(ctx context.Context, match string) (gameServer, error) // finds a server for a new match

	mu    sync.Mutex
	open  *gathering            // the match that takes new players; nil: none
	seats map[string]*gathering // each player's match, by the player's name
	made  int                   // how many matches were made
}

// gathering is a match that the matchmaker has sent players to.
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

// gather returns a player's match: the one that it was sent to if that still runs, the one that
// takes new players, or a new one.
func (m *matchmaker) gather(ctx context.Context, ask request, now time.Time) (*gathering, error) {
	m.mu.Lock() // one allocation at a time, so that players gather in one match
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
