//go:build unix

package proxytest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// needs leaves a test out where a program is not installed, and logs which version is.
func needs(t *testing.T, name string, version ...string) {
	t.Helper()
	path := releasetest.Program(t, name)
	out, err := exec.Command(path, version...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	line, _, _ := strings.Cut(string(out), "\n")
	t.Log(line)
}

// program is a proxy that runs.
type program struct {
	t    *testing.T
	kind kind
	dir  string
	port int // where clients come to
	cmd  *exec.Cmd
	log  *output
}

// kind is how a proxy is run. Its texts have $PORT, $DIR and the settings in place of $SET.
type kind struct {
	name   string
	file   string
	config string
	args   []string
	udp    bool
	reload func(p *program)
}

// output is what a program wrote.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// run starts a proxy with settings, until the end of the test.
func (k kind) run(t *testing.T, settings string) *program {
	p := &program{t: t, kind: k, dir: t.TempDir(), port: releasetest.Port(t), log: &output{}}
	fill := strings.NewReplacer("$PORT", strconv.Itoa(p.port), "$DIR", p.dir)
	config := fill.Replace(strings.ReplaceAll(k.config, "$SET", settings))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, k.file), []byte(config), 0o600))
	var args []string
	for _, a := range k.args {
		args = append(args, fill.Replace(a))
	}
	p.begin(args...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s with\n%s\nwrote:\n%s", k.name, config, p.log)
		}
	})
	if k.udp {
		require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "start worker process ") }, 20*time.Second, 10*time.Millisecond)
	} else {
		require.Eventually(t, func() bool {
			c, err := net.Dial("tcp", p.addr())
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		}, 20*time.Second, 10*time.Millisecond, "%s listens: %s", k.name, p.log)
	}
	return p
}

// begin starts the program, which ends with the test.
func (p *program) begin(args ...string) {
	cmd := exec.Command(releasetest.Program(p.t, p.kind.name), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, p.log, p.log
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_DATA_HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir)
	require.NoError(p.t, cmd.Start())
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	p.cmd = cmd
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
	})
}

func (p *program) addr() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// reload has the proxy read its settings again, as an operator does.
func (p *program) reload() { p.kind.reload(p) }

var (
	nginx = kind{
		name: "nginx", file: "nginx.conf", args: []string{"-p", "$DIR", "-c", "$DIR/nginx.conf"},
		config: `user root; worker_processes 1; daemon off; pid $DIR/pid; error_log stderr notice; worker_shutdown_timeout 300ms;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $DIR/body; proxy_temp_path $DIR/proxy; fastcgi_temp_path $DIR/f; uwsgi_temp_path $DIR/u; scgi_temp_path $DIR/s;
	server { listen 127.0.0.1:$PORT; $SET }
}`,
		reload: hangUp,
	}
	nginxUDP = kind{
		name: "nginx", file: "nginx.conf", args: nginx.args, udp: true,
		config: `load_module $STREAM;
user root; worker_processes 1; daemon off; pid $DIR/pid; error_log stderr notice; worker_shutdown_timeout 300ms;
events { worker_connections 256; }
stream {
$SET
}`,
		reload: hangUp,
	}
	caddy = kind{
		name: "caddy", file: "Caddyfile", args: []string{"run", "--adapter", "caddyfile", "--config", "$DIR/Caddyfile"},
		config: `{
	admin unix/$DIR/admin
	auto_https off
}
http://127.0.0.1:$PORT, http://game.example:$PORT {
	bind 127.0.0.1
	$SET
}`,
		reload: func(p *program) {
			out, err := exec.Command(releasetest.Program(p.t, "caddy"), "reload", "--force", "--adapter", "caddyfile", "--config", filepath.Join(p.dir, "Caddyfile"), "--address", "unix/"+filepath.Join(p.dir, "admin")).CombinedOutput()
			require.NoError(p.t, err, "%s", out)
		},
	}
	haproxy = kind{
		name: "haproxy", file: "haproxy.cfg", args: []string{"-db", "-f", "$DIR/haproxy.cfg"},
		config: `global
	maxconn 256
	hard-stop-after 300ms
defaults
	mode http
	timeout connect 5s
frontend f
	bind 127.0.0.1:$PORT
	default_backend b
$SET
`,
		reload: func(p *program) { // as its scripts do: another process takes the port, and tells the first to end
			p.begin("-db", "-f", filepath.Join(p.dir, "haproxy.cfg"), "-sf", strconv.Itoa(p.cmd.Process.Pid))
		},
	}
)

func hangUp(p *program) { require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGHUP)) }
