// Command bots lets bots play package field's game in virtual time, and prints how well each
// screen agreed with the server. -help lists its flags.
package main

import (
	"os"

	"github.com/foretick/foretick/examples/donburi/field"
)

func main() { os.Exit(field.Run(os.Args[1:], os.Stdout, os.Stderr)) }
