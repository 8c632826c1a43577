package releasetest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that Go does not bring along, such as "node". It skips
// the test where there is none, unless REQUIRE_PROGRAMS is 1.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("REQUIRE_PROGRAMS") != "1" {
		t.Skipf("needs %s, which is not on this machine: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
