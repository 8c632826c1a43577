package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTests: tests that call costtest themselves, through a function, or through a variable are
// found. Methods and fields with the same names do not count.
func TestTests(t *testing.T) {
	dir := t.TempDir()
	src := `package p

var seeds = flag.Int("seeds", costtest.Count(2, 20), "")

func play(t *testing.T) { costtest.Long(t) }

func long(t *testing.T) { _ = os.Getenv("FORETICK_LONG") }

func twice(t *testing.T) { play(t); play(t) }

func TestDirect(t *testing.T)   { costtest.Long(t) }
func TestFunction(t *testing.T) { twice(t) }
func TestVariable(t *testing.T) { _ = *seeds }
func TestExample(t *testing.T)  { long(t) }
func TestMethod(t *testing.T)   { var m match; m.play(t); _ = m.seeds }
func TestOther(t *testing.T)    { costtest.Ratio(t) }
func TestGo(t *testing.T)       { go twice(t) }
func TestGroup(t *testing.T)    { start() }
func TestMarked(t *testing.T)   { costtest.Concurrent(t) }
func start()                    { var g sync.WaitGroup; g.Go(func() {}) }
func TestFile(t *testing.T)     { read() }
func read() []byte              { b, _ := os.ReadFile("testdata/a"); return b }
func TestPort(t *testing.T)     { _, _ = net.Listen("tcp", "127.0.0.1:0") }
func TestOutput(t *testing.T)   { fmt.Fprintln(os.Stderr, os.Getenv("A")) }
func Benchmark(b *testing.B)    { costtest.Long(b) }
`
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kinds, want []string
	}{
		{[]string{"Long", "Count"}, []string{"TestDirect", "TestExample", "TestFunction", "TestGo", "TestVariable"}},
		{[]string{"Concurrent"}, []string{"TestGo", "TestGroup", "TestMarked"}},
		{[]string{"Ratio"}, []string{"TestOther"}},
		{[]string{"Machine"}, []string{"TestFile", "TestPort"}},
		{[]string{"Memory"}, nil},
	} {
		got, err := tests(dir, c.kinds)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: found %v, want %v", c.kinds, got, c.want)
		}
	}
}
