// Command bots lets bots play the platformer in virtual time, and prints how well each screen
// agreed with the server. With -watch they play in real time, and the terminal shows the first
// one's screen. -help lists its flags.
package main

import (
	"os"

	"github.com/foretick/foretick/examples/physics/platformer"
)

func main() { os.Exit(platformer.Run(os.Args[1:], os.Stdout, os.Stderr)) }
