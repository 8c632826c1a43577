package foretick

import (
	"sync"
)

// board is what a server shows to other goroutines: a copy of what it counted, made at
// the end of each Step, and of its players, made when a tick was computed.
type board struct {
	mu      sync.Mutex
	stats   ServerStats
	players []PlayerID
	each    []PlayerStats // of the places below, in their order
	at      []int32       // by owner: 1 + its place in each
}

// post brings the board up to date. Players cost a copy each, and so are posted with
// ticks alone.
func (s *Server) post(players bool) {
	b := &s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if players {
		s.postPlayers()
	}
	b.stats = s.stats
}

func (s *Server) postPlayers() {
	b := &s.board
	s.postWho()
	clear(b.at)
	b.each = b.each[:0]
	for _, p := range s.players {
		s.countResent(p)
	}
	for who, p := range s.owners {
		if p != nil {
			b.each = append(b.each, p.count())
			b.at[who] = int32(len(b.each))
		}
	}
}

// countResent adds what a connection sent again since it was last counted.
func (s *Server) countResent(p *player) {
	if p.conn != nil {
		n := p.conn.Stats().EntriesResent
		s.stats.MessagesResent += n - p.resent
		p.resent = n
	}
}

// postWho lists who plays.
func (s *Server) postWho() {
	b := &s.board
	if b.at == nil {
		b.at = make([]int32, len(s.owners))
	}
	b.players = b.players[:0]
	for _, p := range s.players {
		if p.state >= playing {
			b.players = append(b.players, p.owner)
		}
	}
}

// postOne says at once that a player came or went: handlers of the same tick ask.
func (s *Server) postOne(p *player) {
	b := &s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats = s.stats
	s.postWho()
	switch {
	case s.owners[p.owner] != p:
		b.at[p.owner] = 0
	case b.at[p.owner] == 0:
		b.each = append(b.each, p.count())
		b.at[p.owner] = int32(len(b.each))
	default:
		b.each[b.at[p.owner]-1] = p.count()
	}
}

// count is what was counted of a player.
func (p *player) count() PlayerStats {
	st := p.stats
	if p.buffer != nil {
		st.InputsLate, st.InputsDuplicate, st.InputsFar, st.InputsMalformed = p.buffer.Stats()
		st.InputsReplaced = p.buffer.Replaced()
	}
	if p.judge != nil {
		st.Claims = p.judge.Stats()
	}
	if p.conn != nil {
		st.RTT = p.conn.RTT()
	}
	st.Connection, st.Session, st.Judged = p.connection, p.session, p.verdict
	return st
}

// Stats is what the server counted up to the end of the newest Step, or until a player
// last came or went if that is later. Any goroutine may call it, while Run runs as well.
func (s *Server) Stats() ServerStats {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	return s.board.stats
}

// Players appends who plays to dst, in order of arrival. Those whose place is held while
// they are away are among them. Any goroutine may call it, while Run runs as well.
func (s *Server) Players(dst []PlayerID) []PlayerID {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	return append(dst, s.board.players...)
}

// Player is what the server counted of one player up to the end of the newest tick;
// false when it does not play. Any goroutine may call it, while Run runs as well.
func (s *Server) Player(player PlayerID) (PlayerStats, bool) {
	b := &s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if int(player) >= len(b.at) || b.at[player] == 0 {
		return PlayerStats{}, false
	}
	return b.each[b.at[player]-1], true
}

// clientBoard is what a client shows to other goroutines.
type clientBoard struct {
	mu    sync.Mutex
	stats ClientStats
}

// post brings the board up to date.
func (c *Client) post() {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	c.board.stats = c.stats
	if c.conn != nil {
		c.board.stats.Connection = c.conn.Stats()
	}
}

// Stats is what the client counted up to the end of the newest Step, or up to the
// newest session if that is later. Any goroutine may call it, while Run runs as well.
func (c *Client) Stats() ClientStats {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	return c.board.stats
}
