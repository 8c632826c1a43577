package relay

import (
	"math/bits"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

const (
	sumRounds   = 8               // sumRounds is how many ticks are compared at the same time.
	sumPatience = 3 * time.Second // sumPatience is for how long a round waits for a player's sum.
)

// sums compares the sums that players send of their worlds.
type sums struct {
	places *places
	rounds [sumRounds]sumRound
	at     int          // at is the index of the newest round.
	agreed netcode.Tick // agreed is the newest tick at which the sums of all came and were equal.

	compared uint64 // compared counts the rounds that were decided.
	differed uint64 // differed counts the rounds in which a player's sum differed.
}

// sumRound has the players' sums of one tick.
type sumRound struct {
	tick     netcode.Tick
	begun    time.Duration
	expected uint64 // expected has a bit for each player whose sum is waited for.
	came     uint64 // came has a bit for each player whose sum came.
	of       [settled.MaxPlaces]uint64
	decided  bool
	majority uint64 // majority is the sum of most players, if most is true.
	most     bool   // most is true if more than half of the sums that came are equal.
}

// begin begins the round of a tick that settled: each of its players sends a sum, if it has a world.
func (s *sums) begin(t *settled.Tick, now time.Duration) {
	s.at = (s.at + 1) % sumRounds
	s.rounds[s.at] = sumRound{tick: t.Tick, begun: now}
	for _, in := range t.Inputs {
		if g := s.places.at(in.Player).guest; g != nil && g.state == following {
			s.rounds[s.at].expected |= settled.BitOf(in.Player)
		}
	}
}

func (s *sums) round(t netcode.Tick) *sumRound {
	for i := range s.rounds {
		if r := &s.rounds[i]; r.begun > 0 && r.tick == t {
			return r
		}
	}
	return nil
}

// take takes in a player's sum. The first one of a tick counts.
func (s *sums) take(player ecs.Owner, m settled.Sum) {
	r := s.round(m.Tick)
	if r == nil || r.decided || r.expected&^r.came&settled.BitOf(player) == 0 {
		return // too late, or of a tick before the player joined
	}
	r.came |= settled.BitOf(player)
	r.of[player-1] = m.Sum
	if r.came == r.expected {
		s.decide(r)
	}
}

// step decides the rounds that have waited long enough.
func (s *sums) step(now time.Duration) {
	for i := range s.rounds {
		if r := &s.rounds[i]; r.begun > 0 && !r.decided && now-r.begun > sumPatience {
			s.decide(r)
		}
	}
}

// decide finds the sum that more than half have, and tells the others.
func (s *sums) decide(r *sumRound) {
	r.decided = true
	n := bits.OnesCount64(r.came)
	first := ecs.Owner(bits.TrailingZeros64(r.came)) + 1
	if n == 0 {
		return
	}
	s.compared++
	var who ecs.Owner // who has the sum of most players, or is the first player if there is none.
	for left := r.came; left != 0 && !r.most; left &= left - 1 {
		who = ecs.Owner(bits.TrailingZeros64(left)) + 1
		r.majority = r.of[who-1]
		equal := 0
		for of := r.came; of != 0; of &= of - 1 {
			if r.of[bits.TrailingZeros64(of)] == r.majority {
				equal++
			}
		}
		r.most = 2*equal > n
	}
	if !r.most {
		who = first
	}
	differed := false
	for left := r.came; left != 0; left &= left - 1 {
		p := ecs.Owner(bits.TrailingZeros64(left)) + 1
		if r.of[p-1] != r.of[who-1] {
			differed = true
			s.tell(r, p, who, false)
			s.tell(r, who, p, r.most)
		}
	}
	switch {
	case differed:
		s.differed++
	case r.came == r.expected:
		s.agreed = max(s.agreed, r.tick)
	}
}

// agreedBefore returns the newest tick before t at which all sums were equal, or 0 if it is not known.
func (s *sums) agreedBefore(t netcode.Tick) netcode.Tick {
	if s.agreed >= t {
		return 0
	}
	return s.agreed
}

// tell tells a player that its world and another's differ.
func (s *sums) tell(r *sumRound, player, other ecs.Owner, most bool) {
	pl := s.places.at(player)
	pl.clues = settled.MostClues
	if g := pl.guest; g != nil {
		d := settled.Differ{Tick: r.tick, Agreed: s.agreedBefore(r.tick), Other: other, Theirs: r.of[other-1], Most: most}
		_ = g.conn.SendReliable(r.tick, settled.KindDiffer, d.Append(nil)) // a full queue ends the connection elsewhere
	}
}
