package foretick

import (
	"time"

	"github.com/foretick/foretick/figures"
	"github.com/foretick/foretick/netcode"
)

// pathEvery is the time between two looks at a player's path. At 30 packets a second a lost one is
// then a third of a percent.
const pathEvery = 10 * time.Second

// playerPath is what the figures have of the path to a player.
type playerPath struct {
	connection uint64
	next       time.Duration
	before     netcode.Stats // at the last look
}

// look counts the round trip and the losses of a player's newest seconds, when they are over.
func (w *playerPath) look(f *figures.Server, now time.Duration, s *session) {
	if w.connection != s.connection {
		*w = playerPath{connection: s.connection, next: now + pathEvery, before: s.conn.Stats()}
		return
	}
	if now < w.next {
		return
	}
	st, was := s.conn.Stats(), &w.before
	if st.RTT > 0 {
		f.RTT.Observe(st.RTT)
	}
	// Packets that were counted as lost may come after all, so a difference may be negative.
	observeLoss(&f.LossOut, float64(st.Lost-st.AckedLate)-float64(was.Lost-was.AckedLate), st.Delivered+st.Lost-was.Delivered-was.Lost)
	lostIn := float64(st.LostIn) - float64(was.LostIn)
	observeLoss(&f.LossIn, lostIn, st.Received-was.Received+uint64(max(lostIn, 0)))
	w.next, w.before = now+pathEvery, st
}

// observeLoss counts the share of lost packets among all, if there were any.
func observeLoss(s *figures.Shares, lost float64, all uint64) {
	if all > 0 {
		s.Observe(lost / float64(all))
	}
}
