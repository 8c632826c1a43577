package archtest_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// docCode is what the code blocks in the comments of a file need around them: declarations
// of the names that they use and do not declare, by the beginning of the block.
var docCode = map[string]map[string]string{
	"doc.go": {"p := game.Protocol()": `
		var game interface{ Protocol() *foretick.Protocol }
		var endpoint transport.Endpoint
		var ctx context.Context`,
		"cl, err := client.New(": `
		type command struct{ X int8 }
		var game struct { Cmd ecs.Component[command] }
		var p *foretick.Protocol
		var endpoint transport.Endpoint
		var readPad func(client.View) command
		var frames []int
		var draw func(client.View)`},
	"server/doc.go": {"srv, err := server.New(": `
		var game interface{ Protocol() *foretick.Protocol }
		var endpoint transport.Endpoint
		var ctx context.Context`},
	"client/doc.go": {"cl, err := client.New(": `
		type command struct{ X int8 }
		type protocols interface{ Protocol() *foretick.Protocol }
		var game struct { protocols; Cmd ecs.Component[command] }
		var endpoint transport.Endpoint
		var readPad func(client.View) command
		var frames []int
		var draw func(client.View)`},
	"server/players.go": {"err := srv.DoFor(": `
		var srv *server.Server
		var player server.Player`},
	"frame.go": {"part := f.DrawnPart(": `
		var f *foretick.Frame
		var rows ecs.Rows
		var before, after struct{ X float32 }`},
	"hit_view.go": {
		"g.Shot.Raise(": `
		type Shot struct{ Ray lagcomp.Ray }
		type Health struct{ Points int32 }
		var g struct { Shot foretick.Event[Shot]; Health ecs.Component[Health] }
		var f *foretick.Frame
		var p *foretick.Protocol
		var rows ecs.Rows
		var pos struct{ X, Y float32 }
		var cmd struct{ Aim float32 }
		var i int`,
	},
	"ecs/doc.go": {
		"type Game struct": `
		type Position struct{ X float32 }
		type Velocity struct{ X float32 }
		type Score struct{ N int32 }`,
		"func (g *Game) move(": `
		type value struct{ X float32 }
		type Frame struct{ DT float32 }
		type Game struct { Pos, Vel ecs.Component[value] }`,
		`s.Add("move"`: `
		type value struct{ X float32 }
		type Frame struct{ DT float32 }
		type moves interface{ move(f *Frame, rows ecs.Rows) }
		var g struct { moves; Pos, Vel ecs.Component[value] }
		var s *ecs.Schedule[*Frame]`,
	},
	"ecs/guard.go": {"defer w.Guard(": `var w *ecs.World`},
	"protocol.go": {"g.players = p.Query(": `
		var p *foretick.Protocol
		var g struct { players *ecs.Query; Pos, Cmd ecs.Component[float32] }`},
	"input/doc.go": {"m, err := input.New(": ``},
	"input/fill.go": {
		"type Command struct": ``,
		"read, err := input.Fill[": `
		type Command struct{ X float32 }
		var m *input.Map
		var game struct { Command ecs.Component[Command] }`,
	},
	"lagcomp/doc.go": {
		"history.Begin(tick)": `
		var history *lagcomp.History
		var tick lagcomp.Tick
		var players []struct { id lagcomp.ID; owner, life uint32; hitboxes []lagcomp.Hitbox }`,
		"use, reason := judge.Allow(": `
		var history *lagcomp.History
		var judge *lagcomp.Judge
		var claim lagcomp.Claim
		var measured lagcomp.Measured
		var ray lagcomp.Ray
		var filter lagcomp.Filter`,
	},
	"bridge/doc.go": {"b := bridge.New(": `
		var p *foretick.Protocol
		var g struct {
			spawn           func(prefab string) int
			remove          func(own int)
			Body, Stick     ecs.Component[float32]
			bodyOf, stickOf func(own int) *float32
			drive           func(f *foretick.Frame, active []int)
		}`},
	"inspect/web/doc.go": {"mux.Handle(": `var mux *http.ServeMux; var srv *server.Server`},
	"inspect/doc.go":     {"in := inspect.New(": `var srv *server.Server; var file interface{ Write(b []byte) (int, error) }`},
	"mathf/doc.go":       {"x += float32(vx * dt)": `var x, vx, dt float32`},
	"netcode/doc.go": {"for _, datagram := range received": `
		var received [][]byte
		var conn *netcode.Conn
		var now, timeout time.Duration
		var kind netcode.MessageType
		var body []byte
		var send func([]byte)`},
	"observe/doc.go": {"o, err := observe.New(": `var endpoint transport.Endpoint`},
	"relay/doc.go":   {"r, err := relay.New(": `var endpoint transport.Endpoint; var ctx context.Context`},
	"rollback/doc.go": {
		"peer, err := rollback.New(": `var endpoint transport.Endpoint; var ctx context.Context; var proto *foretick.Protocol
		type pad struct{ X int8 }
		var g struct {
			Cmd    ecs.Component[pad]
			sample func(rollback.View) pad
			draw   func(*ecs.World)
		}`,
	},
	"rollback/rollbacktest/doc.go": {"func TestMyGame(": `
		type pad struct{ X int8 }
		type protocols interface{ Protocol() *foretick.Protocol }
		type Game struct { protocols; Cmd ecs.Component[pad] }
		type bot interface { press(rollback.View) pad }
		var NewBot func(*Game, uint64) bot`},
	"simtest/doc.go": {
		"func TestMyGame(": `
		type pad struct{ X int8 }
		type protocols interface{ Protocol() *foretick.Protocol; script(client.View) pad }
		type Game struct { protocols; Cmd ecs.Component[pad] }`,
		"func TestSync(":      `var newPlayer func() simtest.Player`,
		"func BenchmarkGame(": `var newPlayer func() simtest.Player`,
	},
	"simtest/pair/doc.go": {"func TestPair(": `var newPlayer func() simtest.Player`},
	"snapshot/doc.go": {
		"source.Begin(tick)": `
		type entity struct { id snapshot.NetID; prefab int; owner uint16; mask schema.Mask; pointers []unsafe.Pointer; refs schema.Refs }
		type client struct { sender *snapshot.Sender; packet []byte; sent snapshot.Sent }
		var source *snapshot.Source
		var tick schema.Tick
		var entities []entity
		var clients []*client
		var room int`,
		"tick, err := receiver.Read(": `
		var receiver *snapshot.Receiver
		var packet []byte`,
		"a, b, f, ok := ghost.Sample(": `
		var ghost *snapshot.Ghost
		var tick schema.Tick
		var fraction float32
		var comp int
		var compiled *schema.Schema
		var dst unsafe.Pointer`,
	},
	"transport/doc.go": {"var events [64]transport.Event": `
		var ep transport.Endpoint`},
	"transport/dtls/doc.go": {
		"gate, err := ticket.NewGate(": `
		var key []byte
		var public netip.AddrPort
		var t []byte`,
		"cert, err := dtls.NewCertificate()": `
		var accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)
		var pin dtls.Pin
		var session []byte`,
	},
	"transport/impair/doc.go": {
		"ep = impair.Wrap(":             `var ep transport.Endpoint`,
		"proxy, err := impair.NewProxy": ``,
	},
	"transport/local/doc.go": {"listen, err := udp.Listen(": `var p, q *foretick.Protocol`},
	"stats/doc.go": {"var sum stats.Host": `
		var h *host.Host`},
	"stats/metrics/doc.go": {"mux.HandleFunc(\"GET /metrics\"": `
		var mux *http.ServeMux
		var h *host.Host`},
	"server/record.go": {"seed := time.Now().Unix()": `var srv *server.Server`},
	"flight/doc.go": {
		"rec, err := flight.New(": `
		var p *foretick.Protocol
		var end transport.Endpoint`,
		"tape, err := flight.Open(": `var newMatch func(server.Config) (*server.Server, error)`,
	},
	"host/doc.go": {"h, err := host.New(": `
		var endpoint transport.Endpoint
		var ctx context.Context
		var newProtocol func() *foretick.Protocol`},
	"host/lifecycle/doc.go": {"err := lifecycle.Run(": `
		var ctx context.Context
		var h *host.Host
		var manager lifecycle.Lifecycle`},
	"host/lifecycle/agones/doc.go": {"manager, err := agones.New(": `
		var ctx context.Context
		var h *host.Host`},
	"host/lifecycle/agones/agonestest/doc.go": {"sidecar, err := agonestest.Listen(": ``},
	"bots/doc.go": {"light, err := bots.New(": `
		type Move struct{ X float32 }
		var protocol *foretick.Protocol
		var addr string
		var ctx context.Context`},
	"transport/multi/doc.go": {"joined, err := multi.New(": `
		var p *foretick.Protocol
		var udpEndpoint, dtlsEndpoint, wsEndpoint transport.Endpoint`},
	"transport/sim/doc.go": {"net := sim.NewNetwork(": ``},
	"transport/ticket/doc.go": {"t, err := ticket.Issue(": `
		var key []byte
		var addr netip.AddrPort`},
	"transport/transporttest/doc.go": {"func TestConformance(": ``},
	"transport/udp/doc.go":           {"srv, err := udp.Listen(": `var ticket []byte`},
	"transport/ws/doc.go":            {"srv, err := ws.NewServer(": `var ticket []byte`},
}

// notGo are blocks in comments that hold no Go code, by their beginning.
var notGo = map[string][]string{
	"ecs/world_bytes.go":           {"version    1 byte"},
	"flight/doc.go":                {"u32  length of", " 1 head"},
	"stats/metrics/build.go":       {"go build"},
	"flight/command.go":            {"[-tick N]"},
	"input/doc.go":                 {"Key, Axis, Move", "keyboard  0-9"},
	"input/json.go":                {"{"},
	"inspect/export.go":            {`{"kind"`},
	"netcode/command.go":           {"based 1, count 2"},
	"netcode/event.go":             {"varint of the numbers"},
	"rollback/replay.go":           {"protocol    8 bytes"},
	"internal/settled/standing.go": {"changes:  their number"},
	"schema/doc.go":                {"min=A max=B"},
	"simtest/pair/doc.go":          {"GOARCH=amd64"},
}

// TestDocCodeCompiles typechecks the code in the comments of the packages that games import.
// A block that is new here needs what it uses declared in docCode, or a line in notGo.
func TestDocCodeCompiles(t *testing.T) {
	root, dir := repository(t), t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	var pkgs, blocks []string
	seen := map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !imported(name) {
			return
		}
		for _, block := range codeBlocks(t, filepath.Join(root, filepath.FromSlash(name))) {
			around, is := beginning(docCode[name], block)
			seen[name+"\n"+is] = true
			if slices.ContainsFunc(notGo[name], func(s string) bool { return strings.HasPrefix(block, s) }) {
				continue
			}
			if is == "" {
				t.Errorf("%s: a comment has code that docCode does not know: declare there what it uses, or name it in notGo:\n%s", name, block)
				continue
			}
			src, err := docSource(block, around)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, block)
				continue
			}
			at := fmt.Sprintf("internal/archtest/doccode/b%02d", len(pkgs))
			file := filepath.Join(dir, fmt.Sprintf("b%02d.go", len(pkgs)))
			require.NoError(t, os.WriteFile(file, []byte(src), 0o600))
			overlay.Replace[filepath.Join(root, filepath.FromSlash(at), "b.go")] = file
			pkgs, blocks = append(pkgs, "./"+at), append(blocks, name+":\n"+block)
		}
	})
	for name, of := range docCode {
		for first := range of {
			if !seen[name+"\n"+first] {
				t.Errorf("docCode has %q of %s, which is not there any more", first, name)
			}
		}
	}
	require.Greater(t, len(pkgs), 25, "found too few blocks: the test looks in the wrong place")
	b, err := json.Marshal(overlay)
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	cmd := releasetest.GoCommand(append([]string{"build", "-overlay", name, "-gcflags=-e"}, pkgs...)...)
	cmd.Dir = root
	out, _ := cmd.CombinedOutput()
	wrong := regexp.MustCompile(`\bb(\d+)\.go:`)
	for _, line := range strings.Split(string(out), "\n") {
		if line == "" || strings.HasPrefix(line, "#") || strings.Contains(line, "declared and not used") {
			continue
		}
		of := ""
		if m := wrong.FindStringSubmatch(line); m != nil {
			var n int
			_, _ = fmt.Sscan(m[1], &n)
			of = blocks[n]
		}
		t.Errorf("%s\n%s", line, of)
	}
}

// imported reports whether a file is of a package that games import.
func imported(name string) bool {
	for _, p := range []string{"internal/", "cmd/", "examples/", "benchmarks/", "tools/", "transport/dtls/interop/", "transport/internal/"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return true
}

// codeBlocks returns the code blocks of a file's doc comments, as go doc shows them.
func codeBlocks(t *testing.T, name string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	require.NoError(t, err)
	var out []string
	add := func(g *ast.CommentGroup) {
		if g == nil {
			return
		}
		for _, c := range new(comment.Parser).Parse(g.Text()).Content {
			if code, ok := c.(*comment.Code); ok {
				out = append(out, code.Text)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.File:
			add(n.Doc)
		case *ast.GenDecl:
			add(n.Doc)
		case *ast.FuncDecl:
			add(n.Doc)
		case *ast.TypeSpec:
			add(n.Doc)
		case *ast.ValueSpec:
			add(n.Doc)
		case *ast.Field:
			add(n.Doc)
		}
		return true
	})
	return out
}

// beginning returns what of's key that a block begins with stands for, and the key.
func beginning(of map[string]string, block string) (around, key string) {
	for first, around := range of {
		if strings.HasPrefix(block, first) {
			return around, first
		}
	}
	return "", ""
}

// docImports are the packages that code in comments may use, by their names.
func docImports(t string) string {
	for _, p := range []string{"context", "fmt", "net/http", "net/netip", "testing", "time", "unsafe"} {
		if t == p[strings.LastIndexByte(p, '/')+1:] {
			return p
		}
	}
	if t == "foretick" {
		return module
	}
	for _, p := range []string{
		"bots", "bridge", "client", "ecs", "flight", "host", "host/lifecycle", "host/lifecycle/agones", "host/lifecycle/agones/agonestest", "input", "inspect", "inspect/web", "lagcomp", "netcode", "observe", "relay", "rollback", "rollback/rollbacktest", "schema", "server", "simtest", "simtest/pair", "snapshot", "stats", "stats/metrics", "transport",
		"transport/dtls", "transport/impair", "transport/local", "transport/multi", "transport/sim", "transport/ticket", "transport/transporttest", "transport/udp", "transport/ws",
	} {
		if t == p[strings.LastIndexByte(p, '/')+1:] {
			return module + "/" + p
		}
	}
	return ""
}

// docSource makes a file of a block and what it needs around it: of declarations as they
// are, or else of statements in a function. Dots that leave something out are filled.
func docSource(block, around string) (string, error) {
	block = regexp.MustCompile(`\{ (\.\.\.|…) \}`).ReplaceAllString(block, `{ panic("left out") }`)
	block = regexp.MustCompile(`(?m)^(\s*)\.\.\. `).ReplaceAllString(block, "$1// ")
	src := around + "\n" + block
	if f, err := parser.ParseFile(token.NewFileSet(), "", "package doccode\n"+src, 0); err != nil || len(f.Decls) == 0 {
		src = "func _() {\n" + src + "\n}"
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package doccode\n"+src, 0)
	if err != nil {
		return "", fmt.Errorf("this is no Go: %w", err)
	}
	imports := map[string]bool{}
	for _, id := range f.Unresolved {
		if p := docImports(id.Name); p != "" {
			imports[p] = true
		}
	}
	head := "package doccode\n\n"
	for p := range imports {
		head += fmt.Sprintf("import %q\n", p)
	}
	return head + "\n" + src, nil
}
