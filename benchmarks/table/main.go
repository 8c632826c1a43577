// Command table runs every comparison of package benchmarks and writes the ratios
// into docs/BENCHMARKS.md, between two markers; the rest of the file is kept.
//
//	cd benchmarks && go run ./table
//
// -rounds sets the number of interleaved rounds for each median (default 41),
// -out another file.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/foretick/foretick/benchmarks"
)

const (
	begin = "<!-- ecs: begin (cd benchmarks && go run ./table) -->"
	end   = "<!-- ecs: end -->"
)

func main() {
	rounds := flag.Int("rounds", 41, "interleaved rounds of each case, 21 at least")
	out := flag.String("out", "../docs/BENCHMARKS.md", "the file that has the markers, or gets them")
	flag.Parse()
	table := render(*rounds)
	fmt.Print(table)
	if err := write(*out, table); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// render runs the benchmarks and returns the section with its markers.
func render(rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", begin)
	fmt.Fprintf(&b, `## ECS compared with others

Time relative to plain Go that does the same work; its own time in ns is in the third
column. Each figure is the median of %d interleaved rounds in one process: %s, %s/%s,
%d CPUs, shared with other work. Less is better. A – means that the library cannot do it.
Each library is used in its fastest way: ark v0.8.1 by whole tables and a registered
filter, donburi v1.15.7 by a query that is made once.

Transfer moves entities from owner to owner; in ark to another relation target, in
donburi from tag to tag. Neither of these two saves a world. So "same entities" is a copy
of the components by hand, without handles. "All entities replaced" is, in ark, a copy of
the components and a dump of the entities: Reset, LoadEntities and an Add for each entity
bring them back, perhaps in another order. In foretick, save and restore are the same two
calls in both cases, and keep handles, order, free lists and singletons.

`, max(rounds, benchmarks.Rounds), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	b.WriteString("| work | baseline | ns |")
	rule := "|---|---|--:|"
	for _, l := range benchmarks.Libraries() {
		fmt.Fprintf(&b, " %s |", l.Name)
		rule += "--:|"
	}
	fmt.Fprintf(&b, "\n%s\n", rule)
	for _, c := range benchmarks.Cases() {
		ns, ratios := c.Run(rounds)
		fmt.Fprintf(&b, "| %s | %s | %.0f |", c.Name, c.Of, ns)
		for _, r := range ratios {
			b.WriteString(" " + figure(r) + " |")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s\n", end)
	return b.String()
}

func figure(ratio float64) string {
	switch {
	case ratio == 0:
		return "–"
	case ratio < 10:
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// write puts the section between the markers, or at the end of the file.
func write(path, section string) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte("# Benchmarks\n"), nil
	}
	if err != nil {
		return err
	}
	now, err := replace(old, section)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, now, 0o644)
}

func replace(old []byte, section string) ([]byte, error) {
	from, to := bytes.Index(old, []byte(begin)), bytes.Index(old, []byte(end))
	switch {
	case from < 0 && to < 0:
		return append(append(bytes.TrimRight(old, "\n"), "\n\n"...), section...), nil
	case from < 0 || to < from:
		return nil, errors.New("one marker without the other")
	}
	rest := bytes.TrimPrefix(old[to+len(end):], []byte("\n"))
	return append(append(append([]byte(nil), old[:from]...), section...), rest...), nil
}
