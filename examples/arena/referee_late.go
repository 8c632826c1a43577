package main

import (
	"slices"

	"github.com/foretick/foretick/examples/arena/game"
)

// refLate follows which ticks of a player still wait for their input, with -late-inputs. While there is
// one, snapshots for the player leave out its own body, and confirm only inputs before the oldest of
// these ticks.
type refLate struct {
	waits  []uint32                // ticks that wait, in order
	ran    map[uint32]game.Command // the newest command of the ticks that ran again
	now    map[uint32]game.Command // commands of the ticks that ran again since the last tick
	finals map[uint32]uint32       // by tick: the newest tick that no input could change any more
	told   uint32                  // the newest tick whose snapshot had the player's body
}

// again records the repeated run of a tick.
func (l *refLate) again(f *Fact) {
	if l.ran == nil {
		l.ran, l.now = map[uint32]game.Command{}, map[uint32]game.Command{}
	}
	l.ran[f.T], l.now[f.T] = *f.Cmd, *f.Cmd
}

// input records what happened to the inputs of a tick. played has the player's own commands.
func (l *refLate) input(f *Fact, played map[uint32]game.Command, window uint32) {
	if window == 0 {
		return
	}
	// Ticks that ran again with their own command have it. A command that equals its replacement cannot
	// be told from one that still waits. So the oldest such ticks come first.
	came := f.Late
	for _, own := range []bool{true, false} {
		l.waits = slices.DeleteFunc(l.waits, func(t uint32) bool {
			cmd, ran := l.now[t]
			if came == 0 || !ran || own && cmd != played[t] {
				return false
			}
			came--
			return true
		})
	}
	clear(l.now)
	l.waits = slices.DeleteFunc(l.waits, func(t uint32) bool { return t+window <= f.T })
	l.refuse(f.Refused, f.Final)
	if f.Missing {
		l.waits = append(l.waits, f.T)
	}
	if len(l.waits) > 0 && f.T-l.told >= 2*window { // then the server stops waiting
		l.waits = l.waits[:0]
	}
	if l.finals == nil {
		l.finals = map[uint32]uint32{}
	}
	l.finals[f.T] = f.T
	if len(l.waits) > 0 {
		l.finals[f.T] = l.waits[0] - 1
		return
	}
	l.told = f.T
}

// refuse ends the wait of n ticks whose commands were refused when they arrived. It takes the oldest
// ticks, but keeps the first one if the server still waits for it.
func (l *refLate) refuse(n int, final uint32) {
	for ; n > 0 && len(l.waits) > 0; n-- {
		i := 0
		if len(l.waits) > 1 && l.waits[0] == final+1 {
			i = 1
		}
		l.waits = slices.Delete(l.waits, i, i+1)
	}
}

// final returns the newest tick whose input is confirmed by the snapshot of tick t.
func (l *refLate) final(t uint32) uint32 {
	if final, known := l.finals[t]; known {
		return final
	}
	return t
}
