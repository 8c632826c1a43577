package foretick

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick/ecs"
)

// gatherOthers updates the list of remote players that are predicted.
func (tl *timeline) gatherOthers() {
	if !tl.p.Remote.Predicts {
		return
	}
	now := tl.predictor.Tick()
	for _, g := range tl.ghosts.ours {
		if !tl.ghosts.remotePredicted(g) {
			continue
		}
		i := slices.IndexFunc(tl.saves.remotes, func(o remotePlayer) bool { return o.owner == PlayerID(g.Owner) })
		if i < 0 {
			i = len(tl.saves.remotes)
			owner := PlayerID(g.Owner)
			tl.saves.remotes = append(tl.saves.remotes, remotePlayer{owner: owner, history: tl.world.NewOwnerHistory(owner, tl.cfg.History)})
		}
		tl.saves.remotes[i].seen = now
	}
	tl.saves.forgetRemotes(func(o remotePlayer) bool {
		return int32(now-o.seen) > int32(tl.cfg.History) // no save has its entities
	})
}

// guess makes the commands of predicted remote players for a tick, rounded as on the wire.
func (tl *timeline) guess(t Tick) {
	if len(tl.saves.remotes) == 0 {
		return
	}
	basis, _ := tl.ghosts.receiver.Newest()
	if r := tl.records.Find(t); tl.tester.replay && r != nil {
		basis = r.basis
	}
	var before []byte
	if debugBuild {
		before = tl.predictedBytes(nil)
	}
	cmd := tl.p.Command
	for i := range tl.saves.remotes {
		for _, rows := range tl.commandRows.Owned(tl.world, tl.saves.remotes[i].owner) {
			base := rows.Column(cmd.ID)
			for k := range rows.Len() {
				at := unsafe.Add(base, uintptr(k)*cmd.Size)
				clear(unsafe.Slice((*byte)(at), cmd.Size))
				tl.p.handlers.guess(&tl.frame, rows.Entity(k), max(int(int32(t-basis)), 1), at)
				if !tl.frame.Replay { // once for each tick
					tl.losses.sentBy("(PredictRemote)", cmd.Name, cmd.Schema, at)
				}
				tl.scratch.packed = cmd.Schema.Pack(at, tl.scratch.packed[:0])
				if cmd.Schema.Unpack(tl.scratch.packed, at) != nil {
					clear(unsafe.Slice((*byte)(at), cmd.Size))
				}
			}
		}
	}
	if debugBuild {
		tl.checkGuess(before)
	}
}

// checkGuess panics if a guess changed predicted state.
func (tl *timeline) checkGuess(before []byte) {
	now := tl.predictedBytes(nil)
	if _, name := tl.whose(now, before); name != "" {
		misuse("the function given to PredictRemote wrote %s: it says what others press, and changes nothing; let a Shared system write", name)
	}
}

// runsFor reports whether a system runs over an owner's rows.
func (tl *timeline) runsFor(system int, o PlayerID) bool {
	return o == tl.view.Player || o == ecs.Common || o == ecs.ClientOnly || tl.p.Remote.Runs[system]
}
