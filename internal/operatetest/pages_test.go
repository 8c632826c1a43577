//go:build linux

package operatetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

// blocks returns the commands of a page of the guide, block by block.
func blocks(t *testing.T, page string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(releasetest.Root(t), "docs", "guide", page)) // #nosec G304 -- of the repository
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		all = append(all, m[1])
	}
	return all
}

// network runs a program with a network of its own, in which all ports are free. What it leaves running
// ends with it.
func network(t *testing.T) []string {
	t.Helper()
	releasetest.Program(t, "ip")
	return []string{releasetest.Program(t, "unshare"), "-rnpf", releasetest.Program(t, "bash"), "-ec", `ip link set lo up && exec bash -euo pipefail -c "$1"`, "bash"}
}

// runs runs a script to its end, and returns what it wrote.
func runs(t *testing.T, dir string, around []string, script string) string {
	t.Helper()
	all := append(around, script)
	cmd := exec.Command(all[0], all[1:]...) // #nosec G204 -- the page's commands
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	require.NoError(t, cmd.Run(), "%s\n%s", script, &out)
	t.Log(out.String())
	return out.String()
}

// changed replaces what a test cannot do as it is, and fails if the page no longer has it.
func changed(t *testing.T, script string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, script, pairs[i])
		script = strings.ReplaceAll(script, pairs[i], pairs[i+1])
	}
	return script
}

// Who follows the page has a host with metrics, alerts and wss on its own machine, and the commands of
// the page on limits say something about it.
func TestTryIt(t *testing.T) {
	costtest.Concurrent(t)
	for _, name := range []string{"caddy", "prometheus", "curl", "openssl", "sysctl", "ss", "awk"} {
		releasetest.Program(t, name)
	}
	dir := t.TempDir()
	// All ports are of this machine alone, and the host's are free once it has ended.
	const listening = "ss -Hltun | awk '{print \"listens on\", $5}'\n"
	const free = "if curl -s http://127.0.0.1:8080/livez; then exit 1; fi\n"
	script := changed(t, blocks(t, "operate.md")[0], "../try", dir, "kill %2\nwait %2\n", strings.Join(blocks(t, "tuning.md"), "")+listening+"kill %2\nwait %2\n"+free)
	script += "wait || true"
	script = "export GOWORK=off\n" + script
	out := runs(t, releasetest.Root(t), network(t), script)
	for _, want := range []string{`foretick_players\{kind="walk",state="playing"\} 8`, `"name":"HostDown"`, `"Web":"wss://localhost:8443/game"`, `process_max_fds \d`, `net.core.rmem_max = \d`, `Udp: .*RcvbufErrors`} {
		require.Regexp(t, want, out)
	}
	for _, port := range []string{"7777", "7778", "8080", "8081", "8443", "9090"} {
		require.Contains(t, out, "listens on 127.0.0.1:"+port+"\n")
	}
	for _, m := range regexp.MustCompile(`listens on (\S+)`).FindAllStringSubmatch(out, -1) {
		require.True(t, strings.HasPrefix(m[1], "127.0.0.1:"), m[1])
	}
	logs, err := os.ReadFile(filepath.Join(dir, "host.log")) // #nosec G304 -- the test's own
	require.NoError(t, err)
	require.Contains(t, string(logs), `"msg":"joined"`)
}

// What root installs is where the units look for it.
func TestInstalls(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"usr/local/bin", "etc/systemd/system", "etc/sysctl.d", "etc/caddy", "etc/prometheus"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o700))
	}
	releasetest.Program(t, "openssl")
	bash := []string{releasetest.Program(t, "bash"), "-euo", "pipefail", "-c"}
	script := blocks(t, "operate.md")[1]
	script = regexp.MustCompile(`(?m)^(useradd|systemd-analyze) .*\n`).ReplaceAllString(script, "") // of the machine itself
	script = regexp.MustCompile(` /(etc|usr|var)/`).ReplaceAllString(script, " "+dir+"/$1/")
	script = changed(t, script, " -g foretick", "", " foretick-host ", " go.mod ")
	if strings.Contains(script, "promtool") {
		releasetest.Program(t, "promtool")
	}
	runs(t, releasetest.Root(t), bash, script)
	unit, err := os.ReadFile(filepath.Join(dir, "etc", "systemd", "system", "foretick-host.service")) // #nosec G304
	require.NoError(t, err)
	paths := regexp.MustCompile(`(?m)^Ex.*?=(/\S+)|^Env.*=(/\S+)| (/etc/\S+) `).FindAllStringSubmatch(string(unit), -1)
	require.GreaterOrEqual(t, len(paths), 3)
	for _, m := range paths {
		if path := m[1] + m[2] + m[3]; !strings.HasSuffix(path, "/system,") { // where to copy it
			require.FileExists(t, filepath.Join(dir, filepath.FromSlash(path)))
		}
	}
	info, err := os.Stat(filepath.Join(dir, "etc", "foretick", "keys"))
	require.NoError(t, err)
	require.EqualValues(t, 0o640, info.Mode().Perm())
}

// Each step of the page leaves the keys that it says.
func TestKeys(t *testing.T) {
	releasetest.Program(t, "openssl")
	bash := []string{releasetest.Program(t, "bash"), "-euo", "pipefail", "-c"}
	dir := t.TempDir()
	read := func() []string {
		b, err := os.ReadFile(filepath.Join(dir, "keys")) // #nosec G304
		require.NoError(t, err)
		return strings.Fields(string(b))
	}
	runs(t, dir, bash, "openssl rand -hex 32 >keys")
	old := read()[0]
	steps := blocks(t, "keys.md")
	require.Len(t, steps, 3)
	runs(t, dir, bash, steps[0])
	both := read()
	require.Len(t, both, 2)
	require.Equal(t, old, both[0], "hosts accept both, and the matchmaker issues under the old one")
	next := both[1]
	require.NotEqual(t, old, next)
	runs(t, dir, bash, steps[1])
	require.Equal(t, []string{next, old}, read())
	runs(t, dir, bash, steps[2])
	require.Equal(t, []string{next}, read())
}

// The measurement of the page on sizes runs, here with a few players.
func TestSizing(t *testing.T) {
	costtest.Concurrent(t)
	all := blocks(t, "sizing.md")
	require.Len(t, all, 1)
	script := changed(t, all[0], "-matches 50 -count 200", "-matches 2 -count 8", "-seconds 10", "-seconds 2")
	out := runs(t, releasetest.Root(t), []string{releasetest.Program(t, "bash"), "-euc"}, "export GOWORK=off\n"+script)
	require.Contains(t, out, "CPU a player and tick")
	require.Contains(t, out, "| 2 host | 8 |")
}
