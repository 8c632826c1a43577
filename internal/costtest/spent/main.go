// Command spent runs a test's program, for go test -exec, and notes its processor time:
//
//	spent FILE PROGRAM [ARGUMENTS]
//
// It appends a line to FILE: the processor seconds that the program and its children took,
// and the directory of its package. It ends with the program's exit code. It removes -exec from
// GOFLAGS, so that go commands started by the test do not use it. It makes the test write its
// -test.testlogfile to where the go command expects it without -exec, so that the go command can
// cache the result.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

func main() {
	file, name, args := os.Args[1], os.Args[2], os.Args[3:]
	cmd := exec.Command(name, append([]string{"-test.testlogfile=" + filepath.Join(filepath.Dir(name), "testlog.txt")}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS="+withoutExec(os.Getenv("GOFLAGS")))
	check(cmd.Start())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGINT, syscall.SIGTERM) // go test sends SIGQUIT when a test exceeds its time
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		check(err)
	}
	dir, err := os.Getwd()
	check(err)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	check(err)
	_, err = fmt.Fprintf(f, "%.1f %s\n", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), dir)
	check(err)
	check(f.Close())
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		os.Exit(max(code, 1)) // a signal has no code
	}
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
