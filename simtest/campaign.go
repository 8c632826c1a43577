package simtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foretick/foretick/internal/seedtest"
)

// Check plays the plan with each of n seeds, 1 to n. It stops at the first seed that
// fails and reports it with the command that replays it. It logs each outcome,
// with the fields whose values do not fit their tags if the plan has AllowLosses. At the end it
// logs the fields of the command and the systems that no match used, and Outcome.Tapped. It
// returns the outcomes that passed.
//
// A match runs in one goroutine and is deterministic: a failure repeats with its
// seed, with added prints or in a debugger. Check replays a failed match, and reports if the
// replay differs: then the game or the script uses math/rand without a seed, a clock, or a
// map's order.
func Check(tb testing.TB, p Plan, n int) []Outcome {
	tb.Helper()
	first, last := seedtest.Range(tb, n)
	var all []Outcome
	for seed := first; seed <= last; seed++ {
		out, err := p.Run(seed)
		if err != nil {
			tb.Fatalf("simtest: seed %d: %v\nuntil then: %v\n%sto play it again: %s", seed, err, out, p.repeats(out), seedtest.Command(tb, seed))
		}
		tb.Logf("%v", out)
		for _, line := range out.Lost {
			tb.Logf("seed %d: %s", seed, line)
		}
		all = append(all, out)
	}
	for _, line := range unusedInAll(all) {
		tb.Log(line)
	}
	return all
}

// unusedInAll returns the lines of a log about what none of the matches used.
func unusedInAll(all []Outcome) []string {
	if len(all) == 0 {
		return nil
	}
	fields, systems, tapped := all[0].Unset, all[0].Unmatched, all[0].Tapped
	for _, out := range all[1:] {
		fields, systems = common(fields, out.Unset), common(systems, out.Unmatched)
		tapped = common(tapped, out.Tapped)
	}
	return unusedLines(fields, systems, tapped)
}

// repeats replays a failed match. It returns a line for the report if the replay differs, and
// "" if it is the same match.
func (p Plan) repeats(failed Outcome) string {
	if again, _ := p.Run(failed.Seed); again.Trace == failed.Trace {
		return ""
	}
	return doesNotRepeat + "\n"
}

// doesNotRepeat is the text of a match that takes another course when it is played again.
const doesNotRepeat = "this match does not repeat from its seed: a server system or the test's script draws from math/rand without a fixed seed, reads a clock, or ranges over a map"

// String returns a one-line summary of the outcome.
func (o Outcome) String() string {
	return fmt.Sprintf("seed %d, trace %x…: %v, %d ticks, %d packets, %d snapshots, %d predictions corrected (%v), %d joins, %d leaves, %d kicks, %d processes killed, %d freezes, %d times at rest; %s",
		o.Seed, o.Trace[:6], o.Played, o.Ticks, o.Packets, o.Snapshots, o.Mended, o.Causes, o.Joins, o.Leaves, o.Kicks, o.Kills, o.Freezes, o.Quiets, strings.Join(o.Worked, "; "))
}
