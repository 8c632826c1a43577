package releasetest

import (
	"os"
	"os/exec"
)

// GoCommand returns the go command for a test to run in its package's directory. The go.work
// does not apply: it names modules that are not in the module's zip.
func GoCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	return cmd
}
