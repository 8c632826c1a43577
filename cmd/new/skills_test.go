package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// code returns the pieces of code of a skill, which are indented by two tabs' width.
func code(t *testing.T, name string) (pieces []string) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "skills", name))
	require.NoError(t, err)
	const indent = "        "
	open := false
	for line := range strings.SplitSeq(string(b), "\n") {
		text, ok := strings.CutPrefix(line, indent)
		switch {
		case ok && !open:
			pieces, open = append(pieces, ""), true
			fallthrough
		case ok:
			pieces[len(pieces)-1] += text + "\n"
		case strings.TrimSpace(line) == "" && open:
			pieces[len(pieces)-1] += "\n"
		default:
			open = false
		}
	}
	return pieces
}

// put inserts text before or after a line of a file's text. The line must be there exactly once.
func put(t *testing.T, text *string, before, line, after string) {
	require.Equal(t, 1, strings.Count(*text, line), "%s", line)
	*text = strings.Replace(*text, line, before+line+after, 1)
}

// If a shot is added to a new game as docs/skills/shot.md and test.md say, the game compiles, and the
// test passes. Without lag compensation the test fails.
func TestSkills(t *testing.T) {
	releasetest.Root(t) // the game builds with a checkout
	t.Setenv("GOPROXY", "off")
	dir := filepath.Join(t.TempDir(), "mygame")
	require.NoError(t, run([]string{dir}, io.Discard))
	shot, test := code(t, "shot.md"), code(t, "test.md")
	require.Len(t, shot, 6)
	require.Len(t, test, 2)
	file := filepath.Join(dir, "game.go")
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	game := string(b)
	put(t, &game, "", "\tX, Y float32 `net:\"min=-1,max=1,step=0.0078125\"`\n", "\tAim float32 `net:\"angle,bits=12,press\"`\n\tFire bool `net:\"oneshot\"`\n")
	put(t, &game, shot[0], "type Game struct {", "")
	put(t, &game, "", "\tPlayer ecs.Prefab\n", "\tGun ecs.Component[Gun]\n\tHealth ecs.Component[Health]\n\tShot foretick.Event[Shot]\n\tBang func()\n\talive *ecs.Query\n")
	put(t, &game, shot[1], "\tp.Prefab(&g.Player, \"player\", &g.Pos, &g.Move)\n", shot[2])
	game = strings.Replace(game, "&g.Pos, &g.Move)\n", "&g.Pos, &g.Move, &g.Gun, &g.Health)\n", 1)
	put(t, &game, "", "\t\"github.com/foretick/foretick/ecs\"\n", "\t\"github.com/foretick/foretick/lagcomp\"\n")
	require.NoError(t, os.WriteFile(file, []byte(game+shot[3]+shot[4]), 0o600))
	tests := "package mygame\n\nimport (\n\t\"math\"\n\t\"testing\"\n\t\"time\"\n\n\t\"" + library + "/client\"\n\t\"" + library +
		"/prediction\"\n\t\"" + library + "/server\"\n\t\"" + library + "/simtest\"\n\t\"" + library + "/transport/sim\"\n)\n\n" + test[0] + test[1]
	file = filepath.Join(dir, "game_test.go")
	require.NoError(t, os.WriteFile(file, []byte(tests), 0o600))
	file = filepath.Join(dir, "cmd", "client", "main.go")
	b, err = os.ReadFile(file)
	require.NoError(t, err)
	client := string(b)
	put(t, &client, "", "\t\"log\"\n", "\t\"math\"\n")
	const sample = "\tsample := client.Sample(&g.Move, func(client.View) game.Move { return walk[key.Load()] })\n"
	put(t, &client, "", sample, shot[5])
	client = strings.Replace(client, sample, "", 1)
	require.NoError(t, os.WriteFile(file, []byte(client), 0o600))
	runIn(t, dir, "go", "vet", "./...")
	runIn(t, dir, "go", "test", "-run", "Sync|Hits", ".")

	file = filepath.Join(dir, "game_test.go")
	put(t, &tests, "", "Protocol: truth.Protocol()", ", NoLagCompensation: true")
	require.NoError(t, os.WriteFile(file, []byte(tests), 0o600))
	out, err := command(dir, "go", "test", "-run", "Hits", ".").CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "shots made")
}
