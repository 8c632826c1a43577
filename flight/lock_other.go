//go:build !windows && (!unix || solaris || aix)

package flight

import "os"

// lockFile opens a file. On these systems it does not lock it.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- in the program's directory
}
