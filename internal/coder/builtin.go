package coder

import (
	_ "embed" // the built-in tables
	"sync"
)

//go:generate go run ../../snapshot/internal/train learned.bin

//go:embed learned.bin
var learned []byte

// Builtin returns the tables used if none were learned.
var Builtin = sync.OnceValue(func() *Tables {
	t, err := ParseTables(learned)
	if err != nil {
		panic(err) // learned.bin is part of the program
	}
	return t
})
