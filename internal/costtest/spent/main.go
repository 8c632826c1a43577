// Command spent runs a test's program, for go test -exec, and notes its processor time:
//
//	spent FILE PROGRAM [ARGUMENTS]
//
// It appends a line to FILE: the processor seconds that the program and its children took,
// and the directory of its package. FILE "-" notes nothing. It ends with the program's exit code.
// It removes -exec from GOFLAGS, so that go commands started by the test do not use it. It makes
// the test write its -test.testlogfile to where the go command expects it without -exec, so that
// the go command can cache the result.
//
// Tests that wait for the clock may fail where others take the machine's time. When only a few
// tests failed, it runs those once more, alone. If they pass then, and each says that it waits,
// as internal/costtest's Sockets, Ratio and Memory do, or stands in a file that uses sockets or
// programs, the test program counts as passed. A failure that comes again stays one, and so do a
// data race and the failure of a test that computes only.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// few is how many failed tests are run once more. Where more fail, something is broken.
const few = 3

func main() {
	file, name, args := os.Args[1], os.Args[2], os.Args[3:]
	args = append([]string{"-test.testlogfile=" + filepath.Join(filepath.Dir(name), "testlog.txt")}, args...)
	dir, err := os.Getwd()
	check(err)
	var said results
	code, spent := run(name, args, &said)
	if failed := said.named(failed); code == 1 && len(failed) > 0 && len(failed) <= few && len(said.named(raced)) == 0 {
		var alone results
		again, more := run(name, append(args, "-test.run=^("+strings.Join(failed, "|")+")$", "-test.parallel=1", "-test.count=1", "-test.v"), &alone)
		spent += more
		if again == 0 && alone.excuse(failed, dir) {
			fmt.Printf("passed alone, after a failure beside others: %s\n", strings.Join(failed, " "))
			code = 0
		}
	}
	if file != "-" {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		check(err)
		_, err = fmt.Fprintf(f, "%.1f %s\n", spent.Seconds(), dir)
		check(err)
		check(f.Close())
	}
	os.Exit(code)
}

// run runs the program and returns its exit code and its processor time.
func run(name string, args []string, said *results) (code int, spent time.Duration) {
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, io.MultiWriter(os.Stdout, said), os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS="+withoutExec(os.Getenv("GOFLAGS")))
	cmd.WaitDelay = 10 * time.Second // what the tests started may hold its output
	check(cmd.Start())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGINT, syscall.SIGTERM) // go test sends SIGQUIT when a test exceeds its time
	defer signal.Stop(signals)
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		check(err)
	}
	if code = cmd.ProcessState.ExitCode(); code != 0 {
		code = max(code, 1) // a signal has no code
	}
	return code, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// results keeps the lines of a test program's output that say how a test ended, or what it is.
type results struct {
	lines   [][]byte
	partial []byte // The line that has not ended.
}

// told matches a line that is kept. Subtests, whose lines are indented, are not.
var told = regexp.MustCompile(`^(--- (FAIL|PASS): |=== ATTR )|: race detected during`)

func (r *results) Write(b []byte) (int, error) {
	r.partial = append(r.partial, b...)
	for {
		line, rest, whole := bytes.Cut(r.partial, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		if told.Match(line) {
			r.lines = append(r.lines, bytes.Clone(line))
		}
		r.partial = rest
	}
}

// What the lines say. The first group is the test's name, if the line has one.
var (
	failed = regexp.MustCompile(`^--- FAIL: (\S+)`)
	passed = regexp.MustCompile(`^--- PASS: (\S+)`)
	raced  = regexp.MustCompile(`: (race detected) during`)
	waits  = regexp.MustCompile(`^=== ATTR +([^/\s]+)\S* +cost +(sockets|ratio|memory)$`)
)

// named returns the tests of which a line says so.
func (r *results) named(what *regexp.Regexp) []string {
	var names []string
	for _, line := range r.lines {
		if m := what.FindSubmatch(line); m != nil && !slices.Contains(names, string(m[1])) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// excuse reports whether all tests passed, and each is one that waits for the clock.
func (r *results) excuse(tests []string, dir string) bool {
	passed, waits := r.named(passed), r.named(waits)
	for _, name := range tests {
		if !slices.Contains(passed, name) || !slices.Contains(waits, name) && !connects(name, dir) {
			return false
		}
	}
	return true
}

// foreign matches the import of a package that opens sockets, or runs programs.
var foreign = regexp.MustCompile(`(?m)^\s*(?:import )?(?:\w+ )?"(net|net/http.*|os/exec|.*/transport/(udp|dtls|ws)|.*/(nettest|transporttest))"$`)

// connects reports whether the file with a test imports such a package.
func connects(test, dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	check(err)
	for _, name := range files {
		text, err := os.ReadFile(name) // #nosec G304 -- in the package's own directory
		check(err)
		if bytes.Contains(text, []byte("\nfunc "+test+"(")) {
			return foreign.Match(text)
		}
	}
	return false
}

// quoted matches a flag -exec in quotes in GOFLAGS.
var quoted = regexp.MustCompile(` *'-exec=[^']*'`)

func withoutExec(flags string) string { return strings.TrimSpace(quoted.ReplaceAllString(flags, "")) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "spent:", err)
		os.Exit(1)
	}
}
