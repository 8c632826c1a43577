package client

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/prediction"
)

// controls writes the commands of a tick into the rows that are predicted here.
type controls struct {
	*base
	input     *input
	ghosts    *ghosts
	saves     *saves
	predicted *predicted
	records   *prediction.History[record]

	rows   *ecs.Query // finds the entities with the command; nil: there is no command
	packed []byte     // scratch
}

func newControls(b *base, ip *input, gs *ghosts, sv *saves, pr *predicted, records *prediction.History[record]) controls {
	ct := controls{base: b, input: ip, ghosts: gs, saves: sv, predicted: pr, records: records}
	if b.p.Command != nil {
		ct.rows = ecs.NewQuery(b.p.Types, ecs.With(b.p.Command.Handle))
	}
	return ct
}

// fillCommand writes the input of tick t into the player's rows, and a zero command into rows without
// an owner.
func (ct *controls) fillCommand(t foretick.Tick) {
	cmd := ct.p.Command
	if cmd == nil {
		return
	}
	in := ct.input.history.Find(t)
	var value []byte
	if in != nil {
		value = in.value
	}
	ct.fillOwn(value)
	if !ct.p.Common {
		return
	}
	for _, rows := range ct.rows.Owned(ct.world, ecs.Common) { // a former owner may have pressed something
		clear(unsafe.Slice((*byte)(rows.Column(cmd.ID)), uintptr(rows.Len())*cmd.Size))
	}
}

// fillOwn writes a command into the player's rows. If value is nil it writes a zero command.
func (ct *controls) fillOwn(value []byte) {
	cmd := ct.p.Command
	for _, rows := range ct.rows.Owned(ct.world, ct.view.Player) {
		base := rows.Column(cmd.ID)
		for i := range rows.Len() {
			dst := unsafe.Slice((*byte)(unsafe.Add(base, uintptr(i)*cmd.Size)), cmd.Size)
			if value == nil {
				clear(dst)
			} else {
				copy(dst, value)
			}
		}
	}
}

// guessRemotes makes the commands of predicted remote players for a tick, rounded as if they were sent.
func (ct *controls) guessRemotes(t foretick.Tick) {
	if len(ct.saves.remotes) == 0 {
		return
	}
	basis, _ := ct.ghosts.receiver.Newest()
	if r := ct.records.Find(t); ct.practice && r != nil {
		basis = r.basis
	}
	var before []byte
	if game.DebugBuild {
		before = ct.predicted.appendBytes(nil)
	}
	cmd := ct.p.Command
	for i := range ct.saves.remotes {
		for _, rows := range ct.rows.Owned(ct.world, ct.saves.remotes[i].owner) {
			base := rows.Column(cmd.ID)
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*cmd.Size)
				clear(unsafe.Slice((*byte)(at), cmd.Size))
				ct.p.Handlers.Guess(&ct.frame, rows.Entity(k), max(int(int32(t-basis)), 1), at)
				if !ct.frame.Replay { // once for each tick
					ct.losses.SentBy("(PredictRemote)", cmd.Name, cmd.Schema, at)
				}
				ct.packed = cmd.Schema.Pack(at, ct.packed[:0])
				if cmd.Schema.Unpack(ct.packed, at) != nil {
					clear(unsafe.Slice((*byte)(at), cmd.Size))
				}
			}
		}
	}
	if game.DebugBuild {
		ct.checkGuess(before)
	}
}

// checkGuess panics if a guess changed predicted state.
func (ct *controls) checkGuess(before []byte) {
	now := ct.predicted.appendBytes(nil)
	if _, name := ct.predicted.whose(now, before); name != "" {
		misuse.Panicf("foretick: the function given to PredictRemote wrote %s: it says what others press, and changes nothing; let a Shared system write", name)
	}
}
