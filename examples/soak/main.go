// Soak plays a small game for a long time or many times, in virtual time or over
// real sockets, and looks for failures: states that differ, lost messages,
// leaked secrets, growing memory. It is also a template for a game's own
// endurance test: game.go is the game, and the rest works with any game.
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

func exitCode(err error, w io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(w, "soak:", strings.TrimPrefix(err.Error(), errUsage.Error()+": "), "(see -help)")
		return 2
	}
	fmt.Fprintln(w, "soak:", strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

// run is the program without its process: it takes the arguments and the output.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	switch {
	case o.hours > 0:
		return soak(o, out)
	case o.connections > 0:
		return churn(o, out)
	case o.mutate > 0:
		return mutate(ctx, o, out)
	case o.rogues > 0:
		return playRogues(ctx, o, out)
	case o.capture != "":
		return capture(o, out)
	case o.snapshots != "":
		return captureSnapshots(o, out)
	case o.udp:
		return playUDP(ctx, o, out)
	}
	return playCampaign(ctx, o, out)
}
