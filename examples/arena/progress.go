package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress prints figures while a match runs. On a terminal each line overwrites the one
// before. In a file or a pipe it prints one line a second.
type progress struct {
	out      io.Writer
	terminal bool
	begun    bool
	told     time.Duration // time of the newest line
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if f, ok := out.(*os.File); ok {
		st, err := f.Stat()
		p.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// print prints the figures of a moment of the match, unless it is too early for them.
func (p *progress) print(at time.Duration, line string) {
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%s\x1b[K", line) // and clears the rest of the line
	case p.begun && at < p.told+time.Second:
		return
	default:
		fmt.Fprintln(p.out, line)
	}
	p.begun, p.told = true, at
}

// end leaves the last line on the terminal.
func (p *progress) end() {
	if p.terminal && p.begun {
		fmt.Fprintln(p.out)
	}
}
