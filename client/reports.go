package client

import (
	"reflect"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// explainInputs adds the commands that both ends used.
func (r *correctionReports) explainInputs(w *prediction.Misprediction) {
	cmd := r.p.Command
	if cmd == nil {
		return
	}
	t := commandTick(w)
	if in := r.input.history.Find(t); in != nil {
		w.Input = cmd.Value(in.at)
	}
	if w.Cause != prediction.Input {
		w.Executed = w.Input // if another one ran, that is the cause
		return
	}
	if executed := r.executed(w); len(executed) > 0 {
		at := reflect.New(cmd.Handle.Type())
		if cmd.Schema.Unpack(executed, at.UnsafePointer()) == nil {
			w.Executed = at.Elem().Interface()
		}
	}
}

// correctionReports reports corrections to the server, while the server asks for them.
type correctionReports struct {
	*base
	input   *input
	names   *recordNames
	reasons *cause.Log

	// until is when the client stops reporting. It is 0 if the server does not ask.
	until    time.Duration
	outgoing cause.Outgoing
	asks     game.Allowance // limits the server's questions
	sends    game.Allowance
	report   cause.Report // scratch
}

// explains reports whether corrections have a receiver, and are worth an explanation.
func (r *correctionReports) explains() bool {
	return r.cfg.OnMisprediction != nil || r.until > r.now
}

// tellCorrection reports a correction to the server and to the game, if they want it.
func (r *correctionReports) tellCorrection(m *prediction.Misprediction) {
	if r.until > r.now {
		r.reportWrong(m)
	}
	if r.cfg.OnMisprediction != nil {
		r.cfg.OnMisprediction(*m)
	}
}

// reportWrong queues a correction for the server.
func (r *correctionReports) reportWrong(m *prediction.Misprediction) {
	out := &r.report
	out.Wrong = *m
	out.Input, out.Executed = r.reportedCommands(m)
	out.Wrong.Entity, out.Wrong.Differences = uint64(r.names.Net(m.Entity)), append([]prediction.Difference(nil), m.Differences...)
	for i := range out.Wrong.Differences {
		d := &out.Wrong.Differences[i]
		d.Entity = uint64(r.names.Net(d.Entity))
	}
	r.outgoing.Add(out)
}

// reportedCommands returns the packed commands that the client and the server ran, as explainInputs
// found them. A server of another build could not read them.
func (r *correctionReports) reportedCommands(m *prediction.Misprediction) (input, executed []byte) {
	if m.Input == nil || r.p.OtherBuild {
		return nil, nil
	}
	input = r.input.played(commandTick(m))
	if m.Cause != prediction.Input {
		return input, input
	}
	return input, r.executed(m)
}

// commandTick returns the tick of the commands that a misprediction has.
func commandTick(w *prediction.Misprediction) foretick.Tick {
	if w.CauseTick == 0 {
		return w.Tick
	}
	return w.CauseTick
}

// executed returns the packed command that the server ran in place of the player's own. It is nil if
// the command is not known.
func (r *correctionReports) executed(w *prediction.Misprediction) []byte {
	t := commandTick(w)
	if in := r.input.history.Find(t); w.StandIn == prediction.Replaced && in != nil {
		return in.first
	}
	return r.reasons.StandIn(t)
}

// reportMessage handles the server's question.
func (c *Client) reportMessage(b []byte) error {
	r := &c.reports
	if len(b) != 1 || b[0] != cause.AskReports || !r.asks.TakeOne(c.now, game.TraceAskRate, game.TraceAskBurst) {
		return cause.ErrReport
	}
	if c.cfg.Observe == nil {
		r.until = c.now + game.TraceLapse
	}
	return nil
}

// writeReport puts a report into the packet that is being built.
func (r *correctionReports) writeReport(now time.Duration, pk *netcode.Packet) {
	if !r.sends.Permits(now, game.ReportRate, game.ReportBurst) {
		return
	}
	if b := r.outgoing.Next(pk.Room()); b != nil && pk.Message(game.MessageReport, b) {
		r.sends.TakeOne(now, game.ReportRate, game.ReportBurst)
	}
}

// forgetAsked discards the questions that came over another connection.
func (r *correctionReports) forgetAsked() {
	r.until = 0
	r.outgoing.Clear()
}
