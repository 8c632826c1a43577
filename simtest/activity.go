package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foretick/foretick/internal/probe"
)

// errStill is the fault of a match in which nothing happened.
var errStill = errors.New("nothing happened: no field of the command was ever set, no replicated value changed, and no message or request was sent: let Player.Sample press something, or set Idle if the match is meant to stand still")

// still returns errStill for a match in which nothing happened.
func (m *Match) still() error {
	if m.activity.Changed || slices.ContainsFunc(m.activity.Command, func(u probe.Used) bool { return u.Ever }) {
		return nil
	}
	return errStill
}

// unused returns the names of what was never used.
func unused(all []probe.Used) (names []string) {
	for _, u := range all {
		if !u.Ever {
			names = append(names, u.Name)
		}
	}
	return names
}

// unusedLines returns the lines of a log about what no match used, or used in a way that
// needs a tag.
func unusedLines(fields, systems, tapped []string) (lines []string) {
	if len(fields) > 0 {
		lines = append(lines, fmt.Sprintf("never set in the command, so not tested: %s", strings.Join(fields, ", ")))
	}
	if len(systems) > 0 {
		lines = append(lines, fmt.Sprintf("systems that matched no row after any tick: %s", strings.Join(systems, ", ")))
	}
	if len(tapped) > 0 {
		lines = append(lines, fmt.Sprintf("set for single ticks in the command, without the tag oneshot: %s. If that is an action and nothing that players hold, add the tag: a press between two ticks is lost without it, and a late one repeats", strings.Join(tapped, ", ")))
	}
	return lines
}

// common returns the names that are in both lists, in the order of the first.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}
