package costtest

import (
	"runtime"
	"syscall"
	"time"
)

// work returns the processor time that fn took, without the work of other threads and programs.
func work(fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	fn()
	return threadTime() - before
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
