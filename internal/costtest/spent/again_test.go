package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The test program is also the command, and the program that the command runs.
func TestMain(m *testing.M) {
	if os.Getenv("SPENT") == "command" {
		_ = os.Setenv("SPENT", "program")
		os.Args = append([]string{os.Args[0], "-", os.Args[0]}, os.Args[1:]...)
		main()
	}
	os.Exit(m.Run())
}

// first reports whether a test of the program runs for the first time.
func first(t *testing.T) bool {
	if os.Getenv("SPENT") != "program" {
		return false
	}
	f, err := os.OpenFile(filepath.Join(os.Getenv("SPENT_DIR"), t.Name()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}

// These are the tests of the program. They pass where they are not run by the command.
func TestPlantedSound(*testing.T) {}

func TestPlantedLate(t *testing.T) {
	t.Attr("cost", "sockets")
	if first(t) {
		t.Fatal("late")
	}
}

func TestPlantedComputes(t *testing.T) {
	if first(t) {
		t.Fatal("wrong once")
	}
}

func TestPlantedRaces(t *testing.T) {
	t.Attr("cost", "sockets")
	if first(t) {
		t.Error("testing.go:1: race detected during execution of test")
	}
}

func TestPlantedBroken(t *testing.T) {
	t.Attr("cost", "ratio")
	if os.Getenv("SPENT") == "program" {
		t.Fatal("wrong")
	}
}

func TestPlantedPanics(t *testing.T) {
	t.Attr("cost", "memory")
	if first(t) {
		panic("once")
	}
}

// TestConnects: what a test's file imports says whether it waits.
func TestConnects(t *testing.T) {
	dir := t.TempDir()
	for name, of := range map[string]struct {
		imports string
		want    bool
	}{
		"TestNet": {`import "net"`, true}, "TestUDP": {"import (\n\t\"a.b/transport/udp\"\n)", true}, "TestNamed": {"import (\n\tx \"net/http/httptest\"\n)", true},
		"TestSim": {`import "a.b/transport/sim"`, false}, "TestNetcode": {`import "a.b/netcode"`, false}, "TestAddr": {`import "net/netip"`, false},
	} {
		text := "package x\n\n" + of.imports + "\n\nfunc " + name + "(t *testing.T) {}\n"
		if err := os.WriteFile(filepath.Join(dir, name+"_test.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := connects(name, dir); got != of.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestAgain: only a test that waits for the clock may fail once beside others.
func TestAgain(t *testing.T) {
	for run, passes := range map[string]bool{
		"Sound": true, "Late": true, "Sound|Late": true,
		"Computes": false, "Late|Computes": false, "Broken": false, "Races": false, "Late|Broken": false, "Panics": false,
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPlanted("+run+")$")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "SPENT=command", "SPENT_DIR="+cmd.Dir)
		out, err := cmd.CombinedOutput()
		if (err == nil) != passes {
			t.Errorf("%s: passed is %t\n%s", run, err == nil, out)
		}
	}
}
