package cause

import "github.com/foretick/foretick/prediction"

// Log is what the notes of a connection said to a client. The zero value is ready to use.
type Log struct {
	note    Note // note is the note of the snapshot of tick.
	tick    Tick // tick is 0 if the snapshot had no note.
	arrived Note // arrived is the note for the snapshot that follows.
	has     bool // has is true if a note arrived whose snapshot was not read yet.
	causes  causes
	counted Tick // counted is the newest tick of a stall that was counted.
	hidden  hiddenTicks
	hides   bool // hides is true if entities were still hidden, as the newest note about them says.
}

// causes has the newest possible cause of a misprediction of each kind, as notes reported it: another
// command, a write by server code, and a push by another player. A cause is kept after its snapshot, because
// entities that a snapshot left out are compared with a later one. Until the client has a snapshot of the
// cause's tick, the server repeats the cause.
type causes struct {
	// substituted is the newest tick in which another command ran than the client's. 0 means none.
	substituted Tick
	run         uint32
	how         prediction.StandIn
	effect      Tick
	system      uint32
	pushed      Tick
	by          uint16
}

// Evidence is what [Log.Explain] asks of the client about the tick that was mispredicted.
type Evidence interface {
	// Agreed returns the newest tick on which both ends agreed.
	Agreed() Tick
	// Remade returns the newest tick since the ends agreed for which the client made two commands and the
	// server ran the first. ticks is how many such ticks there were in a row, 0 if none. certain is false if
	// the server may as well have run the second.
	Remade(t Tick) (last Tick, ticks uint32, certain bool)
	// RanFirst reports whether those commands may be the cause, and whether that is certain.
	// It runs the ticks again with them.
	RanFirst(last Tick, ticks uint32, t Tick) (certain, may bool)
	// Pushed reports whether something differs that other players' runs of shared systems may
	// write.
	Pushed(t Tick) bool
	// RemoteWrong reports whether a wrong prediction of remote players may be the cause.
	RemoteWrong(t Tick) bool
	// OthersDiffered finds an entity that is not predicted here, that shared systems read,
	// and that had another value on the server. It returns its owner and the component, ""
	// for an entity that one end did not have.
	OthersDiffered(t Tick) (owner uint16, component string, ok bool)
	// OthersUnknown reports whether shared systems may have read a value of others that no snapshot had.
	OthersUnknown(t Tick) bool
	// OthersUnseen reports whether shared systems read entities of others, some of which this
	// client may not be sent.
	OthersUnseen(t Tick) bool
	// OthersRounded finds a component of others that shared systems read, and whose rounding
	// on its way to the client may be the cause.
	OthersRounded(t Tick) (component string, ok bool)
	// OwnDiffered finds an unpredicted component of the player's own that shared systems
	// read, and that had another value on the server.
	OwnDiffered(t Tick) (component string, ok bool)
	// SystemName names the server's system by its number in a note.
	SystemName(number uint32) string
	// Late reports whether that number is for ticks that ran again for another's late command.
	Late(number uint32) bool
}

// Clear forgets everything: a level begins.
func (l *Log) Clear() { *l = Log{note: l.note, arrived: l.arrived} }

// Arrive reads a note, for the snapshot that follows. It returns the note, whose events
// the caller may renumber.
func (l *Log) Arrive(b []byte, size int) (*Note, error) {
	err := l.arrived.Parse(b, size)
	l.has = err == nil
	return &l.arrived, err
}

// Snapshot begins the reading of a snapshot and reports whether a note came with it.
func (l *Log) Snapshot() (noted bool) {
	noted = l.has
	l.has, l.tick = false, 0
	return noted
}

// Take assigns the note that arrived to the snapshot of t, and records its causes. A
// substitution is recorded by [Log.Substituted].
func (l *Log) Take(t Tick) *Note {
	l.note, l.arrived, l.tick = l.arrived, l.note, t
	if n := &l.note; n.Effect != 0 {
		l.causes.effect, l.causes.system = t-(n.Effect-1), n.System
	}
	if n := &l.note; n.Pushed != 0 {
		l.causes.pushed, l.causes.by = t-(n.Pushed-1), uint16(n.By)
	}
	if n := &l.note; n.Concealed != 0 {
		ticks, still := n.Concealed.split()
		if l.hides = still; still {
			l.hidden.from = t - ticks
		}
		l.hidden.to = t - ticks
	}
	return &l.note
}

// Concealed reports whether entities were hidden from the player in tick t that shared systems
// may read on the server.
func (l *Log) Concealed(t Tick) bool {
	return int32(t-l.hidden.from) >= 0 && (l.hides || l.hidden.to != 0 && int32(t-l.hidden.to) <= 0)
}

// Substituted records the newest note's substitution as a cause. Call it when the server's
// command differed from the client's own: an equal one changed nothing.
func (l *Log) Substituted() {
	n := &l.note
	l.causes.substituted, l.causes.run, l.causes.how = l.tick-(n.Substituted-1), n.Run, n.How
}

// SubstitutedEarlier records the newest note's earlier run as a cause.
func (l *Log) SubstitutedEarlier() {
	e := &l.note.Earlier
	l.causes.substituted, l.causes.run, l.causes.how = l.note.earlier(l.tick), e.Run, e.How
}

// NoteOf returns the note of the snapshot of t; nil if it had none.
func (l *Log) NoteOf(t Tick) *Note {
	if l.tick != t {
		return nil
	}
	return &l.note
}

// StandIn returns the command that the server ran in tick t in place of the client's, packed; empty if the
// newest note does not have it.
func (l *Log) StandIn(t Tick) []byte {
	if n := &l.note; n.HasStandIn() && l.tick-(n.Substituted-1) == t {
		return n.StandIn
	}
	return nil
}

// RaisedIn returns how many events of an index the server raised in tick k, by its note on
// tick t. It is [MaxRaised] where both ends are known to agree, up to agreed, or the note
// did not hold all events.
func (l *Log) RaisedIn(event int, k, t, agreed Tick) (n int) {
	var told []Raised
	if note := l.NoteOf(t); note != nil {
		told = note.Raised
	}
	full := len(told) == MaxRaised && int32(k-(t-told[MaxRaised-1].Age)) >= 0
	if full || int32(k-agreed) <= 0 || t-k >= Window {
		return MaxRaised
	}
	for _, e := range told {
		if t-e.Age == k && int(e.Event) == event {
			n++
		}
	}
	return n
}

// Explain writes the cause of w: the first that applies since the last agreement.
func (l *Log) Explain(w *prediction.Misprediction, e Evidence) {
	w.System, w.CauseTick, w.OfOther, w.Read, w.Rounded = "", 0, false, "", false
	agreed := e.Agreed()
	since := func(t Tick) bool { return t != 0 && int32(t-agreed) > 0 && int32(t-w.Tick) <= 0 }
	remade, ticks, sure := e.Remade(w.Tick)
	switch told := &l.causes; {
	case since(told.substituted):
		w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Input, told.substituted, told.run+1, told.how
		return
	case since(told.effect):
		w.Cause, w.CauseTick, w.System = prediction.ServerEffect, told.effect, e.SystemName(told.system)
		if e.Late(told.system) {
			w.Cause, w.System = prediction.LateInput, ""
		}
		return
	case since(told.pushed) && e.Pushed(w.Tick):
		w.Cause, w.CauseTick, w.Player = prediction.RemoteInput, told.pushed, told.by
		return
	case sure:
		w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Input, remade, ticks, prediction.Replaced
		return
	case e.RemoteWrong(w.Tick):
		w.Cause = prediction.RemoteInput
		return
	}
	w.Cause = prediction.Code
	if owner, component, ok := e.OthersDiffered(w.Tick); ok {
		w.Cause, w.Player, w.OfOther, w.Read = prediction.Untracked, owner, true, component
	} else if component, ok := e.OwnDiffered(w.Tick); ok {
		w.Cause, w.Read = prediction.Untracked, component
	} else if e.OthersUnknown(w.Tick) || e.OthersUnseen(w.Tick) {
		// Untracked claims less than the causes of eliminate, and may be true together with them.
		w.Cause = prediction.Untracked
	} else {
		l.eliminate(w, e, remade, ticks)
	}
}

// eliminate finds the cause of a misprediction that nothing else explains. If it finds none, the cause stays
// prediction.Code.
func (l *Log) eliminate(w *prediction.Misprediction, e Evidence, remade Tick, ticks uint32) {
	certain, may := false, false
	if remade != 0 {
		certain, may = e.RanFirst(remade, ticks, w.Tick)
	}
	if !certain {
		if component, ok := e.OthersRounded(w.Tick); ok {
			w.Cause, w.OfOther, w.Read, w.Rounded = prediction.Untracked, true, component, true
			return
		}
	}
	if may {
		w.Cause, w.CauseTick, w.CauseTicks, w.StandIn = prediction.Input, remade, ticks, prediction.Replaced
	} else if w.Tick-e.Agreed() >= Window {
		w.Cause = prediction.Unknown
	}
}

// Counted reports whether w belongs to a stall that was counted before: the server ran
// several ticks without the client's commands, or with the first of two made for a tick.
func (l *Log) Counted(w *prediction.Misprediction) bool {
	if w.Cause != prediction.Input || w.CauseTicks == 0 {
		return false
	}
	before := l.counted
	l.counted = w.CauseTick
	return before != 0 && int32(w.CauseTick-w.CauseTicks-before) <= 0 && int32(w.CauseTick-before) >= 0
}
