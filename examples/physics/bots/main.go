// Command bots lets bots play package yard's game in virtual time, and prints how well each
// screen agreed with the server. -help lists its flags.
package main

import (
	"os"

	"github.com/foretick/foretick/examples/physics/yard"
)

func main() { os.Exit(yard.Run(os.Args[1:], os.Stdout, os.Stderr)) }
