package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/settled/settledtest"
)

// Vector is a message as the package writes it, for tests that read it by the standard.
type Vector struct {
	Name string
	Of   string // Of is what it is: "tick", "type 96" or "kind 1", for example.
	Data []byte
}

// Vectors returns a message of each kind, and the ticks of vectorTicks.
func Vectors() []Vector {
	ticks, whole := settledtest.Standing(), settledtest.Standing()
	d := settled.Declaration{Rules: settledtest.Rules, Match: 0x0102030405060708, Holds: 41}
	empty := settled.Declaration{Rules: settled.Rules{Rate: 20, Size: 1, Tags: tagsHash(nil)}}
	w := settled.Welcome{Player: 3, Places: 10, Resumed: true, World: true, Next: 42, Match: 5, Token: [16]byte{1, 2, 15: 16}}
	observer := settled.Welcome{Places: 10, Next: 1, Match: 5}
	h := settled.Head{Clock: 44, Fraction: 128, Early: -3, HasEarly: true, Taken: 47, First: 41, Count: 3}
	far := settled.Head{Clock: 70000, First: 65530}
	all := h.Append(nil)
	v := []Vector{
		{"declaration", "declaration", d.Append(nil)},
		{"declaration of a peer without a world, in lockstep, and without tags", "declaration", empty.Append(nil)},
		{"welcome of a player who is back, and gets a world", "kind 1", w.Append(nil)},
		{"welcome of an observer", "kind 1", observer.Append(nil)},
		{"sum", "kind 2", settled.Sum{Tick: 60, Sum: 0x1122334455667788}.Append(nil)},
		{"differ", "kind 3", settled.Differ{Tick: 120, Agreed: 60, Other: 2, Theirs: 3, Most: true}.Append(nil)},
		{"ask", "kind 4", settled.Ask{Tick: 60, Until: 65536}.Append(nil)},
		{"piece", "kind 5", (&settled.Piece{Tick: 60, Offset: 1024, Total: 1026, Data: []byte{7, 8}}).Append(nil)},
		{"clue with points", "kind 7", (&settled.Clue{Player: 2, Tick: 120, Level: settled.LevelSteps, Length: 9, Points: []settled.Point{{Place: 4, Hash: 0x11223344}, {Place: 8, Hash: 5}}}).Append(nil)},
		{"clue with the value that a system computed", "kind 7", (&settled.Clue{
			Player: 1, Tick: 120, Level: settled.LevelValues, Length: 300, Found: true, Place: 7,
			Cause: &settled.Finding{Spot: settled.Spot{Entity: 0x0102030405060708, Column: 3, Field: 2}, Prefab: 2, Field: "body.VY", Value: "1.5"},
		}).Append(nil)},
		{"clue of a player whose world was written outside of systems", "kind 7", (&settled.Clue{
			Player: 2, Tick: 120, Level: settled.LevelOutside, Build: "go1.26.0 amd64 v1 game", Cause: &settled.Finding{Field: "score.Hits", Value: "9", Expected: "1", First: 61, Last: 90},
		}).Append(nil)},
		{"presence", "type 97", settled.Presence{Settled: 0x01020304}.Append(nil)},
		{"presence of a peer that waits for a world", "type 97", settled.Presence{None: true}.Append(nil)},
		{"settled, without ticks", "type 96", far.Append(nil)},
	}
	names := []string{"two join, of whom one is stood in for", "nothing changed", "one leaves, and the other one plays"}
	for i, tick := range settledtest.Ticks() {
		b := ticks.Append(nil, &tick)
		whole.Append(nil, &tick)
		all = append(all, b...)
		v = append(v, Vector{"tick 4" + string(rune('1'+i)) + ": " + names[i], "tick", b})
		if i == 0 {
			verdict := settled.WorldVerdict{Tick: tick.Tick, Total: 1026, Sum: 1}
			v = append(v, Vector{"world at the end of tick 41", "kind 6", whole.AppendWhole(verdict.Append(nil))})
		}
	}
	return append(v, Vector{"settled: the three ticks", "type 96", all})
}

// PersonOf is personOf.
func PersonOf(token [16]byte) uint64 { return settled.PersonOf(token) }

// StandingOf returns what the newest tick that a peer has from the relay has: who plays, and each one's command.
func StandingOf(p *Peer) (tick foretick.Tick, in uint64, commands []byte) {
	if p.match == 0 {
		return 0, 0, nil
	}
	s := p.inbox.standing
	return s.Tick, s.In, s.Commands
}
