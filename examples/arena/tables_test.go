package main

import (
	"encoding/base64"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/examples/arena/game"
)

var update = flag.Bool("update", false, "write game/learned.go from tables.bin")

// The game's tables are those in the file that -learn writes.
func TestTablesOfTheFile(t *testing.T) {
	file, err := os.ReadFile("tables.bin")
	require.NoError(t, err)
	if *update {
		var s strings.Builder
		s.WriteString("package game\n\n// learned is tables.bin in base64: go test ./examples/arena -run TestTablesOfTheFile -update writes it.\nconst learned = \"\"")
		text := base64.StdEncoding.EncodeToString(file)
		for at := 0; at < len(text); at += 100 {
			s.WriteString(" +\n\t\"" + text[at:min(at+100, len(text))] + "\"")
		}
		s.WriteString("\n")
		require.NoError(t, os.WriteFile("game/learned.go", []byte(s.String()), 0o644))
		return
	}
	require.Equal(t, file, game.Tables(), "run this test with -update, and commit game/learned.go")
}
