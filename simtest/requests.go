package simtest

import (
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
)

// Requests checks that players' requests ([foretick.Request]) reach the server
// exactly once and in order, for as long as a player stays, across lost connections
// and reconnects. When the match is at rest (see [Checker].Quiet), every request must
// have arrived. A game's test sends requests in [Player.Act].
type Requests struct {
	seed   maphash.Seed
	server *server.Server
	asked  []*errands // one for each client's session, in order of creation

	// Handled counts the requests that reached the server.
	Handled uint64
}

// errands are the requests that a client sent in one session and the server has not
// handled yet.
type errands struct {
	client  *client.Client // the client of the session; nil: the session has ended
	gone    time.Duration  // time at which the end of the session was noticed
	number  uint64         // number of the session, as the client counts them
	player  foretick.PlayerID
	session uint64   // the server's number of the session; 0: not known yet
	queue   []uint64 // digests of the requests
}

// errandsKept is how long requests of an ended session are remembered: they may
// still arrive, for example at a server that was frozen.
const errandsKept = time.Minute

func (q *Requests) digest(kind uint8, payload []byte) uint64 {
	if q.seed == (maphash.Seed{}) {
		q.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(q.seed, payload) + uint64(kind)*0x9E3779B97F4A7C15
}

// Asked implements [RequestChecker].
func (q *Requests) Asked(_ *Match, c *client.Client, r RequestSent) {
	n := sessions(c)
	i := slices.IndexFunc(q.asked, func(e *errands) bool { return e.client == c && e.number == n })
	if i < 0 {
		i = len(q.asked)
		q.asked = append(q.asked, &errands{client: c, number: n, player: c.View().Player})
	}
	q.asked[i].queue = append(q.asked[i].queue, q.digest(r.Kind, r.Payload))
}

// Handling implements [RequestChecker].
func (q *Requests) Handling(_ *Match, r RequestTaken) error {
	got := q.digest(r.Kind, r.Payload)
	first := func(e *errands) bool { return len(e.queue) > 0 && e.queue[0] == got }
	i := slices.IndexFunc(q.asked, func(e *errands) bool { return e.session == r.Session })
	for k := len(q.asked) - 1; k >= 0 && i < 0; k-- { // the newest player with that number
		if e := q.asked[k]; e.session == 0 && e.player == r.By && first(e) {
			i = k
		}
	}
	if i < 0 || !first(q.asked[i]) {
		return fmt.Errorf("player %d: a request of kind %d is not the expected one", r.By, r.Kind)
	}
	e := q.asked[i]
	e.session, e.queue = r.Session, e.queue[1:]
	q.Handled++
	return nil
}

// Tick implements [Checker].
func (q *Requests) Tick(m *Match) error {
	if s := m.Server(); s != q.server { // requests to a former server no longer count
		q.server, q.asked = s, nil
	}
	if m.Server().Tick()%32 == 0 {
		q.asked = slices.DeleteFunc(q.asked, func(e *errands) bool {
			if e.client != nil && (m.seatOf(e.client) == nil || e.number != sessions(e.client)) {
				e.client, e.gone = nil, m.Net.Now()
			}
			return e.client == nil && m.Net.Now()-e.gone > errandsKept
		})
	}
	return nil
}

// Quiet implements [Checker].
func (q *Requests) Quiet(m *Match) error {
	for _, e := range q.asked {
		if e.client != nil && m.seatOf(e.client) != nil && e.number == sessions(e.client) && len(e.queue) > 0 {
			return fmt.Errorf("player %d: %d requests have not been handled", e.player, len(e.queue))
		}
	}
	return nil
}

// Worked implements [Checker].
func (q *Requests) Worked(m *Match) (string, error) {
	line := fmt.Sprintf("requests: %d handled", q.Handled)
	if q.Handled == 0 && m.requests > 0 {
		return line, fmt.Errorf("no request was handled: have Player.Act send some, or leave Requests out of Plan.Checkers")
	}
	return line, nil
}
