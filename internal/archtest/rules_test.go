package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/foretick/foretick"

// core are the packages that do not know one another. Each is useful alone, but for
// snapshot, which sends what schema describes.
var core = []string{"ecs", "lagcomp", "netcode", "prediction", "schema", "snapshot"}

// chain are the packages of schemas and snapshots, lowest first. Each may import those
// before it, and nobody else may import the internal ones.
var chain = []string{"internal/coder", "internal/quantise", "schema", "snapshot"}

// packs is the package that codes packed commands as bits, without a schema: who settles them knows the widths of
// their fields alone.
const packs = "internal/settled"

// allowedOutside are the packages that the core may use beyond the standard
// library, and those that its tests may use as well.
var (
	allowedOutside = []string{"golang.org/x/exp/constraints"}
	allowedInTests = []string{"github.com/stretchr/testify", "pgregory.net/rapid"}
)

// underRewind are the packages that internal/rewind is built of.
var underRewind = []string{"lagcomp", "snapshot", "schema"}

// underLate are the packages that internal/late is built of.
var underLate = []string{"ecs", "schema", "snapshot", "netcode", "prediction"}

// underGame are the packages that internal/game runs a protocol with.
var underGame = []string{"ecs", "schema", "snapshot", "netcode", "prediction", "lagcomp", "stats", "transport"}

// underLayout are the packages that internal/layout describes a protocol with.
var underLayout = []string{"ecs", "schema", "netcode", "internal/standard"}

// apart are the packages that nothing else of this module needs, and that need nothing
// of it but the panic about a wrong call: the standard library is enough for them. Examples
// and their own tests use them.
var apart = []string{"input", "mathf"}

// misuse raises the panic about a wrong call for all packages. Its test calls each of them wrongly.
const misuse = "internal/misuse"

// planted holds a game with faults, clocks and chance among them, that tests share.
const planted = "internal/plantedtest"

// chaintest holds a game that is played on many machines. It uses what games do.
const chaintest = "internal/chaintest"

// underSettled are the packages that internal/settled is built of, and the relay too: no game.
var underSettled = []string{"ecs", "netcode"}

// underSeat are the packages that the ends of a preview know one another by.
var underSeat = []string{"", "ecs", "schema", "snapshot", "lagcomp", "transport"}

// mayRun are the places that may read a clock, sleep, start goroutines and
// open sockets: the transports, the thin Run loops over the core, programs,
// the reading of which seed a test is to play, and simtest's play over sockets.
// Everything else is given time and bytes.
var mayRun = []string{"transport/", "examples/", "server/run.go", "client/run.go", "relay/run.go", "rollback/run.go", "internal/game/last_words.go", "simtest/bench_timer.go", "simtest/pair/", "benchmarks/", "tools/", "cmd/", "internal/contain/", "internal/costtest/", "internal/plantedtest/", "internal/releasetest/", "internal/screentest/", "internal/seedtest/", "host/run.go", "host/lifecycle/", "bots/crowd.go", "flight/file.go", "flight/folder.go", "flight/lock_unix.go", "flight/lock_windows.go", "flight/lock_other.go", "flight/full.go"}

// mayServe are the packages that answer HTTP requests: they read clocks and use net/http.
var mayServe = []string{"inspect/web/", "docs/guide/orchard/inspect.go"}

// ends are the packages that run a game.
var ends = []string{"server", "client", "rollback"}

// harness plays matches of the end that it lies below.
const harness = "rollback/rollbacktest"

// onTop are the packages that build on the ends, or do their work in another way. The root's
// own code does not know them, nor does that of the ends.
var onTop = []string{"bots", "bridge", "flight", "host", "inspect", "observe", "preview", "simtest", "examples", "benchmarks"}

// clock are the functions of package time that read or wait for a clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// sockets are the imports that reach outside of the process. Of net, the error
// that all closes unwrap to may be named.
var sockets = []string{"net", "net/http", "os", "os/exec", "syscall", "golang.org/x/sys/unix"}

// file is one parsed file. name is its path in the repository.
type file struct {
	name string
	set  *token.FileSet
	tree *ast.File
}

func parse(name string, src any) (*file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &file{name: name, set: set, tree: tree}, nil
}

func (f *file) test() bool { return strings.HasSuffix(f.name, "_test.go") }

// dir is the package's directory; the root's is "".
func (f *file) dir() string {
	if d := path.Dir(f.name); d != "." {
		return d
	}
	return ""
}

// area is the first element of the directory.
func (f *file) area() string {
	area, _, _ := strings.Cut(f.dir(), "/")
	if area == "docs" { // the guide's game is an example
		return "examples"
	}
	return area
}

// local answers the directory of an import of this module.
func local(imported string) (dir string, ok bool) {
	if imported == module {
		return "", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// within says whether a directory is one or lies below it.
func within(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

// standard says whether an import is of the standard library: no dot in its
// first element.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// check answers every rule that the file breaks.
func (f *file) check() []string {
	var faults []string
	for _, spec := range f.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if why := f.imports(imported); why != "" {
			faults = append(faults, f.at(spec.Pos(), "imports "+imported+": "+why))
		}
	}
	if !f.test() && !f.runs() {
		faults = append(faults, f.effects()...)
	}
	return faults
}

func (f *file) at(p token.Pos, what string) string {
	return fmt.Sprintf("%s:%d %s", f.name, f.set.Position(p).Line, what)
}

// imports answers the rule that an import breaks, or "".
func (f *file) imports(imported string) string {
	dir, ours := local(imported)
	if ours && !f.test() {
		if why := f.chained(dir); why != "" {
			return why
		}
	}
	if ours && dir == planted && !f.test() {
		return "planted faults are for tests alone"
	}
	if ours && dir == "internal/peek" && !f.test() && f.dir() != "internal/fieldtest" {
		return "only tests look at unexported fields"
	}
	area := f.area()
	if f.dir() == misuse && f.test() || dir == misuse && slices.Contains(apart, area) {
		return ""
	}
	of, _, _ := strings.Cut(dir, "/")
	end := ours && slices.Contains(ends, of)
	switch {
	case slices.Contains(apart, area) && !f.test() && (ours || !standard(imported)):
		return area + " is useful without the rest: it uses the standard library only"
	case ours && slices.Contains(apart, of) && area != of && area != "examples" && area != "cmd" && f.dir() != chaintest:
		return dir + " is for games to choose: nothing else of this module needs it"
	}
	switch {
	case f.dir() == "" && !f.test() && ours && (end || slices.Contains(onTop, of)):
		return "the root does not know " + of + ": it stands on top of it"
	case slices.Contains(ends, area) && !f.test() && end && (f.dir() != harness || dir != area):
		return "an end does not know the other: what both need is in the root or in internal/game"
	case slices.Contains(ends, area) && !f.test() && ours && slices.Contains(onTop, of):
		return "an end does not know " + of + ": it stands on top of it"
	case ours && dir == "internal/seam" && area != "" && !slices.Contains(ends, area):
		return "the seam is for the root and the ends alone"
	case area == "bridge" && !f.test() && end:
		return "a bridge knows protocols and frames, and no end"
	case f.dir() == "host" && !f.test() && ours && within(dir, "host/lifecycle"):
		return "a host knows no fleet: a lifecycle stands on top of it"
	case area == "host" && !f.test() && ours && !within(dir, "transport") && !within(dir, "host") && !slices.Contains([]string{"internal/contain", "internal/counts", "internal/probe", "internal/published", "server", "stats"}, dir):
		return "a host knows transports and servers, not what a game declares"
	case f.dir() == "stats" && !f.test() && !slices.Contains([]string{"internal/counts", "lagcomp", "netcode", "prediction"}, dir) && (ours || !standard(imported)):
		return "stats are plain values: they need those of the parts and the standard library only"
	case area == "observe" && !f.test() && (ours && dir == "" || end || imported == "net/http"):
		return "an observer knows neither the game's types nor pages: it builds on schema and snapshot"
	case slices.Contains(core, area):
		return coreImports(area, imported, dir, ours, f.test())
	case f.dir() == "transport":
		if !f.test() && !standard(imported) {
			return "the transport contract uses the standard library only"
		}
	case area == "transport":
		if ours && !within(dir, "transport") && !within(dir, "internal") {
			return "a transport knows the transport contract, not what is sent over it"
		}
	case area == "examples":
		if ours && strings.Contains("/"+dir+"/", "/internal/") {
			return "an example is there to be copied: it imports public packages only"
		}
	case area == "internal":
		if (within(f.dir(), planted) || f.dir() == chaintest || within(f.dir(), "internal/screentest") || within(f.dir(), "internal/proxytest") || (within(f.dir(), "internal/oracletest") || within(f.dir(), "internal/matchtest") || within(f.dir(), "internal/archtest")) && f.test()) && ours {
			return "" // a game, and what plays games in windows and pages, and through proxies
		}
		if within(f.dir(), "internal/cause") && dir == "prediction" {
			return "" // whose causes it finds
		}
		if within(f.dir(), "internal/trace") && dir == "schema" {
			return "" // whose values it records
		}
		if within(f.dir(), "internal/probe") && ours && dir != "" && !end {
			return "" // it names what both ends hold
		}
		if within(f.dir(), "internal/tape") && dir == "transport" {
			return "" // a recorder stands in front of one
		}
		if within(f.dir(), "internal/rewind") {
			if ours && !within(dir, "internal") && !slices.Contains(underRewind, dir) {
				return "rewinding knows no protocol and no world: the root hands it what it needs"
			}
			return ""
		}
		if within(f.dir(), "internal/late") {
			if ours && !within(dir, "internal") && !slices.Contains(underLate, dir) {
				return "late inputs know no game and no session: their host is the server, which runs a tick when it is asked"
			}
			return ""
		}
		if within(f.dir(), "internal/settled") {
			if ours && !within(dir, "internal") && !slices.Contains(underSettled, dir) {
				return "what a relay and its peers tell each other knows neither: a relay has no world and no game"
			}
			return ""
		}
		if within(f.dir(), "internal/game") {
			if ours && !within(dir, "internal") && !slices.Contains(underGame, dir) {
				return "what both ends run knows neither of them: the frame is a parameter of its types, and an end is an interface"
			}
			return ""
		}
		if within(f.dir(), "internal/seam") {
			if ours && dir != "internal/game" {
				return "the seam names what both ends run, and the rest by any: the root imports it"
			}
			return ""
		}
		if within(f.dir(), "internal/seat") {
			if ours && !within(dir, "internal") && !slices.Contains(underSeat, dir) {
				return "the ends of a preview know one another by it alone, so it knows neither"
			}
			return ""
		}
		if within(f.dir(), "internal/layout") {
			if ours && !slices.Contains(underLayout, dir) {
				return "a compiled protocol: it is data, and knows neither the ends that run it nor what they are made of"
			}
			return ""
		}
		if ours && !within(dir, "internal") {
			return "internal holds what others share, and knows none of them"
		}
	}
	return ""
}

// chained answers the rule about the chain that an import of ours breaks, or "".
func (f *file) chained(dir string) string {
	link := func(dir string) int {
		return slices.IndexFunc(chain, func(top string) bool { return within(dir, top) })
	}
	from, to := link(f.dir()), link(dir)
	switch {
	case dir == chain[0] && f.dir() == packs:
		return ""
	case to >= 0 && strings.HasPrefix(chain[to], "internal/") && from < 0:
		return chain[to] + " is for " + strings.Join(chain[to+1:], ", ") + " alone: use schema"
	case to > from && from >= 0:
		return chain[from] + " lies below " + chain[to]
	case from == 0 && to < 0:
		return "the coder knows bits and numbers only"
	case from == 1 && to < 0:
		return "a plan knows the coder only"
	}
	return ""
}

func coreImports(area, imported, dir string, ours, test bool) string {
	switch {
	case ours && dir == "":
		return "the root composes " + area + ", so " + area + " must not know the root"
	case ours && within(dir, area), ours && within(dir, "internal"):
		return ""
	case area == "snapshot" && ours && within(dir, "schema"):
		return ""
	case ours && within(dir, "transport"):
		return area + " is sans-I/O: it takes and gives bytes, and knows no transport"
	case ours:
		return area + " is useful alone: declare a small interface here and let the root adapt " + dir + " to it"
	case standard(imported), slices.Contains(allowedOutside, imported):
		return ""
	case test && slices.ContainsFunc(allowedInTests, func(p string) bool { return within(imported, p) }):
		return ""
	}
	return "a core package depends on nothing that its user did not ask for"
}

// runs says whether the file may have effects. Programs may.
func (f *file) runs() bool {
	return f.tree.Name.Name == "main" || slices.ContainsFunc(slices.Concat(mayRun, mayServe), func(p string) bool {
		return f.name == p || (strings.HasSuffix(p, "/") && strings.HasPrefix(f.name, p))
	})
}

// effects finds clocks, sockets, goroutines and global randomness.
func (f *file) effects() []string {
	var faults []string
	names := map[string]string{} // as the file calls it: what it imports
	for _, spec := range f.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if slices.Contains(sockets, imported) && !f.onlyErrClosed(imported) {
			faults = append(faults, f.at(spec.Pos(), "imports "+imported+": only transports, Run loops and examples reach outside"))
		}
		name := path.Base(imported)
		if imported == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			faults = append(faults, f.at(n.Pos(), "starts a goroutine: only transports, Run loops and examples do; take an executor as an argument"))
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			switch imported := names[pkg.Name]; {
			case imported == "time" && slices.Contains(clock, n.Sel.Name):
				faults = append(faults, f.at(n.Pos(), "uses time."+n.Sel.Name+": time is an argument"))
			case strings.HasPrefix(imported, "math/rand") && global(n.Sel.Name):
				faults = append(faults, f.at(n.Pos(), "uses rand."+n.Sel.Name+": randomness is an argument, a *rand.Rand"))
			}
		}
		return true
	})
	return faults
}

// onlyErrClosed says whether net is imported for net.ErrClosed alone.
func (f *file) onlyErrClosed(imported string) bool {
	if imported != "net" {
		return false
	}
	named, other := false, false
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "net" {
				named = true
				other = other || sel.Sel.Name != "ErrClosed"
			}
		}
		return true
	})
	return named && !other
}

// global says whether a name of math/rand draws from the shared generator.
func global(name string) bool {
	return !strings.HasPrefix(name, "New") &&
		!slices.Contains([]string{"Rand", "Source", "PCG", "ChaCha8", "Zipf"}, name)
}
