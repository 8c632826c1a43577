package transport

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Count is one counter of an endpoint. It counts since the endpoint was made.
type Count struct {
	Part  string // the part of a joined endpoint, by its name in package multi; empty without one
	Layer string // the package that counts, such as "udp"
	// Name says what is counted, in small letters, such as "bad_cookie". For refused peers it is the
	// reason, such as "forged".
	Name string
	// Refusal says in words, for a log, why the counted peers were refused. It is empty for counts of
	// anything else.
	Refusal string
	N       uint64 // how many
}

// Counted is an Endpoint that shows its counters. [As] finds it. Package host and a server.Server read
// them once a second for figures, metrics and the log. Any goroutine may call it.
type Counted interface {
	Endpoint

	// AppendCounts appends the endpoint's counters to dst, and those of the endpoints inside. No two
	// counters of refusals have the same Part, Layer and Name, and no two others either. It allocates
	// only if dst lacks room.
	AppendCounts(dst []Count) []Count
}

// mostReasons bounds the reasons that a log line names.
const mostReasons = 4

// RefusedLine returns a line for a log that is written at most once a minute. The line says how many
// peers were refused from one reading of an endpoint's counters to a later one, and why, with the most
// frequent reason first. It is "" if there were none. The words of an accept hook are quoted, since
// clients may have chosen them.
func RefusedLine(before, now []Count) string {
	var risen []Count
	all := uint64(0)
	for i, c := range now {
		if c.Refusal == "" {
			continue
		}
		if c.N -= min(c.N, earlier(before, &c, i)); c.N > 0 {
			all += c.N
			risen = append(risen, c)
		}
	}
	line := strconv.FormatUint(all, 10) + " peers refused in the last minute: "
	switch {
	case all == 0:
		return ""
	case all == 1:
		return "1 peer refused in the last minute: " + risen[0].Refusal
	case len(risen) == 1:
		return line + risen[0].Refusal
	}
	slices.SortStableFunc(risen, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	var parts []string
	for _, c := range risen[:min(len(risen), mostReasons)] {
		parts = append(parts, c.Refusal+" ("+strconv.FormatUint(c.N, 10)+")")
	}
	if rest := len(risen) - mostReasons; rest > 0 {
		parts = append(parts, strconv.Itoa(rest)+" other reasons")
	}
	return line + strings.Join(parts, ", ")
}

// earlier returns a counter's value in an earlier reading. It looks first at the same place.
func earlier(before []Count, c *Count, at int) uint64 {
	same := func(b Count) bool {
		return b.Part == c.Part && b.Layer == c.Layer && b.Name == c.Name && (b.Refusal == "") == (c.Refusal == "")
	}
	if at >= len(before) || !same(before[at]) {
		if at = slices.IndexFunc(before, same); at < 0 {
			return 0
		}
	}
	return before[at].N
}
