package main

import (
	"fmt"
	"io"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/simtest"
)

// playSim plays the match in virtual time: at the speed of real time with a live line, or else as fast
// as it can.
func playSim(o options, live io.Writer) (*Report, error) {
	m := newMatch(o)
	s := simtest.New(o.seed)
	if err := m.serveSim(s); err != nil {
		return nil, err
	}
	for n := range o.clients {
		seat, cfg, err := m.clientConfig(n)
		if err != nil {
			return nil, err
		}
		if err := m.seatSim(s, seat, cfg); err != nil {
			return nil, err
		}
	}
	pace(s, m, o.duration(), live)
	m.end()
	s.RunFor(quietTime)
	for rest := restLimit; rest > 0 && !m.agreed() && s.Err() == nil; rest -= quietTime / 10 {
		s.RunFor(quietTime / 10)
	}
	return m.report(hexDigest(s.Trace()))
}

func (m *match) serveSim(s *simtest.Match) error {
	if err := m.openLog(s.Net.Now); err != nil {
		return err
	}
	cfg, err := m.serverConfig()
	if err != nil {
		return err
	}
	if m.server, err = s.Serve(cfg); err != nil {
		return err
	}
	m.logSent()
	s.AroundServer = m.around
	return nil
}

func (m *match) seatSim(s *simtest.Match, seat *seat, cfg client.Config) (err error) {
	seat.client, err = s.Join(cfg, simtest.Seat{Up: m.opt.link(), Down: m.opt.link(), After: m.log.frame})
	return err
}

// pace runs the match to its end. live is nil if no live line is printed.
func pace(s *simtest.Match, m *match, end time.Duration, live io.Writer) {
	if live == nil {
		s.Run(end)
		return
	}
	start, shown := time.Now(), newProgress(live)
	for t := time.Duration(0); t < end; t += 100 * time.Millisecond {
		s.Run(t)
		shown.print(t, m.liveLine(t))
		time.Sleep(time.Until(start.Add(t)))
	}
	s.Run(end)
	shown.print(end, m.liveLine(end))
	shown.end()
}

// liveLine returns the figures of a match so far.
func (m *match) liveLine(t time.Duration) string {
	st := m.server.Stats()
	var wrong, predicted uint64
	for _, s := range m.seats {
		cs := s.client.Stats()
		wrong, predicted = wrong+cs.Mispredictions, predicted+cs.PredictedTicks
	}
	return fmt.Sprintf("%5.1f s  tick %4d  %d players  %5.0f B/s down each  %d of %d predictions corrected  %d kills",
		t.Seconds(), st.Ticks, st.Joined-st.Left, float64(st.BytesOut)/float64(len(m.seats))/max(t.Seconds(), 0.1), wrong, predicted, m.game.Kills(m.server.World()))
}
