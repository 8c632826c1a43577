package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

// step is a step of a workflow.
type step struct {
	Name string            `yaml:"name"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	Env  map[string]string `yaml:"env"`
}

// workflow is the part of a workflow that the tests read.
type workflow struct {
	Jobs map[string]struct {
		Steps []step `yaml:"steps"`
	} `yaml:"jobs"`
}

func readWorkflow(t *testing.T, game string) (w workflow) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(game, ".github", "workflows", "ci.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &w))
	require.Contains(t, w.Jobs, "game")
	return w
}

// A workflow is only written with -ci. If the game builds with a checkout, the workflow clones it
// first. If it builds with a release, the workflow names the version. What a match costs is compared for games
// with a server.
func TestWorkflowSteps(t *testing.T) {
	for _, c := range []struct {
		replace, commit string
		rollback        bool
		steps           []string
	}{
		{"../foretick", "abc", false, []string{"Clone Foretick", "Test", "foretick-vet", "Benchmark", "Compare"}},
		{"", "", false, []string{"Test", "foretick-vet", "Benchmark", "Compare"}},
		{"../foretick", "abc", true, []string{"Clone Foretick", "Test", "foretick-vet"}},
		{"", "", true, []string{"Test", "foretick-vet"}},
	} {
		for _, ci := range []bool{false, true} {
			g, err := newGame(filepath.Join(t.TempDir(), "mygame"), "")
			require.NoError(t, err)
			g.Version, g.Replace, g.Commit, g.CI, g.Rollback = "v0.1.0", c.replace, c.commit, ci, c.rollback
			require.NoError(t, g.write())
			if !ci {
				require.NoDirExists(t, filepath.Join(g.dir, ".github"))
				continue
			}
			require.NoDirExists(t, filepath.Join(g.dir, "ci"))
			var names []string
			all := ""
			for _, s := range readWorkflow(t, g.dir).Jobs["game"].Steps {
				require.NotEqual(t, s.Uses == "", s.Run == "", s.Name)
				if s.Run != "" {
					require.True(t, strings.HasPrefix(s.Run, "set -euo pipefail\n"), "%s: another CI may not set them", s.Name)
					names, all = append(names, s.Name), all+s.Run
				}
			}
			require.Equal(t, c.steps, names)
			require.Equal(t, c.replace != "", strings.Contains(all, "git -C ../foretick checkout -q abc"))
			require.Equal(t, c.replace == "", strings.Contains(all, "foretick-vet@v0.1.0"))
		}
	}
}

// The replace is relative, and the workflow clones the checkout into a directory that a runner has.
func TestRelativeReplace(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "foretick")
	require.NoError(t, os.Mkdir(root, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(home, "far", "deep"), 0o777))
	require.NoError(t, os.Symlink(filepath.Join(home, "far", "deep"), filepath.Join(home, "link")))
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	for dir, want := range map[string]string{
		"mygame": "../foretick", "games/mygame": "../../foretick", "far/deep/mygame": "../../../foretick",
		"link/mygame": filepath.ToSlash(real), // a shell's directory is link/mygame, whose parent is another one without the link
	} {
		for _, ci := range []bool{false, true} {
			g, err := newGame(filepath.Join(home, filepath.FromSlash(dir)), "")
			require.NoError(t, err)
			g.CI = ci
			if err = g.useCheckout(root); ci && strings.Count(want, "../") != 1 && strings.Count(want, "../") != 2 {
				require.ErrorContains(t, err, "put the game beside the checkout", dir)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, g.Replace, dir)
		}
	}
}

// runner runs the workflow of a game again and again in one workspace, as on a machine that keeps it.
type runner struct {
	t          *testing.T
	home, game string
	env        []string
}

// git runs git in the game's repository.
func (r *runner) git(args ...string) { r.t.Helper(); r.command(r.game, "git", args...) }

// command runs a program and returns what it printed.
func (r *runner) command(dir, name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, r.env
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// plant commits a change of a file on a branch of main.
func (r *runner) plant(branch, name, before, after string) {
	r.t.Helper()
	r.git("checkout", "-q", "-b", branch, "main")
	r.edit(name, before, after)
}

// edit commits a change of a file.
func (r *runner) edit(name, before, after string) {
	r.t.Helper()
	file := filepath.Join(r.game, name)
	b, err := os.ReadFile(file)
	require.NoError(r.t, err)
	require.Equal(r.t, 1, strings.Count(string(b), before), before)
	require.NoError(r.t, os.WriteFile(file, []byte(strings.Replace(string(b), before, after, 1)), 0o600))
	r.git("commit", "-qam", "change "+name)
}

// checkout checks a branch out into the workspace. A branch other than main is checked out as a
// pull request: merged with main, as on GitHub.
func (r *runner) checkout(branch string) (game string) {
	r.t.Helper()
	game = filepath.Join(r.home, "work", "mygame")
	if _, err := os.Stat(game); err != nil {
		require.NoError(r.t, os.MkdirAll(filepath.Join(r.home, "work", "temp"), 0o777))
		r.command(r.home, "git", "clone", "-q", r.game, game)
	}
	r.command(game, "git", "fetch", "-q", "origin")
	r.command(game, "git", "checkout", "-q", "--detach", "origin/main")
	if branch != "main" {
		r.command(game, "git", "merge", "-q", "--no-ff", "origin/"+branch)
	}
	return game
}

// run runs all steps on a branch, each in a shell without options. before is the commit of main
// before a push, which GitHub passes to the workflow. It returns the step that failed, "" if none,
// the output of that step, and the summary.
func (r *runner) run(branch, before string) (failed, output, summary string) {
	r.t.Helper()
	game, temp := r.checkout(branch), filepath.Join(r.home, "work", "temp")
	w, file := readWorkflow(r.t, game), filepath.Join(temp, "summary.md")
	require.NoError(r.t, os.RemoveAll(file))
	for _, s := range w.Jobs["game"].Steps {
		if s.Run == "" {
			continue
		}
		env := append(r.env, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+file)
		for name, value := range s.Env {
			require.Equal(r.t, "${{ github.event.before }}", value)
			env = append(env, name+"="+before)
		}
		cmd := exec.Command(releasetest.Program(r.t, "bash"), "--noprofile", "--norc", "-c", s.Run)
		cmd.Dir, cmd.Env = game, env
		out, err := cmd.CombinedOutput()
		if output = string(out); err != nil {
			failed = s.Name
			break
		}
	}
	b, err := os.ReadFile(file)
	if failed == "" || failed == "Compare" {
		require.NoError(r.t, err)
		require.Contains(r.t, string(b), "│", "benchstat's table")
		require.NotContains(r.t, string(b), "noisy")
		require.NotContains(r.t, string(b), "need >=")
	}
	return failed, output, string(b)
}

// wind is a server system that pushes walking players.
const wind = `	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos, move := g.Pos.Slice(rows), g.Move.Slice(rows)
		for i := range pos {
			if f.Tick%60 == 0 && move[i].X != 0 {
				pos[i].X = min(pos[i].X+1, 60)
			}
		}
	}, ecs.Read(&g.Move), ecs.Write(&g.Pos))
	return p
`

// The workflow finds three planted regressions by comparing with main, one alone and two at once,
// also in an earlier commit of a push. It shows the comparison if a limit is exceeded, and finds
// nothing in a game that did not change. FORETICK_LONG is the number of runs for the last case.
// Above 1, each regression is also planted alone.
func TestWorkflowFindsRegressions(t *testing.T) {
	costtest.Long(t)
	root, home := releasetest.Root(t), t.TempDir()
	source := filepath.Join(home, "author", "foretick")
	r := &runner{t: t, home: home, game: filepath.Join(home, "author", "mygame"), env: append(os.Environ(),
		"GOFLAGS=", "GOWORK=", "GIT_CONFIG_COUNT=3", // all runs use one workspace, so that they share built packages
		"GIT_CONFIG_KEY_0=url."+source+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/foretick/foretick",
		"GIT_CONFIG_KEY_1=user.name", "GIT_CONFIG_VALUE_1=player", "GIT_CONFIG_KEY_2=user.email", "GIT_CONFIG_VALUE_2=player@example.com")}
	require.NoError(t, os.MkdirAll(source, 0o777))
	require.NoError(t, os.CopyFS(source, os.DirFS(root)))
	require.NoError(t, os.RemoveAll(filepath.Join(source, ".git")))
	r.command(source, "git", "init", "-q")
	r.command(source, "git", "add", "-A")
	r.command(source, "git", "commit", "-qm", "checkout")

	g, err := newGame(r.game, "")
	require.NoError(t, err)
	g.CI = true
	require.NoError(t, g.useCheckout(source))
	require.Equal(t, "../foretick", g.Replace)
	require.NoError(t, g.write())
	require.NoError(t, g.tidy())
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.git("commit", "-qm", "game")
	failed, output, summary := r.run("main", strings.Repeat("0", 40)) // GitHub passes zeros for a first push
	require.Empty(t, failed, output)
	require.Contains(t, summary, "This is the first commit")
	first := strings.TrimSpace(r.command(r.game, "git", "rev-parse", "main"))

	const slices = "\tpos, move := g.Pos.Slice(rows), g.Move.Slice(rows)\n"
	type edit struct{ file, before, after, want string }
	step := edit{"game.go", `min=0,max=60,step=0.01,lerp`, `lerp`, "Position-B/s is "}
	push := edit{"game.go", "\treturn p\n", wind, "server_effect-corrections/min is "}
	allocation := edit{"game.go", slices, strings.Replace(slices, "g.Move.Slice(rows)", "append([]Move(nil), g.Move.Slice(rows)...)", 1), "server-allocs/tick is "}
	limit := edit{"game_test.go", `"down-B/s": 2000`, `"down-B/s": 700`, "- down-B/s is 785.5, more than its limit 700"}
	type branch struct {
		name, not string
		edits     []edit
	}
	branches := []branch{{"step", "limit", []edit{step}}, {"others", "limit", []edit{allocation, push}}, {"limit", "- Bench", []edit{limit}}}
	if costtest.Count(0, 1) > 1 { // plants each regression alone
		branches = append(branches, branch{"push", "limit", []edit{push}}, branch{"allocation", "limit", []edit{allocation}})
	}
	for _, c := range branches {
		r.plant(c.name, c.edits[0].file, c.edits[0].before, c.edits[0].after)
		for _, e := range c.edits[1:] {
			r.edit(e.file, e.before, e.after)
		}
		failed, output, summary := r.run(c.name, "")
		require.Equal(t, "Compare", failed, "%s: %s", c.name, output)
		require.NotContains(t, output, c.not, c.name)
		verdict, figures, found := strings.Cut(summary, "<details>")
		require.True(t, found)
		for _, e := range c.edits {
			require.Contains(t, output, e.want, c.name)
			require.Contains(t, verdict, e.want, c.name)
		}
		require.Contains(t, figures, "down-B/s", c.name)
		require.Regexp(t, `Game\S* +785\.5 ± 0% +\d`, figures, "both sides in one line")
		if c.name == "limit" {
			require.Contains(t, verdict, "Nothing rose by more than 3 %")
		}
		t.Logf("%s:\n%s", c.name, summary)
	}
	r.plant("unchanged", "game.go", "// move runs on", "// move itself runs on")
	for i := range costtest.Count(0, 1) {
		failed, output, summary := r.run("unchanged", "")
		require.Empty(t, failed, "run %d: %s", i, output)
		require.Contains(t, summary, "Nothing rose by more than 3 %")
	}
	t.Logf("%d runs of an unchanged game: nothing found", costtest.Count(0, 1))

	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--ff-only", "step")
	r.git("commit", "-q", "--allow-empty", "-m", "nothing more")
	failed, output, _ = r.run("main", first)
	require.Equal(t, "Compare", failed, output)
	require.Contains(t, output, "Position-B/s is ")
}
