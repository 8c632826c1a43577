package releasetest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// GoCommand returns the go command for a test to run in its package's directory. The go.work
// does not apply: it names modules that are not in the module's zip. Nor does -v in GOFLAGS,
// which is for the command that runs the test: with it, go build prints what it builds.
func GoCommand(args ...string) *exec.Cmd {
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(flag string) bool { return flag == "-v" })
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+strings.Join(flags, " "))
	return cmd
}
