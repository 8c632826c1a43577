package rollbacktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/foretick/foretick/internal/seedtest"
)

// Check plays the plan with each of n seeds, 1 to n. It stops at the first seed that fails and reports it with the
// command that replays it. It logs each outcome, and at the end the fields of the command and the systems that no
// match used. It returns the outcomes that passed.
//
// A match fails if
//
//   - the worlds of two players differ. Then it plays for up to 10 s more, until the cause is found: see [Fault].
//   - a peer ends that should not, or is not playing again at the end.
//   - the replay of a peer does not give the worlds of the match, or not those of another peer's replay.
//   - it tests nothing: see Plan.Idle.
//
// A match runs in one goroutine and is deterministic: a failure repeats with its seed, with added prints or in a
// debugger. Check replays a failed match, and reports if the replay differs: then the game or the script uses math/rand
// without a seed, a clock, a map's order, or a package variable.
func Check(tb testing.TB, p Plan, n int) []Outcome {
	tb.Helper()
	first, last := seedtest.Range(tb, n)
	var all []Outcome
	for seed := first; seed <= last; seed++ {
		all = append(all, p.check(tb, seed))
	}
	for _, line := range unusedInAll(all) {
		tb.Log(line)
	}
	return all
}

// check plays a seed. If the game or the script panics or ends the test, it logs the command that replays that.
func (p Plan) check(tb testing.TB, seed uint64) Outcome {
	tb.Helper()
	command, ended := seedtest.Command(tb, seed), false
	defer func() {
		if !ended {
			tb.Logf("rollbacktest: seed %d did not end\nto play it again: %s", seed, command)
		}
	}()
	out, err := p.Run(seed)
	repeats := ""
	if err != nil {
		if again, _ := p.Run(seed); again.Trace != out.Trace {
			repeats = doesNotRepeat + "\n"
		}
	}
	ended = true
	if err != nil {
		tb.Fatalf("rollbacktest: seed %d: %v\nuntil then: %v\n%sto play it again: %s", seed, err, out, repeats, command)
	}
	tb.Logf("%v", out)
	return out
}

// doesNotRepeat is the text of a match that takes another course when it is played again.
const doesNotRepeat = "this match does not repeat from its seed: a system or the test's script draws from math/rand without a fixed seed, reads a clock, ranges over a map, or keeps a package variable"

// unusedInAll returns the lines of a log about what none of the matches used.
func unusedInAll(all []Outcome) (lines []string) {
	say := func(text string, of func(Outcome) []string) {
		var names []string
		for i, o := range all {
			if i == 0 {
				names = slices.Clone(of(o))
			}
			names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(of(o), name) })
		}
		if len(names) > 0 {
			lines = append(lines, text+strings.Join(names, ", "))
		}
	}
	say("never set in the command, so not tested: ", func(o Outcome) []string { return o.Unset })
	say("systems that matched no row after any tick: ", func(o Outcome) []string { return o.Unmatched })
	return lines
}
