package rollback

import "github.com/foretick/foretick"

// Vector is a message as the package writes it, for tests that read it by the standard.
type Vector struct {
	Name string
	Of   string // Of is what it is: "tick", "type 96" or "kind 1", for example.
	Data []byte
}

// Vectors returns a message of each kind, and the ticks of vectorTicks.
func Vectors() []Vector {
	ticks, whole := vectorStanding(), vectorStanding()
	d := declaration{rules: testRules, match: 0x0102030405060708, holds: 41}
	empty := declaration{rules: rules{rate: 20, size: 1, tags: tagsHash(nil)}}
	w := welcome{player: 3, places: 10, resumed: true, world: true, next: 42, match: 5, token: [16]byte{1, 2, 15: 16}}
	observer := welcome{places: 10, next: 1, match: 5}
	h := settledHead{clock: 44, fraction: 128, early: -3, hasEarly: true, taken: 47, first: 41, count: 3}
	far := settledHead{clock: 70000, first: 65530}
	settled := h.append(nil)
	v := []Vector{
		{"declaration", "declaration", d.append(nil)},
		{"declaration of a peer without a world, in lockstep, and without tags", "declaration", empty.append(nil)},
		{"welcome of a player who is back, and gets a world", "kind 1", w.append(nil)},
		{"welcome of an observer", "kind 1", observer.append(nil)},
		{"sum", "kind 2", sum{tick: 60, sum: 0x1122334455667788}.append(nil)},
		{"differ", "kind 3", differ{tick: 120, agreed: 60, other: 2, theirs: 3, most: true}.append(nil)},
		{"ask", "kind 4", ask{tick: 60, until: 65536}.append(nil)},
		{"piece", "kind 5", (&piece{tick: 60, offset: 1024, total: 1026, data: []byte{7, 8}}).append(nil)},
		{"clue with points", "kind 7", (&clue{player: 2, tick: 120, level: levelSteps, length: 9, points: []point{{4, 0x11223344}, {8, 5}}}).append(nil)},
		{"clue with the value that a system computed", "kind 7", (&clue{
			player: 1, tick: 120, level: levelValues, length: 300, found: true, place: 7,
			cause: &finding{spot: spot{entity: 0x0102030405060708, column: 3, field: 2}, field: "body.VY", value: "1.5"},
		}).append(nil)},
		{"clue of a player whose world was written outside of systems", "kind 7", (&clue{
			player: 2, tick: 120, level: levelOutside, build: "go1.26.0 amd64 v1 game", cause: &finding{field: "score.Hits", value: "9", expected: "1", first: 61, last: 90},
		}).append(nil)},
		{"presence", "type 97", presence{settled: 0x01020304}.append(nil)},
		{"presence of a peer that waits for a world", "type 97", presence{none: true}.append(nil)},
		{"settled, without ticks", "type 96", far.append(nil)},
	}
	names := []string{"two join, of whom one is stood in for", "nothing changed", "one leaves, and the other one plays"}
	for i, tick := range vectorTicks() {
		b := ticks.append(nil, &tick)
		whole.append(nil, &tick)
		settled = append(settled, b...)
		v = append(v, Vector{"tick 4" + string(rune('1'+i)) + ": " + names[i], "tick", b})
		if i == 0 {
			verdict := worldVerdict{tick: tick.tick, total: 1026, sum: 1}
			v = append(v, Vector{"world at the end of tick 41", "kind 6", whole.appendWhole(verdict.append(nil))})
		}
	}
	return append(v, Vector{"settled: the three ticks", "type 96", settled})
}

// PersonOf is personOf.
func PersonOf(token [16]byte) uint64 { return personOf(token) }

// StandingOf returns what the newest tick of a relay's match has: who plays, and each one's command.
func StandingOf(r *Relay) (tick foretick.Tick, in uint64, commands []byte) {
	if r.match == nil {
		return 0, 0, nil
	}
	s := r.match.settling.standing
	return s.tick, s.in, s.commands
}
