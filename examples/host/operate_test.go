package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
)

// program finds a program that the test runs. If REQUIRE_PROGRAMS is 1, it must exist.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("REQUIRE_PROGRAMS") != "1" {
		t.Skipf("needs %s, which is not on this machine: %v", name, err)
	}
	require.NoError(t, err)
	return path
}

// runs runs a program to its end.
func runs(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program(t, name), args...).CombinedOutput() // #nosec G204 -- the test's own
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// document is a file as YAML.
func document(t *testing.T, name string) (doc object) {
	t.Helper()
	b, err := os.ReadFile(name) // #nosec G304 -- of this directory
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &doc), name)
	return doc
}

// Each alert names only metrics, labels and values of labels that a host has, and says what to do. The
// fleet has the same alerts.
func TestAlerts(t *testing.T) {
	key := ticket.NewKey()
	t.Setenv(keyVariable, fmt.Sprintf("%x", key))
	s := begin(t, "-bots", "4", "-players", "2")
	s.wait("they play", func() bool { return s.figures().Host.Players == 4 })
	where, err := askFor(t.Context(), s.url, request{Name: "somebody"})
	require.NoError(t, err)
	for _, wrong := range []struct { // an accept hook's reasons are there once they occurred
		key     []byte
		expires time.Duration
		server  string
	}{{ticket.NewKey(), time.Minute, where.Game.String()}, {key, -time.Minute, where.Game.String()}, {key, time.Minute, "192.0.2.1:7777"}} {
		claims := ticket.Claims{Match: "m", Identity: []byte("x"), Expires: time.Now().Add(wrong.expires), Servers: []netip.AddrPort{netip.MustParseAddrPort(wrong.server)}}
		issued, err := ticket.Issue(wrong.key, claims)
		require.NoError(t, err)
		where.Ticket, err = issued.MarshalBinary()
		require.NoError(t, err)
		e, err := where.dial(true)
		require.NoError(t, err)
		s.wait("it is refused", func() bool {
			var ev [8]transport.Event
			n := e.Recv(ev[:])
			return n > 0 && ev[n-1].Kind == transport.Disconnected
		})
		require.NoError(t, e.Close(transport.Closed, ""))
	}
	s.wait("the refusals are counted", func() bool { return strings.Count(s.get("/metrics"), `layer="ws",part="ws",reason="`) >= 7 })
	series := map[string][]string{"up": {`job="foretick",instance="a"`}}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(s.get("/metrics"), -1) {
		series[m[1]] = append(series[m[1]], m[2]+`,job="foretick",instance="a"`)
	}
	if _, ok := readProcess(); !ok { // Linux alone has them
		for _, m := range []string{openFiles.Name, mostFiles.Name} {
			series[m] = series["up"]
		}
	}
	groups := document(t, "monitoring/rules.yaml")["groups"]
	require.Equal(t, groups, at(documents(t, "alerts.yaml")[0], "spec.groups"))
	rules := at(groups, "0.rules").([]any)
	require.Greater(t, len(rules), 10)
	seen := map[string]bool{}
	for _, rule := range rules {
		name, expr := at(rule, "alert").(string), at(rule, "expr").(string)
		require.False(t, seen[name])
		seen[name] = true
		require.Contains(t, []string{"page", "ticket"}, at(rule, "labels.severity"), name)
		require.NotEmpty(t, at(rule, "annotations.summary"), name)
		require.NotEmpty(t, at(rule, "annotations.do"), name)
		metrics := regexp.MustCompile(`\b(up|(?:foretick|host|process)_\w+)(?:\{(.*?)\})?`).FindAllStringSubmatch(expr, -1)
		require.NotEmpty(t, metrics, expr)
		for _, m := range metrics {
			require.NotEmpty(t, series[m[1]], "%s: no host has %s", name, m[1])
			for _, l := range regexp.MustCompile(`(\w+)=~?"(.*?)"`).FindAllStringSubmatch(m[2], -1) {
				for value := range strings.SplitSeq(l[2], "|") {
					require.Contains(t, strings.Join(series[m[1]], "\n"), l[1]+`="`+value+`"`, "%s of %s", name, m[1])
				}
			}
			for _, by := range regexp.MustCompile(`by \((.*?)\)`).FindAllStringSubmatch(expr, -1) {
				for label := range strings.SplitSeq(by[1], ", ") {
					require.Contains(t, strings.Join(series[m[1]], "\n"), label+`="`, "%s by %s", name, label)
				}
			}
		}
	}
}

// Prometheus takes the rules, and they fire on what they are for, and not on a host that is well.
func TestAlertsFire(t *testing.T) {
	t.Log(runs(t, "promtool", "--version"))
	runs(t, "promtool", "check", "rules", "monitoring/rules.yaml")
	runs(t, "promtool", "check", "config", "monitoring/prometheus.yaml")
	t.Log(runs(t, "promtool", "test", "rules", "monitoring/rules_test.yaml"))
	// The test is as often evaluated as the rules are, in both forms that are shipped, and a match that
	// hangs shows for less than two intervals: see host.Config.Stall and Abandon.
	often := at(document(t, "monitoring/rules_test.yaml"), "evaluation_interval")
	require.NotNil(t, often)
	require.Equal(t, often, at(document(t, "monitoring/prometheus.yaml"), "global.evaluation_interval"))
	require.Equal(t, often, at(document(t, "monitoring/prometheus.yaml"), "global.scrape_interval"))
	require.Equal(t, often, at(document(t, "monitoring/rules.yaml"), "groups.0.interval"))
	tested, err := os.ReadFile("monitoring/rules_test.yaml")
	require.NoError(t, err)
	for _, rule := range at(document(t, "monitoring/rules.yaml"), "groups.0.rules").([]any) {
		require.Contains(t, string(tested), "alertname: "+at(rule, "alert").(string)+"\n", "each alert is tested")
	}
}

// variables replaces ${NAME:-default} by a value, or by its default.
func variables(text string, values map[string]string) string {
	return regexp.MustCompile(`\$\{(\w+)(?::-(.*?))?\}`).ReplaceAllStringFunc(text, func(v string) string {
		m := regexp.MustCompile(`\$\{(\w+)(?::-(.*?))?\}`).FindStringSubmatch(v)
		if value := values[m[1]]; value != "" {
			return value
		}
		return m[2]
	})
}

// The compose file says the same as the program, the Dockerfile, Caddy's file and Prometheus'.
func TestCompose(t *testing.T) {
	b, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var doc object
	require.NoError(t, yaml.Unmarshal([]byte(variables(string(b), map[string]string{"DOMAIN": "play.example.com", "PUBLIC_IP": "203.0.113.7"})), &doc))
	require.ElementsMatch(t, []string{"services", "volumes"}, keysOf(doc))
	services := doc["services"].(object)
	require.ElementsMatch(t, []string{"host", "caddy", "prometheus"}, keysOf(services))
	known := []string{"build", "image", "command", "ports", "volumes", "restart", "stop_grace_period", "ulimits", "environment", "network_mode"}
	for name, service := range services {
		require.Subset(t, known, keysOf(service.(object)), name)
		require.True(t, (at(service, "image") != nil) != (at(service, "build") != nil), name)
		for _, v := range at(service, "volumes").([]any) {
			from, _, _ := strings.Cut(v.(string), ":")
			if strings.HasPrefix(from, ".") {
				require.FileExists(t, map[bool]string{true: filepath.Join(from, "prometheus.yaml"), false: from}[from == "./monitoring"])
			} else {
				require.Contains(t, doc["volumes"], from)
			}
		}
	}
	var args []string
	for _, a := range at(services, "host.command").([]any) {
		args = append(args, a.(string))
	}
	t.Setenv(keyVariable, "")
	o, err := parse(args, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "203.0.113.7:7777", o.public)
	require.Equal(t, "wss://play.example.com/game", o.publicWeb)
	require.Contains(t, at(services, "host.ports"), o.game[1:]+":"+o.game[1:]+"/udp")
	require.Equal(t, "host"+o.web, at(services, "caddy.environment.WEB"))
	require.Equal(t, "host"+o.page, at(services, "caddy.environment.PAGE"))
	require.Contains(t, at(services, "host.volumes"), "tapes:"+o.tapes)
	grace, err := time.ParseDuration(at(services, "host.stop_grace_period").(string))
	require.NoError(t, err)
	require.Greater(t, grace, o.drain)
	docker, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	for name := range at(services, "host.build.args").(object) {
		require.Regexp(t, `(?m)^ARG `+name+`\b`, string(docker))
	}
	require.Contains(t, string(docker), "--chown=nonroot /tapes "+o.tapes+"\n", "nobody writes there")
	caddy, err := os.ReadFile("Caddyfile")
	require.NoError(t, err)
	for name := range at(services, "caddy.environment").(object) {
		require.Contains(t, string(caddy), "{$"+name+":")
	}
	require.Equal(t, "127.0.0.1"+o.page, at(document(t, "monitoring/prometheus.yaml"), "scrape_configs.0.static_configs.0.targets.0"))
}

func keysOf(o object) (all []string) {
	for key := range o {
		all = append(all, key)
	}
	return all
}

// unit returns the lines of the service, and the arguments of its program.
func unit(t *testing.T) (lines map[string]string, args []string) {
	t.Helper()
	env := map[string]string{}
	b, err := os.ReadFile("machine/host.env")
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && name[0] != '#' {
			env[name] = value
		}
	}
	b, err = os.ReadFile("machine/foretick-host.service")
	require.NoError(t, err)
	lines = map[string]string{}
	for line := range strings.Lines(variables(string(b), env)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && name[0] != '#' {
			lines[name] = value
		}
	}
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(lines["ExecStart"], -1) {
		args = append(args, m[1]+m[2])
	}
	return lines, args
}

// The unit starts the program with flags that it has, and waits for its matches.
func TestUnit(t *testing.T) {
	lines, args := unit(t)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("ab", ticket.KeySize)), 0o600))
	for i, a := range args {
		if strings.HasSuffix(a, "/foretick/keys") {
			args[i] = file
		}
	}
	o, err := parse(args[1:], io.Discard)
	require.NoError(t, err)
	require.Equal(t, "203.0.113.7:7777", o.public)
	require.Equal(t, file, o.keys.path)
	stop, err := time.ParseDuration(strings.Replace(lines["TimeoutStopSec"], "min", "m", 1))
	require.NoError(t, err)
	require.Greater(t, stop, o.drain)
	for _, dir := range []string{o.tapes, o.collect[strings.LastIndexByte(o.collect, ' ')+1:]} {
		require.True(t, strings.HasPrefix(dir, "/var/lib/foretick/"), dir)
	}
	require.Equal(t, "foretick foretick/collected", lines["StateDirectory"])
}

// systemd finds no fault in the unit.
func TestUnitVerifies(t *testing.T) {
	b, err := os.ReadFile("machine/foretick-host.service")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "foretick-host.service")
	text := regexp.MustCompile(`ExecStart=\S+`).ReplaceAllLiteralString(string(b), "ExecStart="+os.Args[0]) // which is there
	text = strings.Replace(text, "User=foretick", "User=root", 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.Empty(t, runs(t, "systemd-analyze", "verify", "--man=no", file))
	bad := strings.Replace(text, "Restart=on-failure", "Restart=maybe", 1)
	require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
	out, _ := exec.Command(program(t, "systemd-analyze"), "verify", "--man=no", file).CombinedOutput() // #nosec G204
	require.Contains(t, string(out), "maybe", "it finds one that is there")
}

// The settings of the kernel have the form of sysctl, and give an endpoint what it asks for.
func TestSysctl(t *testing.T) {
	b, err := os.ReadFile("machine/sysctl.conf")
	require.NoError(t, err)
	_, first := os.Stat("/proc/sys/net/core/netdev_budget") // in the first network namespace of Linux alone, as these are
	n := 0
	for line := range strings.Lines(string(b)) {
		if line[0] == '#' {
			continue
		}
		m := regexp.MustCompile(`^(net\.core\.[a-z_]+) = (\d+)\n$`).FindStringSubmatch(line)
		require.NotNil(t, m, line)
		n++
		if first == nil {
			require.FileExists(t, "/proc/sys/"+strings.ReplaceAll(m[1], ".", "/"))
		}
	}
	require.Equal(t, 4, n)
}

// A browser plays through Caddy, by wss, with the file that compose mounts. The matchmaker is public,
// and the figures are not.
func TestBehindCaddy(t *testing.T) {
	caddy := program(t, "caddy")
	t.Log(runs(t, "caddy", "version"))
	web, page, secure, plain := free(t), free(t), free(t), free(t)
	domain := fmt.Sprint("localhost:", secure)
	dir := t.TempDir()
	b, err := os.ReadFile("Caddyfile")
	require.NoError(t, err)
	file := filepath.Join(dir, "Caddyfile")
	own := fmt.Sprintf("{\n\tadmin off\n\tskip_install_trust\n\thttp_port %d\n\thttps_port %d\n}\n", plain, secure)
	require.NoError(t, os.WriteFile(file, append([]byte(own), b...), 0o600))
	cmd := exec.Command(caddy, "run", "--config", file) // #nosec G204 -- the test's own
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir, "DOMAIN="+domain, fmt.Sprint("WEB=127.0.0.1:", web), fmt.Sprint("PAGE=127.0.0.1:", page))
	var out strings.Builder
	cmd.Stderr = &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	s := begin(t, "-bots", "0", "-web", fmt.Sprint("127.0.0.1:", web), "-page", fmt.Sprint("127.0.0.1:", page), "-public-web", "wss://"+domain+"/game", "-proxy-header", "X-Forwarded-For")
	root := filepath.Join(dir, "caddy", "pki", "authorities", "local", "root.crt")
	s.wait("Caddy has its certificate", func() bool {
		c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", secure))
		if err == nil {
			_ = c.Close()
		}
		_, missing := os.Stat(root)
		return err == nil && missing == nil
	})
	t.Setenv("SSL_CERT_FILE", root) // of this process; nothing in it has asked for the system's yet
	ann := newPlayer(t, "https://"+domain, "ann", true)
	ann.say = func(err error) { t.Log(err) }
	s.wait("she plays", func() bool { require.NoError(t, ann.Step(time.Now())); return ann.Playing() })
	for _, path := range []string{"/metrics", "/figures", "/"} {
		resp, err := http.Get("https://" + domain + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
	require.NoError(t, ann.Close())
}
