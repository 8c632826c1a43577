// Writeproxy writes the repository that it runs in as a released version, in the layout of a
// module proxy, to the directory that is its argument.
package main

import (
	"fmt"
	"os"

	"github.com/foretick/foretick/internal/releasetest"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "writeproxy:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("got %d arguments: give the directory of the proxy", len(args))
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	return releasetest.Release(args[0], root)
}
