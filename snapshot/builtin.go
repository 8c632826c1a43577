package snapshot

import (
	_ "embed" // the built-in tables
	"sync"
)

//go:generate go run ./internal/train learned.bin

//go:embed learned.bin
var learned []byte

// builtin returns the tables that hold where none were learned.
var builtin = sync.OnceValue(func() *tables {
	t, err := parseTables(learned)
	if err != nil {
		panic(err) // learned.bin is part of the program
	}
	return t
})
