// New writes the beginning of a game: its rules, a server, a client for the
// terminal, and tests.
//
//	go run github.com/foretick/foretick/cmd/new ../mygame
//
// makes the directory ../mygame, with its own module. The last element of the
// directory's name is the package's and the module's name; -module gives the
// module another path. -ebiten adds a client in a window. -ci adds a workflow of GitHub, with
// tests and benchmarks. -rollback is for fighting games and the like: players exchange inputs through a
// relay, which takes the server's place, and each computes the whole match.
//
// If it runs from a checkout of Foretick, the game builds with that checkout, through a relative
// replace in its go.mod. The game's directory must be outside of the checkout: ../mygame. If no
// relative path leads from the game to the checkout, such as to another drive, the replace is
// absolute.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(1)
	}
}

// run is the program. Tests call it in their own process.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("new", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprintln(out, "usage: go run github.com/foretick/foretick/cmd/new [flags] mygame")
		flags.PrintDefaults()
	}
	module := flags.String("module", "", "path of the game's module, such as example.com/me/mygame; the game's name if not set")
	ebiten := flags.Bool("ebiten", false, "also write cmd/window, a client in a window of Ebitengine")
	ci := flags.Bool("ci", false, "also write .github/workflows/ci.yml: tests, foretick-vet, and benchmarks against main")
	rollback := flags.Bool("rollback", false, "let players exchange inputs through a relay, with rollback, in place of a server: see docs/guide/models.md")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return fmt.Errorf("got %d names: give the directory of the game, such as mygame", flags.NArg())
	}
	g, err := newGame(flags.Arg(0), *module)
	if err != nil {
		return err
	}
	g.Ebiten, g.CI, g.Rollback = *ebiten, *ci, *rollback
	if err := g.findLibrary(); err != nil {
		return err
	}
	if err := g.write(); err != nil {
		return err
	}
	tidied := g.tidy()
	fmt.Fprintf(out, "%s is ready:\n\n", g.Package)
	fmt.Fprintf(out, "\tcd %s\n", g.dir)
	if tidied != nil {
		fmt.Fprintf(out, "\tgo mod tidy         # failed just now: %v\n", tidied)
	}
	host := "server"
	if g.Rollback {
		host = "relay"
	}
	fmt.Fprintf(out, "\tgo test ./...\n\tgo test -tags foretick_debug ./... # also finds undeclared reads and writes\n\tgo run ./cmd/%s\n\tgo run ./cmd/client # in other terminals: w, a, s and d walk\n", host)
	if g.Ebiten {
		fmt.Fprint(out, "\tgo run ./cmd/window # a window; on Linux it builds with libgl1-mesa-dev, xorg-dev and libasound2-dev\n")
	}
	if g.CI {
		fmt.Fprint(out, "\n"+g.ciSteps())
	}
	return nil
}

// ciSteps returns the text about the next steps if there is a workflow.
func (g *game) ciSteps() string {
	const begin = "git init -b main && git add -A && git commit -m \"Begin the game\" # then push it to an empty repository\n"
	if g.Rollback {
		return ".github/workflows/ci.yml tests each push to main and each pull request on GitHub:\n\n\t" + begin
	}
	return ".github/workflows/ci.yml tests and benchmarks each push to main and each pull request on GitHub:\n\n" +
		"\tgo test -run '^$' -bench . -benchtime 1x ./... # what a match costs\n\t" + begin +
		"\ndocs/guide/benchmarks.md in Foretick explains its figures and what fails.\n"
}
