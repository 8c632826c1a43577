package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/rollback"
)

// tally is what a match has come to. It is counted tick by tick, in a replay: there each tick runs once.
type tally struct {
	ticks           int
	rounds, matches int
	won             [2]int // won has the rounds of the player on the left and on the right.
	attacks         map[game.Act]int
	begun           [2]int // begun counts the attacks of each player.
	blocked         int
	hits            [2]int // hits counts the attacks of each player that hurt.
	hash            uint64 // hash is that of the last tick's world.
}

// moment is what a tally compares with the tick before.
type moment struct {
	of    [2]game.Fighter
	round game.Round
}

// count counts what has changed in a tick.
func (o *tally) count(was, is *moment) {
	for i := range is.of {
		before, now := &was.of[i], &is.of[i]
		if game.MoveOf(now.Act).Active > 0 && now.For == 1 && before.Still == 0 {
			o.attacks[now.Act]++
			o.begun[i]++
		}
		switch {
		case now.Life < before.Life:
			o.hits[1-i]++
		case now.Act == game.Block && now.For == 1 && before.Still == 0:
			o.blocked++
		}
		if now.Wins > before.Wins {
			o.won[i]++
		}
	}
	if is.round.Phase == game.Over && was.round.Phase == game.Fight {
		o.rounds++
	}
	if is.round.Phase == game.Done && was.round.Phase == game.Over {
		o.matches++
	}
}

// watch plays a replay and counts what happened in it. It fails where a tick computes otherwise than in the match. Of a
// replay that is cut off it returns what it counted, with an error that says so.
func watch(from io.Reader) (*tally, error) {
	g := &game.Game{}
	r, err := rollback.NewReplay(rollback.ReplayConfig{Protocol: g.Protocol(), From: from})
	if err != nil {
		return nil, err
	}
	o := &tally{attacks: map[game.Act]int{}}
	var was moment
	for {
		more, err := r.Step()
		if err != nil && !errors.Is(err, rollback.ErrCut) {
			return nil, err
		}
		if !more {
			o.hash = r.World().Hash(nil)
			return o, err
		}
		o.ticks++
		w := r.World()
		pair, ok := g.Pair(w)
		if !ok {
			was = moment{}
			continue
		}
		is := moment{[2]game.Fighter{*g.Fighter.Get(w, pair[0]), *g.Fighter.Get(w, pair[1])}, *g.Round.Get(w)}
		o.count(&was, &is)
		was = is
	}
}

// print prints the tally, a line for each thing.
func (o *tally) print(out io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("%d rounds in %d matches: %d won by the left, %d by the right", o.rounds, o.matches, o.won[0], o.won[1])
	for i, name := range []string{"jabs", "roundhouses", "sweeps", "air kicks", "fireballs"} {
		say("%d %s", o.attacks[game.Jab+game.Act(i)], name)
	}
	say("%d attacks hit, %d were blocked", o.hits[0]+o.hits[1], o.blocked)
	say("the left began %d attacks and hit %d times, the right %d and %d", o.begun[0], o.hits[0], o.begun[1], o.hits[1])
	say("the world's hash after %d ticks is %016x on every machine", o.ticks, o.hash)
}
