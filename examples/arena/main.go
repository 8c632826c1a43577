// Arena is a top-down shooter between bots: a complete game with everything
// that a networked shooter needs, and a report on how well it hides the
// network.
//
// Without flags it plays ten seconds over a simulated bad network, in one
// process. See -help for real sockets, separate processes and bad links.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode prints an error in one line and returns the exit code: 2 for a wrong
// command line, 1 for other errors.
func exitCode(err error, w io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp), errors.Is(err, context.Canceled): // a match in this process was broken off
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(w, "arena:", oneLine(strings.TrimPrefix(err.Error(), errUsage.Error()+": ")), "(see -help)")
		return 2
	}
	fmt.Fprintln(w, "arena:", oneLine(err.Error()))
	return 1
}

func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// run is the program without its process: it takes the arguments and the output.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	live := out
	if o.json {
		live = nil
	}
	switch {
	case o.check != "":
		return check(o.check, out)
	case o.bindings != "":
		return printBindings(o.bindings, out)
	case o.replay != "":
		return replay(o, out)
	case o.web != "":
		return serveWeb(ctx, o, out)
	case o.serve != "":
		return serve(ctx, o, out)
	case o.join != "":
		return join(ctx, o, out)
	case o.transport != "sim":
		return show(o, out)(playUDP(ctx, o, live))
	}
	return show(o, out)(playSim(o, live))
}

// show returns a function that prints a report in the chosen format.
func show(o options, out io.Writer) func(*Report, error) error {
	return func(r *Report, err error) error {
		if err != nil {
			return err
		}
		if o.json {
			return r.JSON(out)
		}
		r.Text(out)
		return nil
	}
}
