package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// clientReports tell the server of corrections, while it asks for them.
type clientReports struct {
	until    time.Duration // 0: it never asked
	outgoing reason.Outgoing
	asks     allowance // of the server's questions
	sends    allowance
	report   reason.Report // scratch
}

// explains reports whether somebody wants to know of corrections, so that they are worth an
// explanation.
func (tl *timeline) explains() bool {
	return tl.cfg.OnMisprediction != nil || tl.reports.until > tl.now
}

// tell hands a correction to whoever wants to know.
func (tl *timeline) tell(m *prediction.Misprediction) {
	if tl.reports.until > tl.now {
		tl.reportWrong(m)
	}
	if tl.cfg.OnMisprediction != nil {
		tl.cfg.OnMisprediction(*m)
	}
}

// reportWrong queues a correction for the server.
func (tl *timeline) reportWrong(m *prediction.Misprediction) {
	r := &tl.reports.report
	names := recordRefs{tl}
	r.Wrong = *m
	r.Input, r.Executed = tl.reportedCommands(m)
	r.Wrong.Entity, r.Wrong.Differences = uint64(names.Net(m.Entity)), append([]prediction.Difference(nil), m.Differences...)
	for i := range r.Wrong.Differences {
		d := &r.Wrong.Differences[i]
		d.Entity = uint64(names.Net(d.Entity))
	}
	tl.reports.outgoing.Add(r)
}

// reportedCommands returns the packed commands that the client and the server ran, as
// explainInputs found them. A server of another build could not read them.
func (tl *timeline) reportedCommands(m *prediction.Misprediction) (input, executed []byte) {
	if m.Input == nil || tl.p.OtherBuild {
		return nil, nil
	}
	input = tl.input.played(commandTick(m))
	if m.Cause != prediction.Input {
		return input, input
	}
	return input, tl.executed(m)
}

// commandTick returns the tick whose commands a misprediction tells of.
func commandTick(w *prediction.Misprediction) Tick {
	if w.CauseTick == 0 {
		return w.Tick
	}
	return w.CauseTick
}

// executed returns the command that the server ran in place of the player's own, packed; nil if
// it is not known.
func (tl *timeline) executed(w *prediction.Misprediction) []byte {
	t := commandTick(w)
	if in := tl.input.history.Find(t); w.StandIn == prediction.Replaced && in != nil {
		return in.first
	}
	return tl.reasons.StandIn(t)
}

// reportMessage handles the server's question.
func (c *Client) reportMessage(b []byte) error {
	r := &c.reports
	if len(b) != 1 || b[0] != reason.AskReports || !r.asks.take(c.now, traceAskRate, traceAskBurst) {
		return reason.ErrReport
	}
	if !c.cfg.Observe {
		r.until = c.now + traceLapse
	}
	return nil
}

// write puts a report into the packet that is being built.
func (r *clientReports) write(now time.Duration, pk *netcode.Packet) {
	if !r.sends.permits(now, reportRate, reportBurst) {
		return
	}
	if b := r.outgoing.Next(pk.Room()); b != nil && pk.Message(messageReport, b) {
		r.sends.take(now, reportRate, reportBurst)
	}
}

// forget drops what another connection asked for.
func (r *clientReports) forget() {
	r.until = 0
	r.outgoing.Clear()
}
