//go:build unix

package copytest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// start is one program of an example: what go run is given, and what it must print. One that
// serves is ended after that.
type start struct {
	args, says string
	serves     bool
}

// templates are the examples that are made to be copied, and how each runs.
var templates = map[string][]start{
	"hello":          {{"-serve -addr 127.0.0.1:7761", "", true}, {"-addr 127.0.0.1:7761", "player 1 at", true}},
	"chat":           {{"", "", false}},
	"rewind":         {{"", "judged in the past", false}},
	"rockets":        {{"-seconds 5", "", false}},
	"swap-ecs":       {{"", "corrections", false}},
	"swap-transport": {{"-serve -addr 127.0.0.1:7762", "", true}, {"-addr 127.0.0.1:7762", "", true}},
	"packages":       {{"-seconds 20", "confirmed", false}, {"-serve 127.0.0.1:7763", "", true}, {"-join 127.0.0.1:7763", "others", true}},
	"bumpers":        {{"-seconds 10", "", false}},
	"fighter":        {{"-seconds 10", "attacks hit", false}, {"-relay 127.0.0.1:7765", "relay at", true}, {"-connect 127.0.0.1:7765 -seconds 2", "0 desyncs", false}},
	"swarm":          {{"-seconds 2", "units left", false}, {"-relay 127.0.0.1:7766", "listens", true}, {"-connect 127.0.0.1:7766 -seconds 2", "units left", false}},
	"cubes":          {{"-frames 60", "", false}},
	"bots":           {{"-count 20 -seconds 3", "", false}},
	"host":           {{"", "127.0.0.1", true}},
	"ebiten":         {{"-bot -mute -listen udp://127.0.0.1:7764 -frames 60", "hosting at", false}, {"./fighter -bot -frames 60", "a peer came", false}}, // on a display
	"physics":        {{"./bots", "", false}},
	"donburi":        {{"./bots", "", false}},
}

// shows are too long to be templates.
var shows = map[string][]start{
	"arena": {{"-seconds 3", "", false}},
	"soak":  {{"-seeds 2 -seconds 10", "", false}},
}

// TestCopies copies the examples that FORETICK_COPIES names: templates or shows. Without it
// none is copied, and each must be on one of the lists.
func TestCopies(t *testing.T) {
	root := releasetest.Root(t)
	entries, err := os.ReadDir(filepath.Join(root, "examples"))
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			require.True(t, templates[e.Name()] != nil || shows[e.Name()] != nil, "examples/%s is on neither list", e.Name())
		}
	}
	commands := readCommands(t, root)
	switch which := os.Getenv("FORETICK_COPIES"); which {
	case "templates":
		copyAll(t, root, commands, templates)
	case "shows":
		copyAll(t, root, commands, shows)
	default:
		require.Empty(t, which, "FORETICK_COPIES is templates or shows")
	}
}

func copyAll(t *testing.T, root, commands string, examples map[string][]start) {
	env := slices.Concat(releasetest.Proxy(t), display(t, examples))
	names := make([]string, 0, len(examples))
	for name := range examples {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Println("| example, copied out | files | tidy | vet | test | run: seconds of processor |\n|---|---|---|---|---|---|")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // what serves mostly waits
			c := example{t: t, env: env, dir: filepath.Join(t.TempDir(), "mygame")}
			script := strings.ReplaceAll(strings.ReplaceAll(commands, "examples/hello", "examples/"+name), "../mygame", c.dir)
			tidy := c.runs(root, "sh", "-ec", script)
			files := c.countFiles()
			vet := c.runs(c.dir, "go", "vet", "./...")
			test := c.tests()
			ran := c.start(examples[name])
			fmt.Printf("| %s | %d | %.1f | %.1f | %.1f | %.1f |\n", name, files, tidy, vet, test, ran)
		})
	}
}

// display starts a display without a screen, if an example needs one, and returns the
// environment that names it.
func display(t *testing.T, examples map[string][]start) []string {
	if examples["ebiten"] == nil {
		return nil
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	x := exec.Command(releasetest.Program(t, "Xvfb"), "-displayfd", "3", "-screen", "0", "1100x700x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{write}
	require.NoError(t, x.Start(), "install xvfb")
	t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	_ = write.Close()
	name, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	return []string{"DISPLAY=:" + strings.TrimSpace(name)}
}

// readCommands returns the first commands of examples/README.md, which copy hello.
func readCommands(t *testing.T, root string) string {
	b, err := os.ReadFile(filepath.Join(root, "examples", "README.md")) // #nosec G304 -- of the repository
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(b)
	require.NotNil(t, block)
	require.Contains(t, string(block[1]), "cp -r examples/hello ../mygame && cd ../mygame\n")
	require.Contains(t, string(block[1]), "go mod init")
	return string(block[1])
}

// example is a copy of one.
type example struct {
	t   *testing.T
	env []string
	dir string
}

// runs runs a command to its end, and returns its seconds of processor.
func (c *example) runs(dir, name string, args ...string) float64 {
	c.t.Helper()
	cmd := exec.Command(name, args...) // #nosec G204 -- the page's commands
	cmd.Dir, cmd.Env = dir, c.env
	_, seconds := c.ends(cmd, 15*time.Minute)
	return seconds
}

// tests tests the copy. Tests of examples play over sockets, so those that fail beside other
// copies have to pass alone.
func (c *example) tests() float64 {
	c.t.Helper()
	cmd := releasetest.GoCommand("test", "./...")
	cmd.Dir, cmd.Env = c.dir, c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Printf("%s failed beside others:\n%s\n", c.t.Name(), out)
		return c.runs(c.dir, "go", "test", "-count=1", "-p=1", "-parallel=1", "./...")
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// ends runs a command to its end, and returns its output and its seconds of processor.
func (c *example) ends(cmd *exec.Cmd, limit time.Duration) (string, float64) {
	c.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 10*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the program that go run starts
	require.NoError(c.t, cmd.Start())
	err := c.waits(cmd, limit)
	require.NoError(c.t, err, "%v:\n%s", cmd.Args, &out)
	return out.String(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// waits waits for a command that leads a group of processes. One that takes longer than the limit
// is asked where it stands, with all that it started: a program in Go then prints the stacks of
// its goroutines.
func (c *example) waits(cmd *exec.Cmd, limit time.Duration) error {
	group := -cmd.Process.Pid
	late := time.AfterFunc(limit, func() {
		_ = syscall.Kill(group, syscall.SIGQUIT)
		time.Sleep(5 * time.Second)
		_ = syscall.Kill(group, syscall.SIGKILL)
	})
	if err := cmd.Wait(); late.Stop() {
		return err
	}
	return fmt.Errorf("not ended after %v", limit)
}

func (c *example) countFiles() (n int) {
	require.NoError(c.t, filepath.WalkDir(c.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	}))
	return n
}

// start runs an example's programs, one after the other, and returns their seconds of
// processor. Servers run until all are done.
func (c *example) start(programs []start) (seconds float64) {
	var serving []*exec.Cmd
	for _, p := range programs {
		args := strings.Fields(p.args)
		if len(args) == 0 || !strings.HasPrefix(args[0], "./") {
			args = append([]string{"."}, args...)
		}
		if !p.serves {
			seconds += c.says(p, args)
			continue
		}
		cmd := releasetest.GoCommand(append([]string{"run"}, args...)...)
		cmd.Dir, cmd.Env = c.dir, c.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the program that go run starts
		read, write, err := os.Pipe()
		require.NoError(c.t, err)
		cmd.Stdout, cmd.Stderr = write, write
		require.NoError(c.t, cmd.Start())
		_ = write.Close()
		c.t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = read.Close() })
		serving = append(serving, cmd)
		heard := make(chan string, 1)
		go func() {
			var all strings.Builder
			found := false
			for lines := bufio.NewScanner(read); lines.Scan(); {
				all.WriteString(lines.Text() + "\n")
				if !found && p.says != "" && strings.Contains(lines.Text(), p.says) {
					found = true
					heard <- ""
				}
			}
			if !found {
				heard <- all.String()
			}
		}()
		select {
		case said := <-heard:
			require.Empty(c.t, said, "go run %s ended without %q", p.args, p.says)
		case <-time.After(map[bool]time.Duration{false: time.Minute * 3, true: 10 * time.Second}[p.says == ""]):
			require.Empty(c.t, p.says, "go run %s does not say it", p.args)
		}
	}
	for _, cmd := range slices.Backward(serving) { // players leave before their server ends
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		err := c.waits(cmd, time.Minute)
		var exit *exec.ExitError
		require.True(c.t, err == nil || errors.As(err, &exit), "%v: %v", cmd.Args, err)
		seconds += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	return seconds
}

// says runs a program that ends by itself, and looks for what it must print.
func (c *example) says(p start, args []string) float64 {
	c.t.Helper()
	cmd := releasetest.GoCommand(append([]string{"run"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, seconds := c.ends(cmd, 5*time.Minute)
	require.NotEmpty(c.t, out)
	require.Contains(c.t, out, p.says, "go run %v", args)
	return seconds
}
