package foretick

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// ProtocolError says that a client's protocol differs from the server's. The client finds it
// in [View].Err, and [Client.Run] returns it. It unwraps to [net.ErrClosed].
type ProtocolError struct {
	// Ours and Theirs are the hashes of the two protocols.
	Ours, Theirs uint64
	// OurLine and TheirLine are the first lines of the two descriptions that
	// differ. One of them is empty if only one end has what the other names: then
	// the other end lacks that line. Both are empty when the
	// server's description did not arrive. Of a description over 64 kB the last lines are
	// sent as hashes: TheirLine then names the line before them.
	OurLine, TheirLine string
}

// Error names the first difference.
func (e *ProtocolError) Error() string {
	if e.OurLine == "" && e.TheirLine == "" {
		return fmt.Sprintf("foretick: the server speaks another protocol (ours %016x, theirs %016x)", e.Ours, e.Theirs)
	}
	what := fmt.Sprintf("the first difference is %q here and %q on the server", e.OurLine, e.TheirLine)
	switch {
	case e.OurLine == "":
		what = fmt.Sprintf("the server has %q, which this build lacks", e.TheirLine)
	case e.TheirLine == "":
		what = fmt.Sprintf("this build has %q, which the server lacks", e.OurLine)
	}
	return "foretick: the server speaks another protocol: " + what + ": build both from the same source. " +
		"With ServerConfig.AllowOtherBuilds builds may differ, but not in name, version, tick rate or channels"
}

// Unwrap returns net.ErrClosed.
func (e *ProtocolError) Unwrap() error { return net.ErrClosed }

// firstDifference finds the first line in which two descriptions differ. If only one
// of them has a line there that the other has nowhere, the other line is "".
func firstDifference(ours, theirs string) (a, b string) {
	x, y := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := 0; i < len(x) || i < len(y); i++ {
		a, b = "", ""
		if i < len(x) {
			a = x[i]
		}
		if i < len(y) {
			b = y[i]
		}
		if sameLine(a, b) {
			continue
		}
		sums := i < len(x) && strings.HasPrefix(x[max(len(x)-2, 0)], "schema ") // the last line differs with any other
		here := sums && i == len(y)-2 || slices.ContainsFunc(x, func(line string) bool { return sameLine(line, b) })
		there := sums && i == len(x)-2 || slices.ContainsFunc(y, func(line string) bool { return sameLine(a, line) })
		if strings.HasPrefix(b, hashMark) { // only its hash came
			b = "(something)"
			if i > 0 {
				b = fmt.Sprintf("(something after %s)", x[i-1])
			}
		}
		switch {
		case there && !here:
			return "", b
		case here && !there:
			return a, ""
		}
		return a, b
	}
	return "", ""
}

// UsageError is the value of a panic about a wrong call in the game's own code.
type UsageError struct{ Text string }

// Error returns the text, which names the fix.
func (u UsageError) Error() string { return "foretick: " + u.Text }

func misuse(format string, args ...any) { panic(UsageError{fmt.Sprintf(format, args...)}) }
