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

// NginxStream returns the path of nginx's module for UDP, which is a separate package in
// Debian. It skips the test as Program does.
func NginxStream(t testing.TB) string {
	t.Helper()
	const path = "/usr/lib/nginx/modules/ngx_stream_module.so"
	_, err := os.Stat(path)
	if err != nil && os.Getenv("REQUIRE_PROGRAMS") != "1" {
		t.Skipf("needs %s, which is not on this machine", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
