//go:build unix && !solaris && !aix

package flight

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens a file and locks it, until it is closed or the process ends. It returns
// errTaken if it is locked already.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- in the program's directory
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, errTaken
	}
	return f, nil // other errors are ignored, as some file systems have no locks
}
