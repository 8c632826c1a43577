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

// print prints a line of figures, unless the last one is less than a second old and the output is no
// terminal.
func (p *progress) print(at time.Duration, line string) {
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%s\x1b[K", line) // the escape sequence clears the rest of the line
	case p.begun && at < p.told+time.Second:
		return
	default:
		fmt.Fprintln(p.out, line)
	}
	p.begun, p.told = true, at
}

// end keeps the last line on the terminal.
func (p *progress) end() {
	if p.terminal && p.begun {
		fmt.Fprintln(p.out)
	}
}
